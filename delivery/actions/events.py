"""Sending webhook events once more."""

import logging
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Count, QuerySet

from delivery.errors import EndpointCannotSend
from delivery.models import AuditAction, AuditEntry, EventState, WebhookEvent, WebhookQueueItem
from delivery.webhooks import outbox, queue

_log = logging.getLogger(__name__)
_BATCH = 5000


def replay(*, events: QuerySet[WebhookEvent], by: str, at: datetime) -> int:
    """Send these events again, with the same ids and bodies, those of one delivery in order. Returns how many.

    Events still waiting for a retry are tried at once. Raises EndpointCannotSend when an endpoint has no URL, before
    anything has happened. Many are taken in batches that commit one by one.
    """
    if unaddressed := events.filter(endpoint__url="").select_related("endpoint__integrator").first():
        raise EndpointCannotSend(
            "The webhook endpoint of %(endpoint)s has no URL; set one first.", endpoint=unaddressed.endpoint
        )
    replayed = 0
    _note(events, by=by, at=at)
    ids = list(events.order_by("pk").values_list("pk", flat=True))
    for first in range(0, len(ids), _BATCH):
        replayed += _replay(ids[first : first + _BATCH], at=at)
    _log.info("%s webhook events replayed by %s", replayed, by)
    return replayed


def _note(events: QuerySet[WebhookEvent], *, by: str, at: datetime) -> None:
    accounts = events.order_by().values_list("endpoint__integrator", "endpoint__environment").annotate(Count("pk"))
    AuditEntry.objects.bulk_create(
        AuditEntry(
            integrator_id=integrator,
            environment=environment,
            action=AuditAction.EVENTS_REPLAYED,
            subject=str(count),
            by=by,
            at=at,
        )
        for integrator, environment, count in accounts
    )


@transaction.atomic
def _replay(ids: list[UUID], *, at: datetime) -> int:
    """In the order of their ids, which is that of their making."""
    events = WebhookEvent.objects.filter(pk__in=ids)
    finished = list(
        events.exclude(state=EventState.PENDING).select_for_update().order_by("pk").values_list("pk", flat=True)
    )
    WebhookEvent.objects.filter(pk__in=finished).update(state=EventState.PENDING)
    queue.add_again(finished, due_at=at)
    # Locked in one order, so that two replays of the same events wait for each other instead of for ever.
    later = WebhookQueueItem.objects.filter(event__in=ids, lease=None, due_at__gt=at).order_by("pk").select_for_update()
    waiting = WebhookQueueItem.objects.filter(pk__in=[turn.pk for turn in later]).update(due_at=at)
    outbox.wake_on_commit()
    return len(finished) + waiting
