"""Requests simulated deliveries and takes them on step by step, without waiting."""

from datetime import datetime, timedelta

from delivery.actions import deliveries
from delivery.lifecycle import Mode
from delivery.models import Delivery, Simulation, Token, WebhookEvent
from delivery.payload import Options, Place
from delivery.sandbox import simulated_driver
from tests.factories import BY, DROPOFFS, TariffFactory, TokenFactory, validated_payload

LONGEST = 1000  # steps
NO_OPTIONS = Options()


def request(
    external_id: str = "order-1",
    *,
    at: datetime,
    token: Token | None = None,
    speed: float = 1,
    stops: int = 2,
    mode: Mode = Mode.DEFAULT,
    options: Options = NO_OPTIONS,
) -> Delivery:
    """`options`: of each drop-off."""
    TariffFactory.create()
    names = [external_id, "order-2", "order-3"][:stops]
    places = [
        Place(point, {}, external_id=name, options=options) for name, point in zip(names, DROPOFFS[:stops], strict=True)
    ]
    return deliveries.request(
        token=token or TokenFactory.create(sandbox=True),
        payload=validated_payload(mode=mode, dropoffs=places),
        by=BY,
        at=at,
        simulation_speed=speed,
    )


def advance(*, until: datetime | None = None) -> None:
    """Advance all simulations at the moments at which they fall due, until none is due any more, or until a moment."""
    for _step in range(LONGEST):
        due_at = Simulation.objects.next_due()
        if due_at is None or (until is not None and due_at > until):
            return
        advance_all(at=due_at)
    raise AssertionError("the simulations do not end")


def advance_all(*, at: datetime) -> int:
    """Take every simulation that is due at this moment one step on. Returns how many steps were made."""
    return sum(iter(lambda: simulated_driver.advance_due(at=at), 0))


def history(delivery: Delivery) -> list[tuple[str, float]]:
    """Each change with the seconds since the request."""
    return [
        (f"{change.trigger} {change.point}".strip(), seconds(change.at - delivery.created_at))
        for change in delivery.transitions.all()
    ]


def seconds(duration: timedelta) -> float:
    return round(duration.total_seconds(), 2)


def statuses(delivery: Delivery) -> list[str]:
    """The statuses that the delivery's webhook events are named after, in order."""
    return list(WebhookEvent.objects.filter(delivery=delivery).order_by("sequence").values_list("name", flat=True))
