"""The actions on a delivery by name, for callers that receive a name: the admin, the board and `dispatch`.

Forms, arguments and buttons of all of them are made from `MOVES`.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrPromise

from delivery import lifecycle
from delivery.actions import deliveries, drivers
from delivery.errors import DriverNotFound, InvalidPosition, NoDriverAssigned
from delivery.geo.distance import Point
from delivery.lifecycle import Mode, Trigger
from delivery.models import Delivery, Driver, Simulation, Stop, parse_id

_LONGEST_POINT = 100  # characters


@dataclass(frozen=True)
class Move:
    """An action on a delivery, its label, and the message that it has been performed, with values of `move_forms.done`.

    `fields` names the texts it takes, and whether each is required.
    Possible fields: `driver` (an id), `point` (B, C or D), `code` (of a failure), `reason`, `position` ("LAT,LNG"),
    `untried` (what the function of that name returned when the dispatcher looked).
    """

    action: Callable[..., Delivery]
    label: StrPromise
    done: StrPromise
    fields: Mapping[str, bool] = field(default_factory=dict)
    _: KW_ONLY
    is_step: bool = False  # it brings the route on; of these one is allowed at a time, for each point
    is_danger: bool = False
    in_sandbox: bool = True  # integrators may make it there
    is_of_tried: bool = False  # it is made at stops that failed once and are tried again
    button: StrPromise | None = None  # on a card of the board, where it is not the label
    question: StrPromise | None = None  # of the board before the move; None: it is made when its button is held
    in_reverse: Mapping[str, StrPromise] = field(default_factory=dict)  # its texts in mode REVERSE, where they differ

    def is_at_stop(self, delivery: Delivery) -> bool:
        """Whether it is made at one of the delivery's stops, and so needs a point."""
        return "point" in self.fields and (self.fields["point"] or delivery.mode == Mode.REVERSE)


def _accept(*, delivery: Delivery, driver: str, by: str, at: datetime) -> Delivery:
    return deliveries.accept(delivery=delivery, driver=_find_driver(driver), by=by, at=at)


def _reassign(*, delivery: Delivery, driver: str, by: str, at: datetime) -> Delivery:
    return deliveries.reassign(delivery=delivery, driver=_find_driver(driver), by=by, at=at)


@transaction.atomic
def _set_position(*, delivery: Delivery, position: str, by: str, at: datetime) -> Delivery:
    if delivery.driver is None or not delivery.is_held:
        raise NoDriverAssigned("No driver holds this route, so no position can be recorded.")
    drivers.set_position(driver=delivery.driver, point=parse_point(position), by=by, at=at)
    Simulation.objects.filter(pk=delivery.pk).delete()  # the driver stays where a person has set it
    return delivery


# Without EXPIRE, which is triggered by time alone. In the order of pages.
MOVES: Mapping[str, Move] = {
    "offer": Move(
        deliveries.offer,
        _("Offer now"),
        _("Route %(route)s is offered to drivers."),
        is_step=True,
    ),
    "accept": Move(
        _accept,
        _("Assign driver"),
        _("Route %(route)s assigned to %(driver)s."),
        {"driver": False},
        is_step=True,
        button=_("Assign driver…"),
        question=_("Who takes this route?"),
    ),
    "collect": Move(
        deliveries.collect,
        _("Collect"),
        _("Route %(route)s collected by %(driver)s."),
        {"point": False},
        is_step=True,
        in_reverse={"done": _("Route %(route)s: point %(point)s collected.")},
    ),
    "deliver": Move(
        deliveries.deliver,
        _("Deliver"),
        _("Route %(route)s: point %(point)s delivered."),
        {"point": True},
        is_step=True,
    ),
    "return": Move(
        deliveries.return_,
        _("Return to A"),
        _("Route %(route)s: %(driver)s is back at A."),
        is_step=True,
        in_reverse={
            "label": _("Deliver at A"),
            "done": _("Route %(route)s: %(driver)s has brought everything to A."),
        },
    ),
    "fail": Move(
        deliveries.fail,
        _("Couldn't deliver"),
        _("Route %(route)s: point %(point)s not delivered."),
        {"point": True, "code": False, "reason": False, "untried": False},
        is_danger=True,
        button=_("Couldn't deliver…"),
        question=_("Why was %(point)s not delivered?"),
        in_reverse={
            "label": _("Couldn't collect"),
            "done": _("Route %(route)s: point %(point)s not collected."),
            "button": _("Couldn't collect…"),
            "question": _("Why was %(point)s not collected?"),
        },
    ),
    # Integrators answer a first failure as in the live environment.
    "recall": Move(
        deliveries.recall,
        _("No second attempt"),
        _("Route %(route)s: point %(point)s is not tried again."),
        {"point": True},
        is_danger=True,
        in_sandbox=False,
        is_of_tried=True,
        button=_("No second attempt…"),
        question=_("No second attempt at %(point)s?"),
    ),
    # Integrators cancel as in the live environment, and only dispatchers change the driver of a route.
    "reassign": Move(
        _reassign,
        _("Assign another driver"),
        _("Route %(route)s assigned to %(driver)s."),
        {"driver": False},
        in_sandbox=False,
        button=_("Another driver…"),
        question=_("Who takes this route instead of %(driver)s?"),
    ),
    "release": Move(
        deliveries.release,
        _("Release driver"),
        _("Route %(route)s is offered to drivers again."),
        in_sandbox=False,
        button=_("Release…"),
        question=_("Take the route from %(driver)s?"),
    ),
    "position": Move(
        _set_position,
        _("Set position"),
        _("Position of %(driver)s recorded for route %(route)s."),
        {"position": True},
        button=_("Set position…"),
    ),
    "cancel": Move(
        deliveries.cancel,
        _("Cancel delivery"),
        _("Route %(route)s cancelled, %(fee)s."),
        {"reason": False},
        is_danger=True,
        in_sandbox=False,
        button=_("Cancel…"),
        question=_("Cancel this delivery?"),
        in_reverse={"label": _("Cancel the pickups"), "question": _("Cancel the pickups of this route?")},
    ),
    "charge": Move(
        deliveries.charge,
        _("Charge as after pickup"),
        _("Route %(route)s: charged as cancelled after pickup, %(fee)s."),
        is_danger=True,
        in_sandbox=False,
        button=_("Charge as after pickup…"),
        question=_("Charge this cancellation as one after pickup?"),
    ),
}


