"""Colours of the statuses in lists. Labels contain the status as text too, so no information is by colour alone."""

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
