"""Colours of the statuses in lists. The word stands in the label too, so nothing hangs on the colour."""

from delivery.lifecycle import Status
from delivery.models import EventState

STATUS_COLOURS: dict[str, str] = {
    Status.PENDING: "warning",
    Status.ACCEPT: "info",
    Status.COLLECTED: "primary",
    Status.DELIVERED: "success",
    Status.FAILED: "danger",
}

EVENT_COLOURS: dict[str, str] = {
    EventState.PENDING: "warning",
    EventState.SENT: "success",
    EventState.DEAD: "danger",
    EventState.UNADDRESSED: "default",
}
