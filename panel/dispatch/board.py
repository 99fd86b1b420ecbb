"""What the dispatch board knows: the routes in progress, where their drivers are, and which drivers are free.

`board.js` keeps it in the browser, as JSON with the keys that are documented here. Coordinates are decimal degrees,
moments seconds since 1970.
"""

import json
import re
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from threading import Lock
from typing import Any
from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import CharField, Count, F, Func, OuterRef, Q, QuerySet, Subquery, TextField, Value
from django.db.models.functions import Cast, Coalesce
from django.template.loader import get_template
from django.utils import timezone, translation
from django.utils.translation import get_language

from common import clock
from common.brazil import zones
from common.fields import Folded, folded
from delivery import lifecycle
from delivery.actions import moves
from delivery.actions.moves import Move
from delivery.models import DeclinedOffer, Delivery, Driver, GoodsInHand, LatestPosition, Stop, parse_id
from delivery.models.delivery import DeliveryQuerySet
from delivery.models.stop import LABELS
from delivery.receivers import actions as receivers
from delivery.stop_details import StopDetails
from delivery.words import text_of_simulator
from panel import maps
from panel.filters import NEWEST

# Cards, and so the ids of one request.
MOST_CARDS = 50
# Free drivers on the map, those with the newest positions. Who has not been heard of for longer has left the phone
# behind, or forgotten to go off duty.
_MOST_FREE = 1000
_FREE_SHOWN = timedelta(hours=12)
_MOST_WORDS = 10
# Of the routes that are due first; a search that finds more does not help.
_MOST_FOUND = 1000
_SHORTEST_ID = 6  # characters, as many as pages show of an id
_END_OF_ID = re.compile(r"[0-9a-f-]{6,36}")
_MOST_ENDED = 10
# The routes with their cards that were told of last, about 8 kB each. By environment, id, message and language.
_told: OrderedDict[tuple[str, UUID, str, str | None], tuple[dict[str, Any] | None, str | None]] = OrderedDict()
_MOST_TOLD = 100
# Goods in hand as they were after the newest of these messages, by environment and language.
_goods_told: dict[tuple[str, str | None], str] = {}
_MOST_PUSHED = 32  # routes in one message
_DELIVERY = "delivery:"  # before the id in a message
_FIRST_CARDS = 12
_telling = Lock()  # those who wait for it find there what they want


# Scheduled routes that are ready later are in the lists of deliveries only.
SCHEDULED_SHOWN = timedelta(days=2)
_SCHEDULED = lifecycle.RouteStatus.SCHEDULED


@dataclass(frozen=True)
class Card:
    """What the list shows of one route. Changes only with `Delivery.last_sequence` and `offer_at`."""

    delivery: Delivery
    moves: dict[str, Move]
    stops: list[StopDetails]

    @cached_property
    def moves_at_a(self) -> dict[str, Move]:
        return {name: move for name, move in self._elsewhere.items() if move.is_step}

    @cached_property
    def moves_at_stops(self) -> dict[str, Move]:
        return {name: move for name, move in self.moves.items() if move.is_at_stop(self.delivery)}

    @cached_property
    def other_moves(self) -> dict[str, Move]:
        return {name: move for name, move in self._elsewhere.items() if not move.is_step}

    @cached_property
    def _elsewhere(self) -> dict[str, Move]:
        return {name: move for name, move in self.moves.items() if not move.is_at_stop(self.delivery)}

    @cached_property
    def open_stops(self) -> list[Stop]:
        return self.delivery.stops_ahead

    @cached_property
    def next_label(self) -> str:
        """Where the driver has to be next: A, B, C or D."""
        return self.delivery.next_place.label

    @cached_property
    def main_stop(self) -> Stop:
        """The stop that the card is named for, because A is often the same: the next one, or one that has failed."""
        stops = self.delivery.ordered_stops
        failed = [stop for stop in stops if stop.status == lifecycle.Status.FAILED]
        return (self.open_stops or failed or stops)[0]

    @property
    def shown_label(self) -> str:
        """The place that the folded card shows below its name: where the driver has to be next, without a driver A."""
        return self.next_label if self.delivery.is_held else "A"

    @property
    def other_stops(self) -> int:
        """How many stops there are to go to beside the one that the card is named for."""
        return sum(stop != self.main_stop for stop in self.open_stops)


