"""Statuses of an immediate delivery and the one table by which they change. Read this first.

A delivery is one route with one to three drop-offs. Its state consists of the delivery's status (the aggregate that
an integrator sees), the route's status and one status for each drop-off, which the API calls an order. `TABLE` gives
for each trigger and route status what all three become; a pair that is not in the table is refused. No database, no
clock.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from delivery.errors import MoveRefused, StopNotOpen


class Status(StrEnum):
    """Status of a delivery and of each of its orders.

    A webhook event is named after the delivery's status when it was recorded, whatever the trigger.
    """

    PENDING = "PENDING"
    ACCEPT = "ACCEPT"
    COLLECTED = "COLLECTED"
    DELIVERED = "DELIVERED"
    FAILED = "FAILED"


class RouteStatus(StrEnum):
    """Status of a route."""

    AVAILABLE = "AVAILABLE"  # offered to drivers
    ACCEPTED = "ACCEPTED"  # a driver holds it and has not collected the goods at A
    COLLECTED = "COLLECTED"  # the driver has the goods
    RETURNING = "RETURNING"  # no order is open, and the driver returns to A
    FINISHED = "FINISHED"
    CANCELLED = "CANCELLED"  # cancelled before pickup
    EXPIRED = "EXPIRED"  # not accepted before the deadline of the offer


class Trigger(StrEnum):
    """Cause of a transition."""

    ACCEPT = "accept"
    RELEASE = "release"  # the driver gives the route back before pickup, and it is offered again
    REASSIGN = "reassign"  # another driver takes the route over before pickup
    COLLECT = "collect"
    DELIVER = "deliver"
    FAIL = "fail"
    RETURN = "return"
    CANCEL = "cancel"
    EXPIRE = "expire"


class FailureCode(StrEnum):
    """Why a stop failed. `delivery.words.FAILURES` names them."""

    ABSENT = "ABSENT"
    REFUSED = "REFUSED"
    ADDRESS_NOT_FOUND = "ADDRESS_NOT_FOUND"
    ADDRESS_INCOMPLETE = "ADDRESS_INCOMPLETE"
    CLOSED = "CLOSED"
    DAMAGED = "DAMAGED"
    WRONG_ITEM = "WRONG_ITEM"
    UNSAFE = "UNSAFE"
    PAYMENT = "PAYMENT"
    VEHICLE = "VEHICLE"
    OTHER = "OTHER"  # needs a text


class Ending(StrEnum):
    """How a delivery ended. It decides the amount that the account owes for it, see `DeliveryQuerySet.with_amounts`."""

    DELIVERED = "delivered"  # at one stop at least
    NOT_DELIVERED = "not_delivered"  # at no stop, and not because of a cancellation
    CANCELLED = "cancelled"
    EXPIRED = "expired"  # no driver took it


class Mode(StrEnum):
    """`deliveryMode` of a request. RETURN: the driver returns to A after the last drop-off."""

    DEFAULT = "DEFAULT"
    RETURN = "RETURN"


# Statuses in which a driver holds the route. A driver holds one at a time.
HELD = (RouteStatus.ACCEPTED, RouteStatus.COLLECTED, RouteStatus.RETURNING)
CLOSED = (RouteStatus.FINISHED, RouteStatus.CANCELLED, RouteStatus.EXPIRED)
# Not closed: offered or under way.
IN_PROGRESS = (RouteStatus.AVAILABLE, *HELD)
# Statuses of an order that is neither delivered nor failed.
OPEN = (Status.PENDING, Status.ACCEPT, Status.COLLECTED)


@dataclass(frozen=True)
class State:
    """State of a delivery. `orders` holds the statuses of the drop-offs B, C, D, in this sequence."""

    delivery: Status
    route: RouteStatus
    orders: tuple[Status, ...]
    mode: Mode = Mode.DEFAULT


@dataclass(frozen=True)
class _Transition:
    """A row of the table: what the orders, the route and the delivery become.

    `order`: of the order that the trigger names for a trigger of `_OF_ONE_ORDER`, of every open order for others. None:
    the orders do not change. `route` None: computed from the orders by `_route_after_order`. `delivery` None: computed
    by `_aggregate`. Both are right from pickup on only; before, a row names the statuses, also those that stay.
    """

    order: Status | None
    route: RouteStatus | None
    delivery: Status | None


def new(*, orders: int, mode: Mode = Mode.DEFAULT) -> State:
    """State of a new delivery with this number of orders."""
    return State(Status.PENDING, RouteStatus.AVAILABLE, (Status.PENDING,) * orders, mode)


_OF_ONE_ORDER = (Trigger.DELIVER, Trigger.FAIL)

TABLE: dict[tuple[Trigger, RouteStatus], _Transition] = {
    # trigger and route before                           orders            route                  delivery
    (Trigger.ACCEPT, RouteStatus.AVAILABLE): _Transition(Status.ACCEPT, RouteStatus.ACCEPTED, Status.ACCEPT),
    (Trigger.RELEASE, RouteStatus.ACCEPTED): _Transition(Status.PENDING, RouteStatus.AVAILABLE, Status.PENDING),
    (Trigger.REASSIGN, RouteStatus.ACCEPTED): _Transition(None, RouteStatus.ACCEPTED, Status.ACCEPT),
    (Trigger.COLLECT, RouteStatus.ACCEPTED): _Transition(Status.COLLECTED, RouteStatus.COLLECTED, Status.COLLECTED),
    (Trigger.DELIVER, RouteStatus.COLLECTED): _Transition(Status.DELIVERED, None, None),
    (Trigger.FAIL, RouteStatus.COLLECTED): _Transition(Status.FAILED, None, None),
    (Trigger.RETURN, RouteStatus.RETURNING): _Transition(None, RouteStatus.FINISHED, None),
    (Trigger.CANCEL, RouteStatus.AVAILABLE): _Transition(Status.FAILED, RouteStatus.CANCELLED, Status.FAILED),
    (Trigger.CANCEL, RouteStatus.ACCEPTED): _Transition(Status.FAILED, RouteStatus.CANCELLED, Status.FAILED),
    (Trigger.CANCEL, RouteStatus.COLLECTED): _Transition(Status.FAILED, RouteStatus.RETURNING, Status.FAILED),
    (Trigger.CANCEL, RouteStatus.RETURNING): _Transition(None, RouteStatus.RETURNING, Status.FAILED),
    (Trigger.EXPIRE, RouteStatus.AVAILABLE): _Transition(Status.FAILED, RouteStatus.EXPIRED, Status.FAILED),
}


def allowed(route: RouteStatus) -> tuple[Trigger, ...]:
    """Triggers that the table has for a route in this status."""
    return tuple(trigger for trigger in Trigger if (trigger, route) in TABLE)


def move(state: State, trigger: Trigger, *, index: int | None = None) -> State:
    """State after `trigger`. DELIVER and FAIL need the `index` of an order: 0 for B, 1 for C, 2 for D.

    Raises MoveRefused when the table has no row for the trigger and the route's status, StopNotOpen when that order is
    delivered or failed already. A delivery that is FAILED stays FAILED.
    """
    row = TABLE.get((trigger, state.route))
    if row is None:
        raise _refusal(state, trigger)
    orders = state.orders if row.order is None else _orders_after(state.orders, trigger, row.order, index)
    route = row.route or _route_after_order(orders, state.mode)
    delivery = row.delivery or _aggregate(orders, route)
    if state.delivery is Status.FAILED:
        delivery = Status.FAILED  # reported to the integrator as final
    return replace(state, orders=orders, route=route, delivery=delivery)


def _refusal(state: State, trigger: Trigger) -> MoveRefused:
    # Expiry is not something that a caller can do instead.
    possible = ", ".join(name for name in allowed(state.route) if name is not Trigger.EXPIRE)
    if not possible:
        return MoveRefused(
            "Cannot %(trigger)s while the route is %(route)s: it is closed.", trigger=trigger, route=state.route
        )
    return MoveRefused(
        "Cannot %(trigger)s while the route is %(route)s. Possible now: %(possible)s.",
        trigger=trigger,
        route=state.route,
        possible=possible,
    )


def _orders_after(orders: tuple[Status, ...], trigger: Trigger, after: Status, index: int | None) -> tuple[Status, ...]:
    if trigger not in _OF_ONE_ORDER:
        return tuple(after if order in OPEN else order for order in orders)
    if index is None or orders[index] not in OPEN:
        raise StopNotOpen("This point is closed already; name a point that is still open.")
    return (*orders[:index], after, *orders[index + 1 :])


def _route_after_order(orders: Iterable[Status], mode: Mode) -> RouteStatus:
    """Status of the route after one of its orders was closed. A failed order or mode RETURN makes the driver return."""
    if any(order in OPEN for order in orders):
        return RouteStatus.COLLECTED
    if mode is Mode.RETURN or Status.FAILED in orders:
        return RouteStatus.RETURNING
    return RouteStatus.FINISHED


def _aggregate(orders: Iterable[Status], route: RouteStatus) -> Status:
    """Status of a delivery from its orders and its route, which is COLLECTED, RETURNING or FINISHED."""
    if route is RouteStatus.COLLECTED:
        return Status.COLLECTED
    if Status.DELIVERED not in orders:
        return Status.FAILED
    return Status.COLLECTED if route is RouteStatus.RETURNING else Status.DELIVERED
