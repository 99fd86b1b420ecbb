"""Statuses of an immediate delivery and the one table by which they change. Read this first.

A delivery is one route with one to three stops beside A. Its state consists of the delivery's status (the aggregate
that an integrator sees), the route's status and one status for each stop, which the API calls an order. `TABLE` gives
for each mode, trigger and route status what all three become; what is not in the table is refused. No database, no
clock.

Outward modes bring goods from A to the stops, REVERSE brings them from the stops to A.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from delivery.errors import MoveRefused, NothingToDecide, StopNotOpen


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
    """Status of a route. In the specification's bodies SCHEDULED is AVAILABLE."""

    SCHEDULED = "SCHEDULED"  # not offered yet, because the goods are ready later
    AVAILABLE = "AVAILABLE"  # offered to drivers
    ACCEPTED = "ACCEPTED"  # a driver holds it and has not collected the goods at A
    COLLECTED = "COLLECTED"  # the driver has the goods; in mode REVERSE some of them
    RETURNING = "RETURNING"  # no stop is left, and the driver returns to A
    FINISHED = "FINISHED"
    CANCELLED = "CANCELLED"  # cancelled before pickup
    EXPIRED = "EXPIRED"  # not accepted before the deadline of the offer


class Trigger(StrEnum):
    """Cause of a transition."""

    OFFER = "offer"  # a scheduled route is offered to drivers
    ACCEPT = "accept"
    RELEASE = "release"  # the driver gives the route back before pickup, and it is offered again
    REASSIGN = "reassign"  # another driver takes the route over before pickup
    COLLECT = "collect"  # at A; in mode REVERSE at one stop
    DELIVER = "deliver"
    ATTEMPT = "attempt"  # a stop failed for the first time, and is tried again after the others
    FAIL = "fail"  # a stop failed for good
    RECALL = "recall"  # the shop or a dispatcher wants no second attempt at a stop
    RETURN = "return"
    CANCEL = "cancel"
    GOODS_OUT = "goods_out"  # a collection that was made before the cancellation and is sent after it
    CHARGE = "charge"  # a dispatcher charges such a cancellation as one after pickup
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


class OnFailure(StrEnum):
    """`onFailure` of a drop-off: what a failure leads to. `delivery.words.POLICIES` names them."""

    RETURN = "RETURN"  # the goods go back to A
    RETRY = "RETRY"  # the stop is tried once more after the others; the second failure is as with RETURN
    LEAVE = "LEAVE"  # the driver may leave the goods at the door, with a photo; a failure is as with RETURN


class Ending(StrEnum):
    """How a delivery ended."""

    DELIVERED = "delivered"  # at every stop
    NOT_DELIVERED = "not_delivered"  # not at every stop, and not because of a cancellation
    CANCELLED = "cancelled"
    EXPIRED = "expired"  # no driver took it


class Mode(StrEnum):
    """`deliveryMode` of a request.

    RETURN: the driver returns to A after the last drop-off. REVERSE: the driver collects at the stops and brings
    everything to A.
    """

    DEFAULT = "DEFAULT"
    RETURN = "RETURN"
    REVERSE = "REVERSE"


# Statuses in which a driver holds the route. A driver holds one at a time.
HELD = (RouteStatus.ACCEPTED, RouteStatus.COLLECTED, RouteStatus.RETURNING)
CLOSED = (RouteStatus.FINISHED, RouteStatus.CANCELLED, RouteStatus.EXPIRED)
# Offered or under way. A scheduled route is neither in progress nor closed.
IN_PROGRESS = (RouteStatus.AVAILABLE, *HELD)
# Statuses in which no driver has accepted the route.
UNTAKEN = (RouteStatus.SCHEDULED, RouteStatus.AVAILABLE)
# Statuses of an order that is neither delivered nor failed.
OPEN = (Status.PENDING, Status.ACCEPT, Status.COLLECTED)
# Statuses of an order to whose stop the driver has still to go. In mode REVERSE what is collected is on the way to A.
AHEAD: Mapping[Mode, tuple[Status, ...]] = {
    Mode.DEFAULT: OPEN,
    Mode.RETURN: OPEN,
    Mode.REVERSE: (Status.PENDING, Status.ACCEPT),
}


@dataclass(frozen=True)
class State:
    """State of a delivery. `orders` holds the statuses of the stops B, C, D, in this sequence.

    `tried`: the indices of stops that failed once and were put behind the others, in the sequence of their failures.
    """

    delivery: Status
    route: RouteStatus
    orders: tuple[Status, ...]
    mode: Mode = Mode.DEFAULT
    tried: tuple[int, ...] = ()

    @property
    def ahead(self) -> tuple[int, ...]:
        """Indices of the stops to which the driver has still to go, in the sequence in which that happens."""
        left = [index for index, order in enumerate(self.orders) if order in AHEAD[self.mode]]
        return (*(i for i in left if i not in self.tried), *(i for i in self.tried if i in left))


