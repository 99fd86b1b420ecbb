"""Statuses of an order and the one table by which they change. Read this first.

Carriers lose scans, so an order may skip forward (pending to delivered); it never goes back to what is certainly past.
Cancelling is possible until the order is delivered or cancelled, as the specification says. Pure.
"""

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


_S = Status

TABLE: dict[Status, tuple[Status, ...]] = {
    _S.PENDING: (_S.COLLECTED, _S.IN_TRANSIT, _S.OUT_FOR_DELIVERY, _S.DELIVERED, _S.CANCELLED),
    _S.COLLECTED: (
        _S.IN_TRANSIT, _S.OUT_FOR_DELIVERY, _S.DELIVERED, _S.DELIVERY_FAILED, _S.RETURNED, _S.CANCELLED,
    ),
    _S.IN_TRANSIT: (_S.OUT_FOR_DELIVERY, _S.DELIVERED, _S.DELIVERY_FAILED, _S.RETURNED, _S.CANCELLED),
    # Back on the road between two depots is no step back.
    _S.OUT_FOR_DELIVERY: (_S.IN_TRANSIT, _S.DELIVERED, _S.DELIVERY_FAILED, _S.RETURNED, _S.CANCELLED),
    _S.DELIVERY_FAILED: (_S.IN_TRANSIT, _S.OUT_FOR_DELIVERY, _S.DELIVERED, _S.RETURNED, _S.CANCELLED),
    _S.RETURNED: (_S.CANCELLED,),
    _S.DELIVERED: (),
    _S.CANCELLED: (),
}  # fmt: skip  # a table reads as one


def move(current: Status, target: Status) -> Status:
    """`target`, when the table leads there from `current`. Raises MoveRefused, for a cancellation the reason why."""
    if target in TABLE[current]:
        return target
    if target is Status.CANCELLED:
        raise AlreadyDelivered if current is Status.DELIVERED else AlreadyCancelled
    possible = ", ".join(TABLE[current]) or "nenhum, o pedido está encerrado"
    raise MoveRefused(f"De {current} não se passa a {target}. Possíveis agora: {possible}.")