def routes(environment: str, *, ids: Collection[UUID] | None = None) -> list[dict[str, Any]]:
    """The routes that the board shows of an environment, or those of them with these ids, in no particular order.

    `version` changes with the card; `account` and `shop` are who has requested it, by id and by name. `due` is when the
    next step is due, of a scheduled route when it is ready; `expires` when an offer ends; `zone` as `_zone` has it.
    `points` and `driver` are as `maps.route` has them; a driver without a known position has null coordinates.
    `arrives` of a stop is when the driver is expected there, `latest` at the latest, and `heard` when the driver was
    last heard of by then.
    """
    deliveries = _shown(environment, ids).with_due()
    is_without_streets = not maps.tiles()["url"]
    columns = (
        "pk", "last_sequence", "route_status", "due_at", "offer_at", "offer_expires_at", "latitude", "longitude",
        "mode", "vehicle_type", "integrator_id", "integrator__name", "address__state",
        "address__district", "driver__name", "driver__latest__latitude",
        "driver__latest__longitude", "driver__latest__recorded_at",
    )  # fmt: skip  # a list of names
    stops = _stops(environment, ids, with_districts=is_without_streets)
    offered = lifecycle.RouteStatus.AVAILABLE
    return [
        {
            "id": str(row.pk),
            "version": f"{row.last_sequence} {row.offer_at}",
            "status": row.route_status,
            "due": row.due_at.timestamp(),
            "expires": row.offer_expires_at.timestamp() if row.route_status == offered else None,
            "points": [
                maps.point(
                    "A", row.latitude, row.longitude, district=row.address__district if is_without_streets else ""
                ),
                *stops.get(row.pk, []),
            ],
            "returns": row.mode == lifecycle.Mode.RETURN,
            "reverse": row.mode == lifecycle.Mode.REVERSE,
            "vehicle": row.vehicle_type,
            "account": str(row.integrator_id),
            "shop": row.integrator__name,
            "zone": _zone(row.latitude, row.longitude, row.address__state),
            "driver": None if row.driver__name is None else _driver(row.driver__name, *row[-3:]),
        }
        for row in deliveries.values_list(*columns, named=True)
    ]


def _zone(latitude: float, longitude: float, state: str | None) -> list[str] | None:
    """Where the clocks of A differ from the installation's: the zone, and the city that it is called by."""
    zone = zones.of_place(latitude, longitude, {"state": state})
    return [zone.key, zones.city(zone)] if zones.name(zone, at=clock.now()) else None


def _shown(environment: str, ids: Collection[UUID] | None) -> DeliveryQuerySet:
    """The routes in progress, and the scheduled ones that are ready within two days; with `ids`, of these only."""
    soon = Q(route_status=_SCHEDULED, scheduled_for__lte=clock.now() + SCHEDULED_SHOWN)
    found = Delivery.objects.filter(Q(route_status__in=lifecycle.IN_PROGRESS) | soon, environment=environment)
    return found if ids is None else found.filter(pk__in=ids)


def _stops(environment: str, ids: Collection[UUID] | None, *, with_districts: bool) -> dict[UUID, list[dict[str, Any]]]:
    shown = _shown(environment, ids).order_by().values("pk")
    stops = Stop.objects.filter(delivery__in=shown).order_by("delivery_id", "index")
    found: dict[UUID, list[dict[str, Any]]] = {}
    columns = (
        "delivery_id", "delivery__mode", "index", "latitude", "longitude", "status", "address__district",
        "arrival__arrives_at", "arrival__latest", "heard_at",
    )  # fmt: skip  # a list of names
    stops = stops.annotate(heard_at=Coalesce("arrival__signal_at", "arrival__computed_at"))
    for key, mode, index, latitude, longitude, status, district, *moments in stops.values_list(*columns):
        point = maps.point(LABELS[index], latitude, longitude, status, district=with_districts and district)
        is_ahead = status in lifecycle.AHEAD[lifecycle.Mode(mode)]
        for name, moment in zip(("arrives", "latest", "heard"), moments, strict=True):
            point[name] = moment.timestamp() if moment and is_ahead else None
        found.setdefault(key, []).append(point)
    return found


