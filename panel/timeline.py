"""The history of a delivery: each change with the webhook event that reported it."""

from dataclasses import dataclass

from delivery.models import Delivery, Transition, WebhookEvent


@dataclass(frozen=True)
class Step:
    """One change. `event` is None only where its row was deleted by hand."""

    change: Transition
    event: WebhookEvent | None


def of(delivery: Delivery) -> list[Step]:
    """Newest first. The nth change made the nth event: both are written in one transaction."""
    events = {event.sequence: event for event in delivery.events.all()}
    changes = delivery.transitions.all()
    return [Step(change, events.get(number)) for number, change in enumerate(changes, start=1)][::-1]
