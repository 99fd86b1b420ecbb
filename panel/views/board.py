"""The dispatch board: the routes in progress as cards beside a map.

The browser polls the list every three seconds. Server-sent events would occupy a thread of the web server for each open
board; figures in docs/operations.md.
"""

import hashlib
import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from common.actors import actor
from delivery import lifecycle
from delivery.actions import drivers, moves
from delivery.errors import DeliveryError
from delivery.forms import MoveForm, driver_label, refusal
from delivery.models import Delivery, Environment, LatestPosition, Stop, parse_id
from panel import maps
from panel.views.base import DispatcherView

# Routes on the board, the oldest first.
_MAX_ROUTES = 200
# Drivers to choose from at once; a search finds the others.
_MAX_DRIVERS = 20


@dataclass(frozen=True)
class Card:
    """What the list shows of one route."""

    delivery: Delivery
    position: LatestPosition | None
    moves: list[str]

    @property
    def route(self) -> dict[str, Any]:
        return maps.route(self.delivery, self.position)

    @property
    def open_stops(self) -> list[Stop]:
        return [stop for stop in self.delivery.ordered_stops if stop.status in lifecycle.OPEN]


def _environment(request: HttpRequest) -> Environment:
    return Environment.SANDBOX if request.GET.get("environment") == Environment.SANDBOX else Environment.LIVE


def _cards(environment: Environment) -> list[Card]:
    """The cards of the oldest routes in progress, and of one more than are shown if there are more."""
    in_progress = Delivery.objects.in_progress(environment).with_parts().select_related("integrator")
    deliveries = list(in_progress.order_by("created_at")[: _MAX_ROUTES + 1])
    held_by = [delivery.driver_id for delivery in deliveries if delivery.driver_id is not None]
    positions = LatestPosition.objects.in_bulk(held_by)
    return [
        Card(
            delivery,
            positions.get(delivery.driver_id) if delivery.driver_id else None,
            moves.allowed(delivery),
        )
        for delivery in deliveries
    ]


def _version(cards: list[Card]) -> str:
    """A digest that changes with the list's content. Cheaper than rendering: each change raises `last_sequence`."""
    shown = [
        (card.delivery.pk, card.delivery.last_sequence, card.position.recorded_at if card.position else None)
        for card in cards
    ]
    return hashlib.sha256(repr((shown, get_language())).encode()).hexdigest()[:16]


def _context(cards: list[Card], environment: Environment) -> dict[str, Any]:
    return {
        "cards": cards[:_MAX_ROUTES],
        "version": _version(cards),
        "board_environment": environment,
        "has_more": len(cards) > _MAX_ROUTES,
        "most": _MAX_ROUTES,
    }


class Board(DispatcherView):
    def get(self, request: HttpRequest) -> HttpResponse:
        environment = _environment(request)
        context = {
            **_context(_cards(environment), environment),
            "tiles": maps.tiles(),
            "environments": Environment.choices,
            "fresh_seconds": int(settings.POSITION_FRESH.total_seconds()),
        }
        return render(request, "panel/board.html", context)


class Routes(DispatcherView):
    """A fragment: the list, or 204 while it is the version that the browser has (`version`)."""

    def get(self, request: HttpRequest) -> HttpResponse:
        environment = _environment(request)
        cards = _cards(environment)
        if _version(cards) == request.GET.get("version"):
            return HttpResponse(status=204)
        return render(request, "panel/board_routes.html", _context(cards, environment))


class Drivers(DispatcherView):
    """A fragment: the eligible drivers that match the search `q`, and the one chosen before (`driver`)."""

    def get(self, request: HttpRequest, delivery: UUID) -> HttpResponse:
        found = _delivery(delivery)
        context = _choice(found, search=request.GET.get("q", "").strip(), chosen=request.GET.get("driver", ""))
        return render(request, "panel/board_drivers.html", context)


class Move(DispatcherView):
    """A move of a delivery. GET is the fragment with its form, POST performs it."""

    def get(self, request: HttpRequest, delivery: UUID, move: str) -> HttpResponse:
        found = _delivery_to_move(delivery, move)
        if move not in moves.allowed(found):
            text = _("This move is not possible any more. The list is up to date now.")
            return self._result(request, text, is_error=True)
        form = MoveForm(move, found)
        point = request.GET.get("point")
        if point and "point" in form.fields:
            form.initial["point"] = point
        context = {"form": form, "delivery": found, **(_choice(found) if move == "accept" else {})}
        return render(request, "panel/board_move.html", context)

    def post(self, request: HttpRequest, delivery: UUID, move: str) -> HttpResponse:
        found = _delivery_to_move(delivery, move)
        try:
            moves.perform(move, delivery=found, fields=request.POST, by=actor(request), at=timezone.now())
        except DeliveryError as error:
            return self._result(request, refusal(error), is_error=True)
        text = _("%(move)s: done.") % {"move": moves.MOVES[move].label}
        return self._result(request, text, is_error=False)

    def _result(self, request: HttpRequest, text: str, *, is_error: bool) -> HttpResponse:
        """The message with the result of a move, and an event that tells `board.js` whether it was refused."""
        response = render(request, "panel/board_message.html", {"text": text, "is_error": is_error})
        if request.method == "GET" or not is_error:  # a refused form shows the reason in the dialog
            response["HX-Retarget"] = "#board-message"
        response["HX-Trigger"] = json.dumps({"refused" if is_error else "moved": ""})
        return response


def _choice(delivery: Delivery, *, search: str = "", chosen: str = "") -> dict[str, Any]:
    """Context of the list of drivers: the nearest eligible ones that match `search`.

    The driver with the id `chosen` stays in the list, matching or not, because it replaces the list in which that
    driver was chosen.
    """
    now = timezone.now()
    eligible = drivers.eligible(delivery, at=now).select_related("latest")
    kept = list(eligible.filter(pk=key)) if (key := parse_id(chosen)) else []
    found = drivers.nearest(delivery, at=now, count=_MAX_DRIVERS + 1 + len(kept), search=search)
    matching = [driver for driver in found if driver not in kept]
    return {
        "options": [(driver.pk, driver_label(driver, at=now)) for driver in (kept + matching)[:_MAX_DRIVERS]],
        "chosen": kept[0].pk if kept else None,
        "has_more": len(kept) + len(matching) > _MAX_DRIVERS,
        "most_drivers": _MAX_DRIVERS,
        "search": search,
        "is_sandbox": delivery.environment == Environment.SANDBOX,
    }


def _delivery(key: UUID) -> Delivery:
    found: Delivery | None = Delivery.objects.with_parts().select_related("integrator").filter(pk=key).first()
    if found is None:
        raise Http404
    return found


def _delivery_to_move(key: UUID, move: str) -> Delivery:
    if move not in moves.MOVES:
        raise Http404
    return _delivery(key)
