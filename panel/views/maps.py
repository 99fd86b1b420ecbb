"""What maps of the panel load: the map file, and the places that the geocoder finds."""

from typing import Any

from django.conf import settings
from django.contrib.auth.mixins import PermissionRequiredMixin
from django.http import HttpRequest, HttpResponse

from common import map_file
from delivery.geo import geocoding
from panel.views.base import LoggedInView, page_language


class MapFile(LoggedInView):
    def get(self, request: HttpRequest, version: str) -> HttpResponse:
        return map_file.answer(request, version)


class Places(LoggedInView, PermissionRequiredMixin):
    """A fragment: the places that the geocoder finds for `q`."""

    permission_required = "delivery.add_integrator"

    def get(self, request: HttpRequest) -> HttpResponse:
        context: dict[str, Any] = {"query": request.GET.get("q", "").strip()}
        try:
            if settings.GEOCODER_URL:
                found = geocoding.search(settings.GEOCODER_URL, context["query"], language=page_language())
                context["found"] = found
        except geocoding.GeocodingFailed as error:
            context["failed"] = str(error)
        return self.page("panel/setup_places.html", **context)
