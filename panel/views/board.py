"""The dispatch board: the page, and what its script asks for. The moves are in `board_moves`.

The page has no cards; `board.js` fetches those that are shown. What a board shows is in the browser, so that its tabs,
its order and the clock of lateness need no request.
"""

from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from delivery.lifecycle import RouteStatus
from delivery.models import Environment, parse_id
from panel import board, board_search, maps
from panel.views.base import DispatcherView

_LONGEST_SEARCH = 100  # characters
# Tabs with the route status they show; those without one are computed by the script.
_TABS = [
    ("all", pgettext_lazy("routes", "All"), ""),
    ("late", _("Late"), ""),
    ("waiting", _("Waiting"), RouteStatus.AVAILABLE),
    ("to-collect", _("To collect"), RouteStatus.ACCEPTED),
    ("on-the-way", _("On the way"), RouteStatus.COLLECTED),
    ("returning", _("Returning"), RouteStatus.RETURNING),
]


def _environment(request: HttpRequest) -> Environment:
    return Environment.SANDBOX if request.GET.get("environment") == Environment.SANDBOX else Environment.LIVE


class Board(DispatcherView):
    def get(self, request: HttpRequest) -> HttpResponse:
        context = {
            "board_environment": _environment(request),
            "environments": Environment.choices,
            "tabs": _TABS,
            "tiles": maps.tiles(),
            "time_zone": settings.TIME_ZONE,
            "fresh_seconds": int(settings.POSITION_FRESH.total_seconds()),
            "most_cards": board.MOST_CARDS,
        }
        return render(request, "panel/board.html", context)


def _found(request: HttpRequest, *, ids: list[UUID] | None = None) -> list[str] | None:
    """Ids of the routes that match the text `q`, or None without one. With `ids`, of these routes only."""
    text = request.GET.get("q", "")[:_LONGEST_SEARCH].strip()
    return board_search.matching(_environment(request), text, ids=ids) if text else None


class Routes(DispatcherView):
    """All routes in progress, all free drivers, and which routes match `q`."""

    def get(self, request: HttpRequest) -> HttpResponse:
        environment = _environment(request)
        answer = {"routes": board.routes(environment), "free": board.free_drivers(environment)}
        return JsonResponse({**answer, "found": _found(request)})


class Cards(DispatcherView):
    """Routes with their cards, by `ids`, and which of them match `q`. Those that have ended are left out."""

    def get(self, request: HttpRequest) -> HttpResponse:
        ids = _ids(request)
        if ids is None:
            return HttpResponseBadRequest()
        environment = _environment(request)
        answer = {"routes": board.routes(environment, ids=ids), "cards": board.cards(environment, ids)}
        return JsonResponse({**answer, "found": _found(request, ids=ids)})


class Positions(DispatcherView):
    """Where drivers are now: of the routes in progress, or of those with `ids`; and free drivers, without `ids`."""

    def get(self, request: HttpRequest) -> HttpResponse:
        environment = _environment(request)
        if "ids" not in request.GET:
            free = board.free_drivers(environment)
            return JsonResponse({"positions": board.positions(environment), "free": free})
        ids = _ids(request)
        if ids is None:
            return HttpResponseBadRequest()
        return JsonResponse({"positions": board.positions(environment, ids=ids)})


class Search(DispatcherView):
    """Ids of the routes that match the text `q`."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return JsonResponse({"ids": _found(request) or []})


def _ids(request: HttpRequest) -> list[UUID] | None:
    """The parameter `ids`, separated by commas, or None for one that is none, and for more than the board asks for."""
    sent = request.GET.get("ids", "")
    texts = sent.split(",", board.MOST_CARDS) if sent else []  # at most one more than are allowed
    ids = [key for text in texts if (key := parse_id(text)) is not None]
    return None if len(texts) > board.MOST_CARDS or len(ids) < len(texts) else ids
