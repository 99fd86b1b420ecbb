"""What the simulated carrier of a test order does next, and how long it takes. No database, no clock.

The next step follows from the order's status and the outcome alone. Durations are in seconds at speed 1.
"""

from dataclasses import dataclass
from enum import StrEnum

from common.simulation import pace
from integration.lifecycle import Reason, Status

# The actor of its moves in status logs.
ACTOR = "simulated carrier"
# Stored, and answered by the API as it is.
FAILURE_REASON = "Falha simulada: ninguém recebeu o pedido."
_DEPOT = "Centro de distribuição simulado"


class Outcome(StrEnum):
    """How a simulated order ends."""

    DELIVERED = "delivered"
    FAIL = "fail"  # delivery_failed, and stays so
    RETURN = "return"  # delivery_failed, then returned
    LOST = "lost"  # stops in transit
    MANIFEST = "manifest"  # waits until its manifest is closed, and is then delivered


_MANUAL = "manual"
# Beginnings of an `orderId` that choose what happens.
PREFIXES = tuple(pace.prefix(name) for name in (*Outcome, _MANUAL))


@dataclass(frozen=True)
class Step:
    """The next status, the seconds until it is reached, and what is reported with it."""

    status: Status
    seconds: float
    code: str = ""
    reason: str = ""
    place: str = ""


_WAY = {
    Status.PENDING: Step(Status.COLLECTED, 15),
    Status.COLLECTED: Step(Status.IN_TRANSIT, 30, place=_DEPOT),
    Status.IN_TRANSIT: Step(Status.OUT_FOR_DELIVERY, 35, place=_DEPOT),
    Status.OUT_FOR_DELIVERY: Step(Status.DELIVERED, 40),
}
_FAILURE = Step(Status.DELIVERY_FAILED, 40, Reason.ABSENT, FAILURE_REASON)
_RETURN = Step(Status.RETURNED, 30, Reason.ABSENT, FAILURE_REASON, _DEPOT)


def outcome_of(order_id: str) -> Outcome | None:
    """Outcome that an `orderId` asks for by its prefix, such as `sim-fail-`.

    DELIVERED without such a prefix. None for `sim-manual-`: nothing is simulated.
    """
    if order_id.startswith(pace.prefix(_MANUAL)):
        return None
    asked = (outcome for outcome in Outcome if order_id.startswith(pace.prefix(outcome)))
    return next(asked, Outcome.DELIVERED)


def next_step(status: Status, outcome: Outcome) -> Step | None:
    """The next step of an order with this status. None when the carrier does nothing more, or waits for a manifest."""
    if outcome is Outcome.MANIFEST and status is Status.PENDING:
        return None
    if outcome is Outcome.LOST and status is Status.IN_TRANSIT:
        return None
    if status is Status.OUT_FOR_DELIVERY and outcome in (Outcome.FAIL, Outcome.RETURN):
        return _FAILURE
    if status is Status.DELIVERY_FAILED and outcome is Outcome.RETURN:
        return _RETURN
    return _WAY.get(status)
