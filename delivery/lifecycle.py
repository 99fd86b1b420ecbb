"""Statuses of an immediate delivery and the one table by which they change. Read this first.

A delivery is one route with one to three drop-offs. Its state is three things: the delivery's status (what an
integrator sees as the aggregate), the route's status (where the driver stands) and one status for each drop-off,
called an order in the API. `TABLE` says for each trigger and route status what all three become; a pair that is
not in the table is refused. Pure: no database, no clock.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from delivery.errors import MoveRefused, StopNotOpen


class Status(StrEnum):
    """Status of a delivery, and of each of its orders. Also the names of the webhook events."""

    PENDING = "PENDING"
    ACCEPT = "ACCEPT"
    COLLECTED = "COLLECTED"
    DELIVERED = "DELIVERED"
    FAILED = "FAILED"


class RouteStatus(StrEnum):
    """Where the route stands between the offer and its end."""

    AVAILABLE = "AVAILABLE"  # offered to drivers
    ACCEPTED = "ACCEPTED"  # one driver holds it and is on the way to A
    COLLECTED = "COLLECTED"  # the goods are with the driver
    RETURNING = "RETURNING"  # no order is open any more and goods go back to A
    FINISHED = "FINISHED"
    CANCELLED = "CANCELLED"  # before pickup
    EXPIRED = "EXPIRED"  # nobody took the offer


class Trigger(StrEnum):
    """What moves a delivery."""

    ACCEPT = "accept"
    COLLECT = "collect"
    DELIVER = "deliver"
    FAIL = "fail"
    RETURN = "return"
    CANCEL = "cancel"
    EXPIRE = "expire"


class Mode(StrEnum):
    """`deliveryMode` of a request. RETURN: the driver comes back to A after the last drop-off."""

    DEFAULT = "DEFAULT"
    RETURN = "RETURN"


# A driver holds the route in these, one route at a time.
HELD = (RouteStatus.ACCEPTED, RouteStatus.COLLECTED, RouteStatus.RETURNING)
CLOSED = (RouteStatus.FINISHED, RouteStatus.CANCELLED, RouteStatus.EXPIRED)
# Not closed: offered or under way.
IN_PROGRESS = (RouteStatus.AVAILABLE, *HELD)
# An order is open until it is delivered or failed.
OPEN = (Status.PENDING, Status.ACCEPT, Status.COLLECTED)


@dataclass(frozen=True)
class State:
    """All that the lifecycle knows of a delivery. `orders` in the order of the drop-offs B, C, D."""

    delivery: Status
    route: RouteStatus
    orders: tuple[Status, ...]
    mode: Mode = Mode.DEFAULT


class _Orders(StrEnum):
    """Which orders a move changes."""

    OPEN = "every open order"
    ONE = "the order at the driver's point"
    NONE = "no order"


@dataclass(frozen=True)
class _Move:
    """A row of the table: what the orders, the route and the delivery become.

    `route` None: the route settles when no order is open any more.
    `delivery` None: the delivery follows its orders. A FAILED one stays FAILED.
    """

    which: _Orders
    order: Status | None
    route: RouteStatus | None
    delivery: Status | None


def new(*, orders: int, mode: Mode = Mode.DEFAULT) -> State:
    """State of a delivery at its request."""
    return State(Status.PENDING, RouteStatus.AVAILABLE, (Status.PENDING,) * orders, mode)


TABLE: dict[tuple[Trigger, RouteStatus], _Move] = {
    # trigger and route before                    which orders  become            route             delivery
    (Trigger.ACCEPT, RouteStatus.AVAILABLE): _Move(_Orders.OPEN, Status.ACCEPT, RouteStatus.ACCEPTED, Status.ACCEPT),
    (Trigger.COLLECT, RouteStatus.ACCEPTED): _Move(
        _Orders.OPEN, Status.COLLECTED, RouteStatus.COLLECTED, Status.COLLECTED
    ),
    (Trigger.DELIVER, RouteStatus.COLLECTED): _Move(_Orders.ONE, Status.DELIVERED, None, None),
    (Trigger.FAIL, RouteStatus.COLLECTED): _Move(_Orders.ONE, Status.FAILED, None, None),
    (Trigger.RETURN, RouteStatus.RETURNING): _Move(_Orders.NONE, None, RouteStatus.FINISHED, None),
    (Trigger.CANCEL, RouteStatus.AVAILABLE): _Move(_Orders.OPEN, Status.FAILED, RouteStatus.CANCELLED, Status.FAILED),
    (Trigger.CANCEL, RouteStatus.ACCEPTED): _Move(_Orders.OPEN, Status.FAILED, RouteStatus.CANCELLED, Status.FAILED),
    (Trigger.CANCEL, RouteStatus.COLLECTED): _Move(_Orders.OPEN, Status.FAILED, RouteStatus.RETURNING, Status.FAILED),
    (Trigger.CANCEL, RouteStatus.RETURNING): _Move(_Orders.NONE, None, RouteStatus.RETURNING, Status.FAILED),
    (Trigger.EXPIRE, RouteStatus.AVAILABLE): _Move(_Orders.OPEN, Status.FAILED, RouteStatus.EXPIRED, Status.FAILED),
}


def allowed(route: RouteStatus) -> tuple[Trigger, ...]:
    """Triggers that the table has for a route in this status."""
    return tuple(trigger for trigger in Trigger if (trigger, route) in TABLE)


def move(state: State, trigger: Trigger, *, index: int | None = None) -> State:
    """State after `trigger`. `index` (0 for B, 1 for C, 2 for D) names the order of a DELIVER or FAIL.

    Raises MoveRefused when the table has no such row, StopNotOpen when that order is closed already.
    """
    row = TABLE.get((trigger, state.route))
    if row is None:
        raise _refusal(state, trigger)
    orders = _moved_orders(state.orders, row, index)
    route = row.route or _settled_route(orders, state.mode)
    delivery = row.delivery or _aggregate(orders, route)
    if state.delivery is Status.FAILED:
        delivery = Status.FAILED  # final: the integrator was told so, whatever the driver brings back
    return replace(state, orders=orders, route=route, delivery=delivery)


def _refusal(state: State, trigger: Trigger) -> MoveRefused:
    # The clock alone expires an offer, so nobody is told to.
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


def _moved_orders(orders: tuple[Status, ...], row: _Move, index: int | None) -> tuple[Status, ...]:
    if row.which is _Orders.NONE or row.order is None:
        return orders
    if row.which is _Orders.OPEN:
        return tuple(row.order if order in OPEN else order for order in orders)
    if index is None or orders[index] not in OPEN:
        raise StopNotOpen("This point is closed already; name a point that is still open.")
    return (*orders[:index], row.order, *orders[index + 1 :])


def _settled_route(orders: Iterable[Status], mode: Mode) -> RouteStatus:
    """Where the route stands after an order was closed: goods of a failed order, or mode RETURN, lead back to A."""
    if any(order in OPEN for order in orders):
        return RouteStatus.COLLECTED
    if mode is Mode.RETURN or Status.FAILED in orders:
        return RouteStatus.RETURNING
    return RouteStatus.FINISHED


def _aggregate(orders: Iterable[Status], route: RouteStatus) -> Status:
    """The delivery's status as its orders and route imply it after pickup."""
    if route is RouteStatus.COLLECTED:
        return Status.COLLECTED
    if Status.DELIVERED not in orders:
        return Status.FAILED
    return Status.COLLECTED if route is RouteStatus.RETURNING else Status.DELIVERED