def _driver(name: str, latitude: float | None, longitude: float | None, at: datetime | None) -> dict[str, Any]:
    return {"name": text_of_simulator(name), "lat": latitude, "lng": longitude, "at": at.timestamp() if at else None}


def positions(environment: str, *, ids: Collection[UUID] | None = None) -> dict[str, dict[str, float]]:
    """Where the drivers of the routes in progress are, and since when, by the delivery's id.

    With `ids`, of these routes only.
    """
    # In one call, so that the conditions are about the same delivery.
    held = LatestPosition.objects.filter(
        driver__deliveries__environment=environment,
        driver__deliveries__route_status__in=lifecycle.HELD,
        **({} if ids is None else {"driver__deliveries__in": ids}),
    )
    rows = held.values_list("driver__deliveries", "latitude", "longitude", "recorded_at")
    return {
        str(key): {"lat": latitude, "lng": longitude, "at": at.timestamp()} for key, latitude, longitude, at in rows
    }


def free_drivers(environment: str) -> list[dict[str, Any]]:
    """The drivers on duty without a route, their vehicles, where they were last heard of, and when (`at`)."""
    free = (
        Driver.objects.filter(active=True, on_duty=True, environment=environment)
        .exclude(deliveries__route_status__in=lifecycle.HELD)
        .filter(latest__recorded_at__gte=clock.now() - _FREE_SHOWN)
        .order_by("-latest__recorded_at")
    )
    columns = ("pk", "vehicle_type", "name", "latest__latitude", "latest__longitude", "latest__recorded_at")
    rows = free.values_list(*columns)[:_MOST_FREE]
    return [{"id": str(key), "vehicle": vehicle, **_driver(*place)} for key, vehicle, *place in rows]


def told(environment: str, messages: Mapping[UUID, str]) -> dict[str, Any]:
    """`routes`, `cards` and `goods` of the routes with these ids, each with the name of the message that told of it.

    What was computed after a message was told is the same for every board that got it, in one language: it is computed
    once in a process. A route without the name of a message is computed for itself.
    """
    keys = {key: (environment, key, message, get_language()) for key, message in messages.items()}
    with _telling:
        missing = [key for key, message in messages.items() if not message or keys[key] not in _told]
        if missing:
            found = {route["id"]: route for route in routes(environment, ids=missing)}
            html = cards(environment, missing)
            _goods_told[environment, get_language()] = goods_in_hand(environment)
            _told.update({keys[key]: (found.get(str(key)), html.get(str(key))) for key in missing})
        parts = {str(key): _told[keys[key]] for key in messages}
        goods = _goods_told.get((environment, get_language()), "")
        while len(_told) > _MOST_TOLD:
            _told.popitem(last=False)
    return {
        "routes": [route for route, _card in parts.values() if route is not None],
        "cards": {key: card for key, (_route, card) in parts.items() if card is not None},
        "goods": goods,
    }


@dataclass(frozen=True)
class Content:
    """What boards are sent when routes have changed: what `told` answers of them, and the `ids` of the message."""

    environment: str
    language: str | None

    def __call__(self, ids: Sequence[str], message: str) -> str | None:
        changed = [UUID(text.removeprefix(_DELIVERY)) for text in ids if text.startswith(_DELIVERY)]
        if not changed or len(changed) > _MOST_PUSHED:
            return None
        with translation.override(self.language):
            found = told(self.environment, dict.fromkeys(changed, message))
        return json.dumps({"ids": ids, **found}, ensure_ascii=False)


def first_cards(environment: str, found: list[dict[str, Any]], *, tab: str, shop: str) -> dict[str, str]:
    """The cards of a screen: of these routes those that the board shows first, as `board.inTab` and `board.shown` do.

    `tab`: a status, "late", or empty for all in progress. `shop`: the id of an account, or empty.
    """
    now = clock.now().timestamp()
    shown = [
        route
        for route in found
        if (not shop or route["account"] == shop)
        and (route["due"] < now if tab == "late" else route["status"] == tab if tab else route["status"] != _SCHEDULED)
    ]
    shown.sort(key=lambda route: (route["due"], route["id"]))
    return cards(environment, [UUID(route["id"]) for route in shown[:_FIRST_CARDS]])


