"""Statuses of an order and the table of allowed changes. Pure.

Carriers miss scans, so an order may skip statuses (pending to delivered). It does not return to an earlier status,
except that a parcel that is out for delivery, or whose delivery failed, may be in transit again. As specified, an order
can be cancelled unless it is delivered or cancelled. What is reported may be reported once more, of another attempt,
place or moment.
"""

from datetime import timedelta
from enum import StrEnum

from integration.errors import AlreadyCancelled, AlreadyDelivered, MoveRefused


class Status(StrEnum):
    """Status of an order, and of each entry of its status log."""

    PENDING = "pending"
    COLLECTED = "collected"
    IN_TRANSIT = "in_transit"
    OUT_FOR_DELIVERY = "out_for_delivery"
    DELIVERED = "delivered"
    DELIVERY_FAILED = "delivery_failed"
    RETURNED = "returned"
    CANCELLED = "cancelled"


class Reason(StrEnum):
    """Why a parcel was not delivered, or came back. OTHER needs a text."""

    ABSENT = "ABSENT"
    REFUSED = "REFUSED"
    ADDRESS_NOT_FOUND = "ADDRESS_NOT_FOUND"
    ADDRESS_INCOMPLETE = "ADDRESS_INCOMPLETE"
    CLOSED = "CLOSED"
    DAMAGED = "DAMAGED"
    LOST = "LOST"
    AREA_AT_RISK = "AREA_AT_RISK"
    OTHER = "OTHER"


_S = Status

# The statuses that may have a reason.
WITH_REASON = (_S.DELIVERY_FAILED, _S.RETURNED)
# What carriers, and people who scan parcels, move orders to. Sellers make and cancel orders.
BY_CARRIER = tuple(status for status in Status if status not in (_S.PENDING, _S.CANCELLED))
# Of orders that have ended.
CLOSED = (_S.DELIVERED, _S.RETURNED, _S.CANCELLED)
# An order without an end, which many sellers never report, counts as ended after this time.
ENDS_AFTER = timedelta(days=90)

TABLE: dict[Status, tuple[Status, ...]] = {
    _S.PENDING: (_S.COLLECTED, _S.IN_TRANSIT, _S.OUT_FOR_DELIVERY, _S.DELIVERED, _S.CANCELLED),
    _S.COLLECTED: (
        _S.IN_TRANSIT, _S.OUT_FOR_DELIVERY, _S.DELIVERED, _S.DELIVERY_FAILED, _S.RETURNED, _S.CANCELLED,
    ),
    _S.IN_TRANSIT: (_S.OUT_FOR_DELIVERY, _S.DELIVERED, _S.DELIVERY_FAILED, _S.RETURNED, _S.CANCELLED),
    # A parcel that is not handed over goes back to a depot, and may go on to another one.
    _S.OUT_FOR_DELIVERY: (_S.IN_TRANSIT, _S.DELIVERED, _S.DELIVERY_FAILED, _S.RETURNED, _S.CANCELLED),
    _S.DELIVERY_FAILED: (_S.IN_TRANSIT, _S.OUT_FOR_DELIVERY, _S.DELIVERED, _S.RETURNED, _S.CANCELLED),
    _S.RETURNED: (_S.CANCELLED,),
    _S.DELIVERED: (),
    _S.CANCELLED: (),
}  # fmt: skip  # a table

# The change that comes next when nothing goes wrong.
USUAL: dict[Status, Status] = {
    _S.PENDING: _S.COLLECTED,
    _S.COLLECTED: _S.IN_TRANSIT,
    _S.IN_TRANSIT: _S.OUT_FOR_DELIVERY,
    _S.OUT_FOR_DELIVERY: _S.DELIVERED,
    _S.DELIVERY_FAILED: _S.OUT_FOR_DELIVERY,
}


def choices(current: Status) -> tuple[Status, ...]:
    """What a person may report of an order with this status: what may come next, and the same once more."""
    again = (current,) if current in BY_CARRIER and current not in CLOSED else ()
    return (*TABLE[current], *again)


def move(current: Status, target: Status) -> Status:
    """Return `target` if TABLE allows the change. Raises AlreadyDelivered, AlreadyCancelled or MoveRefused."""
    if target in TABLE[current]:
        return target
    if target is Status.CANCELLED:
        raise AlreadyDelivered if current is Status.DELIVERED else AlreadyCancelled
    possible = ", ".join(TABLE[current]) or "nenhum, o pedido está encerrado"
    raise MoveRefused(current=current.value, target=target.value, possible=possible)