@dataclass(frozen=True)
class All:
    """A row of the table that names what all open orders, the route and the delivery become. Order None: no change.

    `delivery` None: computed by `_aggregate`.
    """

    order: Status | None
    route: RouteStatus
    delivery: Status | None


@dataclass(frozen=True)
class One:
    """A row of the table about the order of one stop, which the trigger names. Route and delivery are computed."""

    order: Status


def new(*, orders: int, mode: Mode = Mode.DEFAULT, is_scheduled: bool = False) -> State:
    """State of a new delivery with this number of orders, which is offered at once or scheduled."""
    route = RouteStatus.SCHEDULED if is_scheduled else RouteStatus.AVAILABLE
    return State(Status.PENDING, route, (Status.PENDING,) * orders, mode)


_Rows = dict[tuple[Trigger, RouteStatus], All | One]
_OF_ALL_MODES: _Rows = {
    # trigger and route before                        open orders      route                  delivery
    (Trigger.OFFER, RouteStatus.SCHEDULED): All(None, RouteStatus.AVAILABLE, Status.PENDING),
    (Trigger.ACCEPT, RouteStatus.AVAILABLE): All(Status.ACCEPT, RouteStatus.ACCEPTED, Status.ACCEPT),
    (Trigger.RELEASE, RouteStatus.ACCEPTED): All(Status.PENDING, RouteStatus.AVAILABLE, Status.PENDING),
    (Trigger.REASSIGN, RouteStatus.ACCEPTED): All(None, RouteStatus.ACCEPTED, Status.ACCEPT),
    (Trigger.FAIL, RouteStatus.COLLECTED): One(Status.FAILED),
    (Trigger.CANCEL, RouteStatus.SCHEDULED): All(Status.FAILED, RouteStatus.CANCELLED, Status.FAILED),
    (Trigger.CANCEL, RouteStatus.AVAILABLE): All(Status.FAILED, RouteStatus.CANCELLED, Status.FAILED),
    (Trigger.CANCEL, RouteStatus.ACCEPTED): All(Status.FAILED, RouteStatus.CANCELLED, Status.FAILED),
    (Trigger.CANCEL, RouteStatus.COLLECTED): All(Status.FAILED, RouteStatus.RETURNING, Status.FAILED),
    (Trigger.CANCEL, RouteStatus.RETURNING): All(Status.FAILED, RouteStatus.RETURNING, Status.FAILED),
    (Trigger.GOODS_OUT, RouteStatus.CANCELLED): All(None, RouteStatus.RETURNING, Status.FAILED),
    (Trigger.CHARGE, RouteStatus.RETURNING): All(None, RouteStatus.RETURNING, None),
    (Trigger.EXPIRE, RouteStatus.AVAILABLE): All(Status.FAILED, RouteStatus.EXPIRED, Status.FAILED),
}
_OUTWARD: _Rows = _OF_ALL_MODES | {
    (Trigger.COLLECT, RouteStatus.ACCEPTED): All(Status.COLLECTED, RouteStatus.COLLECTED, Status.COLLECTED),
    (Trigger.DELIVER, RouteStatus.COLLECTED): One(Status.DELIVERED),
    (Trigger.ATTEMPT, RouteStatus.COLLECTED): One(Status.COLLECTED),
    (Trigger.RECALL, RouteStatus.COLLECTED): One(Status.FAILED),
    (Trigger.RETURN, RouteStatus.RETURNING): All(None, RouteStatus.FINISHED, None),
}
_REVERSE: _Rows = _OF_ALL_MODES | {
    (Trigger.COLLECT, RouteStatus.ACCEPTED): One(Status.COLLECTED),
    (Trigger.COLLECT, RouteStatus.COLLECTED): One(Status.COLLECTED),
    (Trigger.FAIL, RouteStatus.ACCEPTED): One(Status.FAILED),
    (Trigger.GOODS_OUT, RouteStatus.RETURNING): All(None, RouteStatus.RETURNING, None),
    (Trigger.RETURN, RouteStatus.RETURNING): All(Status.DELIVERED, RouteStatus.FINISHED, None),
}
TABLE: Mapping[Mode, _Rows] = {Mode.DEFAULT: _OUTWARD, Mode.RETURN: _OUTWARD, Mode.REVERSE: _REVERSE}
# What nobody asks for as such: time, the policy or a collection that is sent late leads to it.
IMPLIED = (Trigger.EXPIRE, Trigger.ATTEMPT, Trigger.GOODS_OUT)
# After which the driver has goods.
COLLECTIONS = (Trigger.COLLECT, Trigger.GOODS_OUT)
# What changes nothing that the specification's bodies show, and so is no event.
WITHOUT_EVENT = (Trigger.OFFER,)


