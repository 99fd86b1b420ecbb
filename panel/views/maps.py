"""What maps of the panel load: the map file, the streets of openstreetmap.org, the places of an address."""

from collections.abc import Hashable
from typing import Any

from django.contrib.auth.mixins import PermissionRequiredMixin
from django.http import HttpRequest, HttpResponse

from common.actors import actor
from common.pages import map_file
from delivery.places import addresses
from delivery.places.geocoding import GeocodingFailed
from delivery.streets import actions as streets
from delivery.streets.models import Choice
from panel.base import LoggedInView, RequestingView, page_language


class MapFile(LoggedInView):
    def get(self, request: HttpRequest, version: str) -> HttpResponse:
        return map_file.answer(request, version)


class Streets(LoggedInView, PermissionRequiredMixin):
    """Has all maps of the installation show the streets of openstreetmap.org, from the next page on."""

    permission_required = "delivery.change_dispatchrules"

    def post(self, request: HttpRequest) -> HttpResponse:
        streets.choose(Choice.OPENSTREETMAP, by=actor(request))
        return HttpResponse(status=204)


class _Places(LoggedInView):
    """A fragment: the places of the address `q`."""

    @property
    def asks_for(self) -> Hashable:
        """The account for which the geocoder is asked, or the person."""
        return self.request.user.pk

    def get(self, request: HttpRequest) -> HttpResponse:
        context: dict[str, Any] = {"query": request.GET.get("q", "").strip()}
        try:
            context["found"] = addresses.search(context["query"], language=page_language(), account=self.asks_for)
        except GeocodingFailed as error:
            context["failed"] = str(error)
        return self.page("panel/setup_places.html", **context)


class Places(PermissionRequiredMixin, _Places):
    """For staff who bring in an account."""

    permission_required = "delivery.add_integrator"


class AccountPlaces(RequestingView, _Places):
    """For those who request deliveries of an account."""

    @property
    def asks_for(self) -> Hashable:
        return self.account.pk