def allowed(delivery: Delivery) -> list[str]:
    """Names of the moves that the delivery's state allows now."""
    possible: set[str] = {trigger.value for trigger in lifecycle.possible(delivery.state)}
    if delivery.cancelled_at is not None:
        possible.discard(Trigger.CANCEL)
    if delivery.fee_after_pickup is not None:
        possible.add(Trigger.CHARGE)
    if delivery.is_held:
        possible.add("position")
    return [name for name in MOVES if name in possible]


def untried(delivery: Delivery) -> str:
    """Labels of the stops that have not failed yet. A form of `fail` sends them back, see `deliveries.fail`."""
    return "".join(stop.label for stop in delivery.ordered_stops if stop.tried_at is None)


def points(name: str, delivery: Delivery) -> list[Stop]:
    """The stops at which the move can be made; none of a move that is not made at a stop."""
    move = MOVES[name]
    if not move.is_at_stop(delivery):
        return []
    return [stop for stop in delivery.stops_ahead if stop.tried_at is not None or not move.is_of_tried]


def only_point(name: str, delivery: Delivery) -> str:
    """The label of the only stop at which the move can be made; empty where there is a choice, or none."""
    found = points(name, delivery)
    return found[0].label if len(found) == 1 else ""


def described(name: str, delivery: Delivery) -> Move:
    """The move with the texts that it has in the delivery's mode."""
    move = MOVES[name]
    return replace(move, **move.in_reverse) if delivery.mode == Mode.REVERSE else move  # type: ignore[arg-type]


def perform(name: str, *, delivery: Delivery, fields: Mapping[str, str], by: str, at: datetime) -> Delivery:
    """Perform the move with its own of these fields, whitespace around them removed; others are ignored.

    Returns the delivery afterwards. Raises the DeliveryError that says why it is refused, KeyError for another name.
    """
    move = MOVES[name]
    texts = {field_name: fields.get(field_name, "").strip() for field_name in move.fields}
    return move.action(delivery=delivery, **texts, by=by, at=at)


def parse_point(text: str) -> Point:
    """Coordinates from "LAT,LNG" in decimal degrees. Raises InvalidPosition."""
    try:
        latitude, longitude = (float(part) for part in text[:_LONGEST_POINT].split(","))
    except ValueError:
        latitude = longitude = math.nan
    point = Point(latitude, longitude)
    if len(text) > _LONGEST_POINT or not point.is_on_earth:
        raise InvalidPosition(
            "'%(text)s' is not LATITUDE,LONGITUDE in decimal degrees, such as -23.56,-46.65.",
            text=text[:_LONGEST_POINT],
        )
    return point


def _find_driver(text: str) -> Driver | None:
    """The driver with this id; None for an empty text, which leaves the choice to the action. Raises DriverNotFound."""
    if not text:
        return None
    key = parse_id(text)
    driver = Driver.objects.filter(pk=key).first() if key else None
    if driver is None:
        raise DriverNotFound("No driver has the id '%(id)s'.", id=text)
    return driver
