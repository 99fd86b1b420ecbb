"""The history of a delivery: each change with the webhook event that reported it."""

from dataclasses import dataclass
from datetime import date

from django.utils import timezone

from delivery.models import Delivery, Transition, WebhookEvent


@dataclass(frozen=True)
class Step:
    """One change. `event` is None only where its row was deleted by hand."""

    change: Transition
    event: WebhookEvent | None

    @property
    def day(self) -> date:
        """The day of the change in the service's time zone."""
        return timezone.localdate(self.change.at)


def of(delivery: Delivery) -> list[Step]:
    """Newest first. The nth change made the nth event: both are written in one transaction."""
    events = {event.sequence: event for event in delivery.events.select_related("queue_item")}
    changes = delivery.transitions.all()
    return [Step(change, events.get(number)) for number, change in enumerate(changes, start=1)][::-1]