def cards(environment: str, ids: Collection[UUID]) -> dict[str, str]:
    """The HTML of the cards of these routes by id; of those that the board shows."""
    found = _shown(environment, ids).with_due().with_parts()
    declined = DeclinedOffer.objects.filter(delivery=OuterRef("pk")).values("delivery").values(count=Count("pk"))
    deliveries = list(found.select_related("integrator").annotate(declined=Subquery(declined)))
    stops = [stop for delivery in deliveries for stop in delivery.ordered_stops]
    details = receivers.details(stops, at=clock.now())
    template = get_template("panel/board_card.html")
    answer = {}
    for delivery in deliveries:
        own = [each for each in details if each.stop.delivery_id == delivery.pk]
        card = Card(delivery, {name: moves.described(name, delivery) for name in moves.allowed(delivery)}, own)
        with timezone.override(delivery.zone):
            answer[str(delivery.pk)] = template.render({"card": card, "delivery": delivery})
    return answer


def goods_in_hand(environment: str) -> str:
    """The HTML of what drivers have of routes that are not theirs any more; empty if there is nothing."""
    found = GoodsInHand.objects.out().filter(delivery__environment=environment)
    rows = list(found.select_related("driver", "delivery__integrator").prefetch_related("delivery__stops")[:MOST_CARDS])
    return get_template("panel/board_goods.html").render({"rows": rows}) if rows else ""


def matching(environment: str, text: str, *, ids: Collection[UUID] | None = None) -> list[str]:
    """Ids of the routes of the board that have each word of the text in a name, phone, address or order.

    Case and accents do not matter, nor do the signs in phones. A word of six or more characters is looked for in the
    deliveryId too; a shorter one, such as a house number, is in too many of them. With `ids`, of these routes only.
    """
    found: QuerySet[Delivery] = _shown(environment, ids).with_due()
    # A subquery for each route, by the index. EXISTS in its place is planned as one scan of the stops of all times.
    of_stops = Stop.objects.filter(delivery=OuterRef("pk")).values(
        text=_joined("external_id", "contact_name", "contact_phone")
    )
    own = _joined("integrator__name", "contact_name", "contact_phone", "driver__name", "driver__phone")
    found = found.alias(
        joined=_lines(own, Func(ArraySubquery(of_stops), Value("\n"), function="array_to_string")),
        searched=Folded("joined"),
        id_text=Cast("pk", CharField()),
    )
    for word in folded(text).split()[:_MOST_WORDS]:
        condition = Q(searched__contains=word)
        if len(word) >= _SHORTEST_ID:
            condition |= Q(id_text__contains=word)
        found = found.filter(condition)
    return [str(key) for key in found.order_by(F("due_at").asc()).values_list("pk", flat=True)[:_MOST_FOUND]]


def ended(environment: str, text: str) -> QuerySet[Delivery]:
    """Deliveries that have ended, newest first, with this externalId or deliveryId, or with its end, as pages show it.

    The end is looked for among the newest, because no index finds it. Empty for a text that can be none of them.
    """
    found: QuerySet[Delivery] = (
        Delivery.objects.filter(environment=environment, closed_at__isnull=False)
        .select_related("integrator")
        .prefetch_related("stops")
    )
    if key := parse_id(text):
        return found.filter(pk=key)
    by_order = found.filter(Stop.refers_to("pk", external_id=text)).order_by("-pk")[:_MOST_ENDED]
    end = text.removeprefix("…").lower()
    if not _END_OF_ID.fullmatch(end) or by_order.exists():
        return by_order
    newest = Delivery.objects.order_by("-created_at").values("pk")[:NEWEST]
    return (
        found.filter(pk__in=newest).alias(id_text=Cast("pk", CharField())).filter(id_text__endswith=end)[:_MOST_ENDED]
    )


def _joined(*names: str) -> Func:
    """The texts of these columns and of the address, each on a line. Phones also as their digits."""
    phones = [_digits(name) for name in names if name.endswith("phone")]
    address = Func(F("address"), Value("$.*"), function="jsonb_path_query_array", output_field=TextField())
    texts = [*map(F, names), *phones, Cast(address, TextField())]
    return _lines(*texts)


def _lines(*texts: Any) -> Func:
    return Func(Value("\n"), *texts, function="concat_ws", output_field=TextField())


def _digits(name: str) -> Func:
    return Func(F(name), Value(r"\D"), Value(""), Value("g"), function="regexp_replace", output_field=TextField())