def allowed(route: RouteStatus, mode: Mode) -> tuple[Trigger, ...]:
    """Triggers that the table has for a route in this status and mode."""
    return tuple(trigger for trigger in Trigger if (trigger, route) in TABLE[mode])


def possible(state: State) -> tuple[Trigger, ...]:
    """Triggers that can be asked for in this state, at one of the stops at least.

    Without CHARGE, which depends on the cancellation: see `Delivery.fee_after_pickup`.
    """
    is_tried = any(index in state.tried for index in state.ahead)
    out = (*IMPLIED, Trigger.CHARGE) if is_tried else (*IMPLIED, Trigger.CHARGE, Trigger.RECALL)
    return tuple(trigger for trigger in allowed(state.route, state.mode) if trigger not in out)


def of_failure(policy: OnFailure, *, is_second: bool) -> Trigger:
    """The trigger to which a failure at a stop leads."""
    return Trigger.ATTEMPT if policy is OnFailure.RETRY and not is_second else Trigger.FAIL


def move(state: State, trigger: Trigger, *, index: int | None = None) -> State:
    """State after `trigger`. A row `One` needs the `index` of an order: 0 for B, 1 for C, 2 for D.

    Raises MoveRefused when the table has no row for the trigger and the route's status, StopNotOpen when the driver has
    been at that order's stop, NothingToDecide for a second ATTEMPT or a RECALL without a first one. A delivery that is
    FAILED stays FAILED.
    """
    row = TABLE[state.mode].get((trigger, state.route))
    if row is None:
        raise _refusal(state, trigger)
    if isinstance(row, One):
        after = _after_one(state, trigger, row.order, index)
    else:
        orders = tuple(row.order if row.order and order in OPEN else order for order in state.orders)
        after = replace(state, orders=orders, route=row.route)
        after = replace(after, delivery=row.delivery or _aggregate(after))
    if state.delivery is Status.FAILED:
        return replace(after, delivery=Status.FAILED)  # told the integrator as final
    return after


def _refusal(state: State, trigger: Trigger) -> MoveRefused:
    names = ", ".join(possible(state))
    if not names:
        return MoveRefused(
            "Cannot %(trigger)s while the route is %(route)s: it is closed.",
            trigger=trigger,
            route=state.route,
            mode=state.mode,
        )
    return MoveRefused(
        "Cannot %(trigger)s while the route is %(route)s. Possible now: %(possible)s.",
        trigger=trigger,
        route=state.route,
        mode=state.mode,
        possible=names,
    )


def _after_one(state: State, trigger: Trigger, order: Status, index: int | None) -> State:
    if index is None or index not in state.ahead:
        raise StopNotOpen("This point is closed already; name a point that is still open.")
    if trigger in (Trigger.ATTEMPT, Trigger.RECALL) and (index in state.tried) is not (trigger is Trigger.RECALL):
        raise NothingToDecide("No second attempt is open at this point.")
    tried = (*state.tried, index) if trigger is Trigger.ATTEMPT else state.tried
    orders = (*state.orders[:index], order, *state.orders[index + 1 :])
    after = replace(state, orders=orders, tried=tried)
    after = replace(after, route=_route_after_order(after))
    return replace(after, delivery=_aggregate(after))


def _route_after_order(state: State) -> RouteStatus:
    """Status of the route after the driver was at one of its stops.

    A failed order or mode RETURN makes the driver return to A, in mode REVERSE what was collected.
    """
    if state.mode is Mode.REVERSE:
        has_goods = Status.COLLECTED in state.orders
        if state.ahead:
            return RouteStatus.COLLECTED if has_goods else RouteStatus.ACCEPTED
        return RouteStatus.RETURNING if has_goods else RouteStatus.FINISHED
    if state.ahead:
        return RouteStatus.COLLECTED
    if state.mode is Mode.RETURN or Status.FAILED in state.orders:
        return RouteStatus.RETURNING
    return RouteStatus.FINISHED


def _aggregate(state: State) -> Status:
    """Status of a delivery from its orders and its route, which a driver holds or has finished."""
    if state.route is RouteStatus.ACCEPTED:
        return Status.ACCEPT
    if state.route is RouteStatus.FINISHED:
        return Status.DELIVERED if Status.DELIVERED in state.orders else Status.FAILED
    return Status.COLLECTED if {Status.DELIVERED, Status.COLLECTED}.intersection(state.orders) else Status.FAILED
