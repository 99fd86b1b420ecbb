"""Claiming and settling without a sender, for the tests of settlement."""

from datetime import timedelta
from typing import TypedDict
from uuid import uuid4

from django.utils import timezone

from common.webhooks import claims
from common.webhooks.http_client import Result
from common.webhooks.outbox import outbox_of
from common.webhooks.settlement import settle
from delivery.models import WebhookQueueItem
from delivery.webhooks.outbox import OUTBOX

NOW = timezone.now() + timedelta(hours=1)  # when all that these tests make is due


class Outcome(TypedDict, total=False):
    """Arguments of `Result`."""

    status_code: int
    error: str
    response_start: str
    milliseconds: int


OK: Outcome = {"status_code": 200}
REFUSED: Outcome = {"status_code": 500}
TIMEOUT: Outcome = {"error": "timeout"}


def claim(*, at, outbox=OUTBOX):
    return {claimed.event_id: claimed for claimed in claims.claim(outbox, lease=uuid4(), at=at, limit=100)}


def attempt(event, outcome: Outcome, *, at=None, also=()):
    """Settle one attempt at `event`. Of the other items, those of the events `also` succeed and the rest is left."""
    at = at or timezone.now()
    outbox = outbox_of(type(event))
    outbox.items.objects.update(due_at=at, lease=None)
    outbox.endpoints.objects.update(paused_until=None)
    claimed = claim(at=at, outbox=outbox)
    outcomes = [(claimed[other.pk], Result(**OK, at=at)) for other in also]
    settle(outbox, [*outcomes, (claimed[event.pk], Result(**outcome, at=at))], at=at)
    event.refresh_from_db()


def item_of(delivery):
    return WebhookQueueItem.objects.get(delivery=delivery, is_ordered=True)
