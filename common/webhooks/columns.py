"""What the admin and files show of the events of both areas. See `common.columns`."""

from django.utils.translation import gettext_lazy as _

from common.brazil.formats import moment
from common.columns import ADMIN, FILE, Code, Column, State
from common.webhooks.models import STATE_COLOURS, STATE_NAMES, Event


def state(event: Event) -> State:
    shown = event.shown_state
    return State(STATE_NAMES[shown], shown, STATE_COLOURS[shown])


def of_event(subject: Column) -> tuple[Column, ...]:
    """The columns of an area's events. A file has rows with their `last_attempt`, which may be None.

    `subject`: what an event is about, a delivery or an order.
    """
    return (
        Column("webhook-id", "webhook_id", Code, on=FILE | ADMIN),
        Column(_("Event"), "name", on=FILE),
        Column(_("Event"), "get_name_display", on=ADMIN),
        Column("webhook-sequence", "sequence", on=FILE | ADMIN),
        subject,
        Column(_("State"), state, on=FILE | ADMIN),
        Column(_("Made"), "created_at", moment, on=FILE | ADMIN),
        Column(_("Received"), "sent_at", moment, on=FILE | ADMIN),
        Column(_("Attempts"), "attempts_made", on=FILE | ADMIN),
        Column(_("Last attempt"), "last_attempt.at", moment, on=FILE),
        Column(_("Last answer"), "last_attempt.status_code", on=FILE),
        Column("ms", "last_attempt.milliseconds", on=FILE),
        Column(_("Error"), "last_attempt.error", on=FILE),
        Column(_("next attempt"), "next_attempt_at", moment, on=ADMIN),
        Column(_("endpoint"), "endpoint", on=ADMIN),
    )
