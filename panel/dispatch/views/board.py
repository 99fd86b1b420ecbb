"""The dispatch board: the page, what its script asks for, and the dialogs of moves.

The page has no cards; `board.js` fetches those that are shown. What a board shows is in the browser, so that its tabs,
its order and the clock of lateness need no request.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.forms import HiddenInput
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest, JsonResponse
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.utils.translation import get_language, gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from common import clock
from common.actors import actor
from common.brazil.formats import short_id
from common.pages.page_updates import stream
from delivery import looks, page_updates, ways
from delivery.actions import drivers, moves
from delivery.actions import goods as goods_actions
from delivery.errors import DeliveryError
from delivery.lifecycle import Mode, RouteStatus
from delivery.models import Delivery, DispatchRules, Driver, Environment, GoodsInHand, LatestPosition, parse_id
from delivery.models.driver import VehicleType
from delivery.models.stop import LABELS
from delivery.move_forms import MoveForm, done, whereabouts
from delivery.refusals import refusal
from delivery.words import text_of_simulator
from panel import maps
from panel.base import DispatcherView
from panel.dispatch import board, on_duty

_LONGEST_SEARCH = 100  # characters
# Tabs with the route status they show; those without one are computed by the script. Seven short words fit on a phone.
_TABS = [
    ("all", pgettext_lazy("routes", "All"), ""),
    ("late", pgettext_lazy("tab of the board", "Late"), ""),
    ("waiting", pgettext_lazy("tab of the board", "Waiting"), RouteStatus.AVAILABLE),
    ("to-collect", pgettext_lazy("tab of the board", "Collect"), RouteStatus.ACCEPTED),
    ("on-the-way", pgettext_lazy("tab of the board", "On the way"), RouteStatus.COLLECTED),
    ("returning", pgettext_lazy("tab of the board", "Return"), RouteStatus.RETURNING),
    ("scheduled", pgettext_lazy("tab of the board", "Scheduled"), RouteStatus.SCHEDULED),
]
# Drivers to choose from: those that are seen at once, and those that are listed. A search finds the others.
_BEST_DRIVERS = 3
_MAX_DRIVERS = 20


def _environment(request: HttpRequest) -> Environment:
    return Environment.SANDBOX if request.GET.get("environment") == Environment.SANDBOX else Environment.LIVE


class Board(DispatcherView):
    is_live = True

    @property
    def topics(self) -> list[str]:
        return [page_updates.board(_environment(self.request))]

    def get(self, request: HttpRequest) -> HttpResponse:
        self.note_version()
        return self.page(
            "panel/board.html",
            board_environment=_environment(request),
            environments=Environment.choices,
            tabs=_TABS,
            tiles=maps.tiles(),
            time_zone=settings.TIME_ZONE,
            fresh_seconds=DispatchRules.current().position_fresh_seconds,
            most_cards=board.MOST_CARDS,
            has_roads=bool(settings.ROUTING_URL),
        )


def _searched(request: HttpRequest) -> str:
    return request.GET.get("q", "")[:_LONGEST_SEARCH].strip()


def _found(request: HttpRequest, *, ids: list[UUID] | None = None) -> list[str] | None:
    """Ids of the routes that match the text `q`, or None without one. With `ids`, of these routes only."""
    text = _searched(request)
    return board.matching(_environment(request), text, ids=ids) if text else None


class Routes(DispatcherView):
    """All routes of the board, all free drivers, goods in hand as HTML, and which routes match `q`.

    With `first`, a tab, also the cards that the board shows first there, of the account `shop` or of all.
    """

    def get(self, request: HttpRequest) -> HttpResponse:
        environment, sent = _environment(request), request.GET
        routes = board.routes(environment)
        cards = (
            board.first_cards(environment, routes, tab=sent["first"], shop=sent.get("shop", ""))
            if "first" in sent
            else {}
        )
        answer = {"routes": routes, "cards": cards, "free": board.free_drivers(environment)}
        goods = board.goods_in_hand(environment)
        return JsonResponse({**answer, "goods": goods, "found": _found(request)})


class Cards(DispatcherView):
    """Routes with their cards, by `ids`, goods in hand as HTML, and which routes match `q`. None that have ended.

    Each id can be followed by a colon and the name of the message that told of it, see `board.told`.
    """

    def get(self, request: HttpRequest) -> HttpResponse:
        told = _told(request)
        if told is None:
            return HttpResponseBadRequest()
        answer = board.told(_environment(request), told)
        return JsonResponse({**answer, "found": _found(request, ids=[*told])})


class Positions(DispatcherView):
    """Where drivers are now: of the routes in progress, or of those with `ids`; and free drivers, without `ids`."""

    def get(self, request: HttpRequest) -> HttpResponse:
        environment = _environment(request)
        if "ids" not in request.GET:
            free = board.free_drivers(environment)
            return JsonResponse({"positions": board.positions(environment), "free": free})
        told = _told(request)
        if told is None:
            return HttpResponseBadRequest()
        return JsonResponse({"positions": board.positions(environment, ids=[*told])})


class Updates(DispatcherView):
    """A stream of what changes (`config.server.page_streams`): deliveries of all accounts, and drivers."""

    http_method_names = ["get"]

    def get(self, request: HttpRequest, environment: str) -> HttpResponse:
        looks.note_board(environment, VehicleType.values)
        content = board.Content(environment, get_language())
        return stream(request, page_updates.board(environment), user=str(request.user.pk), content=content)


class Search(DispatcherView):
    """Ids of the routes that match the text `q`, and a list of deliveries that have ended, as HTML."""

    def get(self, request: HttpRequest) -> HttpResponse:
        text = _searched(request)
        ended = board.ended(_environment(request), text) if text else []
        html = render_to_string("panel/board_ended.html", {"deliveries": ended}, request) if ended else ""
        return JsonResponse({"ids": _found(request) or [], "ended": html})


class OnDuty(DispatcherView):
    """A fragment: the drivers on duty, by the search `q`."""

    def get(self, request: HttpRequest) -> HttpResponse:
        found = on_duty.on_duty(_environment(request), search=_searched(request), at=clock.now())
        return self.page("panel/board_on_duty.html", drivers=found, search=_searched(request))


class GoodsBack(DispatcherView):
    """Records that goods in hand are back."""

    def post(self, request: HttpRequest, goods: int) -> HttpResponse:
        found = get_object_or_404(GoodsInHand.objects.select_related("delivery", "driver"), pk=goods)
        goods_actions.record_back(goods=found, by=actor(request), at=clock.now())
        text = gettext("Recorded: the goods of %(driver)s are back.") % {"driver": found.driver.name}
        return self.page("panel/board_message.html", text=text, is_error=False)


class Way(DispatcherView):
    """The way of a route by road: latitudes and longitudes, none without a routing engine."""

    def get(self, request: HttpRequest, delivery: UUID) -> HttpResponse:
        return JsonResponse({"way": ways.of(_delivery(delivery))})


class Assign(DispatcherView):
    """A fragment: the form that assigns drivers to several offered routes, by `ids`. Each is then a move of its own."""

    def get(self, request: HttpRequest) -> HttpResponse:
        told = _told(request)
        if told is None:
            return HttpResponseBadRequest()
        environment, now = _environment(request), clock.now()
        offered = (
            Delivery.objects.filter(pk__in=told, environment=environment, route_status=RouteStatus.AVAILABLE)
            .select_related("integrator")
            .prefetch_related("stops")
        )
        rows = drivers.nearest_of_each(list(offered.order_by("created_at", "pk")), at=now)
        choices = [(delivery, [_Option(each.driver, each.metres, now) for each in found]) for delivery, found in rows]
        return self.page("panel/board_assign.html", rows=choices)


def _told(request: HttpRequest) -> dict[UUID, str] | None:
    """The ids in the parameter `ids`, separated by commas, each with the name of its message, which can be empty.

    None if one is not a UUID, or there are too many.
    """
    sent = request.GET.get("ids", "")
    texts = sent.split(",", board.MOST_CARDS) if sent else []  # at most one more than are allowed
    parts = [text.partition(":") for text in texts]
    told = {parse_id(text): name for text, _colon, name in parts}
    ids = {key: name for key, name in told.items() if key is not None}
    return None if len(texts) > board.MOST_CARDS or None in told else ids


class Drivers(DispatcherView):
    """A fragment: the eligible drivers that match the search `q`, and the one chosen before (`driver`)."""

    def get(self, request: HttpRequest, delivery: UUID) -> HttpResponse:
        found = _delivery(delivery)
        choice = _choice(found, search=request.GET.get("q", "").strip(), chosen=request.GET.get("driver", ""))
        return self.page("panel/board_drivers.html", in_zone_of=found, **choice)


class Move(DispatcherView):
    """A move of a delivery. GET is the fragment with its form, POST performs it."""

    def get(self, request: HttpRequest, delivery: UUID, move: str) -> HttpResponse:
        found = _delivery_to_move(delivery, move)
        if move not in moves.allowed(found):
            text = gettext("This move is not possible any more. The list is up to date now.")
            response = self._result(text, is_error=True)
            response["HX-Retarget"] = "#board-message"
            response["HX-Trigger"] = "refused"
            return response
        return self._dialog(request, found, move)

    def post(self, request: HttpRequest, delivery: UUID, move: str) -> HttpResponse:
        found = _delivery_to_move(delivery, move)
        if move == "cancel" and move in moves.allowed(found):
            has_changed = request.POST.get("route_status", found.route_status) != found.route_status
            if has_changed:  # the fee that the dispatcher has agreed to is not the one of now
                return self._dialog(request, found, move, has_changed=True)
        try:
            moved = moves.perform(move, delivery=found, fields=request.POST.dict(), by=actor(request), at=clock.now())
        except DeliveryError as error:
            if "Rota-Leaving" in request.headers:  # the page is gone, so the next one says it
                messages.error(request, f"{found.integrator.name} {short_id(found.pk)}: {refusal(error)}")
            return self._result(refusal(error), is_error=True)
        return self._result(done(move, moved, point=request.POST.get("point", "")), is_error=False)

    def _dialog(
        self, request: HttpRequest, delivery: Delivery, move: str, *, has_changed: bool = False
    ) -> HttpResponse:
        form, details = MoveForm(move, delivery), moves.described(move, delivery)
        sent = request.GET.get("point", "")
        point = sent if sent in {*LABELS} else ""
        driver = text_of_simulator(delivery.driver.name) if delivery.driver else ""
        context: dict[str, Any] = {
            "form": form,
            "delivery": delivery,
            "has_changed": has_changed,
            "title": (details.question or form.label) % {"point": point or gettext("this point"), "driver": driver},
            "button": form.label,
            "is_danger": details.is_danger,
        }
        if point and "point" in form.fields:
            form.initial["point"] = point
            form.fields["point"].widget = HiddenInput()  # the title names it
            context["stop"] = next((stop for stop in delivery.ordered_stops if stop.label == point), None)
        if "driver" in details.fields:
            context |= {"chooses_driver": True, **_choice(delivery, recommends=True)}
        if move == "fail":
            form.fields["reason"].label = _("Details (optional)")
            is_reverse = delivery.mode == Mode.REVERSE
            context["button"] = _("Record as not collected") if is_reverse else _("Record as not delivered")
        if move in ("cancel", "charge"):
            context["fee"] = delivery.fee_of_cancelling if move == "cancel" else delivery.fee_after_pickup
        response = self.page("panel/board_move.html", in_zone_of=delivery, **context)
        if has_changed:
            response["HX-Retarget"] = "#move"
        return response

    def _result(self, text: str, *, is_error: bool) -> HttpResponse:
        return self.page("panel/board_message.html", text=text, is_error=is_error)


@dataclass(frozen=True)
class _Option:
    """A driver to choose, who is so far from where the route begins."""

    driver: Driver
    metres: float | None
    at: datetime

    @property
    def is_fresh(self) -> bool:
        """Whether it is known where the driver is now. Nobody else is recommended."""
        latest: LatestPosition | None = getattr(self.driver, "latest", None)
        return latest is not None and latest.is_fresh(at=self.at)

    @property
    def whereabouts(self) -> str:
        return " · ".join(whereabouts(self.driver, self.metres, at=self.at))


def _choice(delivery: Delivery, *, search: str = "", chosen: str = "", recommends: bool = False) -> dict[str, Any]:
    """Context of the list of drivers: the nearest eligible ones that match `search`, those with a fresh position first.

    `recommends`: the first one is chosen unless another one is, and recommended if its position is fresh. The driver
    with the id `chosen` stays in the list, matching or not, because it replaces the list in which that driver was
    chosen.
    """
    now = clock.now()
    eligible = drivers.eligible(delivery, at=now).select_related("latest")
    kept = list(eligible.filter(pk=key)) if (key := parse_id(chosen)) else []
    found = drivers.nearest(delivery, at=now, count=_MAX_DRIVERS + 1 + len(kept), search=search)
    matching = [driver for driver in found if driver not in kept]
    options = [_Option(driver, driver.distance_m, now) for driver in kept + matching]  # type: ignore[attr-defined]
    options = sorted(options, key=lambda each: (each.driver not in kept, not each.is_fresh))[:_MAX_DRIVERS]
    first = options[0] if options and recommends else None
    return {
        "best": options[:_BEST_DRIVERS],
        "others": options[_BEST_DRIVERS:],
        "recommended": first.driver.pk if first and first.is_fresh else None,
        "chosen": kept[0].pk if kept else first and first.driver.pk,
        "has_more": len(kept) + len(matching) > _MAX_DRIVERS,
        "most_drivers": _MAX_DRIVERS,
        "search": search,
        "is_sandbox": delivery.environment == Environment.SANDBOX,
    }


def _delivery(key: UUID) -> Delivery:
    return get_object_or_404(Delivery.objects.with_parts().select_related("integrator"), pk=key)


def _delivery_to_move(key: UUID, move: str) -> Delivery:
    if move not in moves.MOVES:
        raise Http404
    return _delivery(key)
