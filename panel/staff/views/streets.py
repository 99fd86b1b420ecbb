"""Where the maps of the installation have their streets from."""

from typing import Any

from django.conf import settings
from django.contrib.auth.mixins import PermissionRequiredMixin
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext

from common.actors import actor
from common.pages import map_file
from delivery.streets import actions as streets
from delivery.streets.errors import MOST_BYTES
from delivery.streets.models import Choice, CopyState
from panel import maps
from panel.base import LoggedInView


class _StreetsView(LoggedInView, PermissionRequiredMixin):
    permission_required = "delivery.change_dispatchrules"

    def state(self) -> dict[str, Any]:
        """How far the copying is."""
        found = streets.chosen()
        reason = found.reason if found else None
        return {
            "streets": found,
            "why": gettext(reason.message) if reason else "",
            # By another machine's worker, whose folder of data this web server does not have.
            "is_elsewhere": found is not None and found.state == CopyState.DONE and not map_file.exists(),
        }


class Streets(_StreetsView):
    """The question, and later what was chosen."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.page(
            "panel/streets.html",
            has_server=bool(settings.MAP_TILE_URL),
            has_file=map_file.exists(),
            ground=maps.tiles(),
            places=len(streets.places()),
            km=streets.AROUND_KM,
            most_gb=MOST_BYTES // 1024**3,
            **self.state(),
        )

    def post(self, request: HttpRequest) -> HttpResponseBase:
        choice = request.POST.get("choice", "")
        if choice == "stop":
            streets.stop()
        elif choice in Choice.values and (choice != Choice.COPY or streets.places()):
            streets.choose(Choice(choice), by=actor(request))
        return redirect("panel:streets")


class Progress(_StreetsView):
    """A fragment."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.page("panel/streets_progress.html", **self.state())
