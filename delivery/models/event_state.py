"""States of webhook events: what is stored, and what pages show."""

from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _


class EventState(models.TextChoices):
    """Whether an event is still to be sent, and if not, why."""

    PENDING = "pending", _("Waiting")
    SENT = "sent", _("Received")
    DEAD = "dead", _("Failed, no more retries")
    UNADDRESSED = "unaddressed", _("No URL was set")


# A pending event that was tried and will be tried again. Pages show it apart from those that were not tried; it is
# derived and not stored, and `state` in the API remains `pending`.
FAILING = "failing"
# Of every state that a page shows, in the order of an event's life.
STATE_NAMES: dict[str, Any] = {
    EventState.PENDING.value: EventState.PENDING.label,
    FAILING: _("Failing"),
    EventState.SENT.value: EventState.SENT.label,
    EventState.DEAD.value: EventState.DEAD.label,
    EventState.UNADDRESSED.value: EventState.UNADDRESSED.label,
}
