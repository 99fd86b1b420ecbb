"""Sending recorded webhook events again."""

import logging
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import Count, QuerySet

from delivery.errors import EndpointCannotSend
from delivery.models import AuditAction, AuditEntry, EventState, WebhookEvent, WebhookQueueItem
from delivery.webhooks import outbox, queue

_log = logging.getLogger(__name__)
# Events of one transaction. It locks their queue items, which changes of their deliveries wait for.
_BATCH = 5000


def replay(*, events: QuerySet[WebhookEvent], by: str, at: datetime) -> int:
    """Send these events again, with the same ids and bodies, those of one delivery in order. Returns how many.

    Events that wait for a retry are sent at once; events in flight are left out. Raises EndpointCannotSend when an
    endpoint has no URL, before anything is changed. Each batch of 5,000 is a transaction of its own, so an error leaves
    the batches before it replayed and in the audit trail. Raises RuntimeError inside a transaction.
    """
    if unaddressed := events.filter(endpoint__url="").select_related("endpoint__integrator").first():
        raise EndpointCannotSend(
            "The webhook endpoint of %(endpoint)s has no URL; set one first.", endpoint=unaddressed.endpoint
        )
    replayed = 0
    ids = list(events.order_by("pk").values_list("pk", flat=True))  # UUIDv7: in the order in which they were recorded
    for first in range(0, len(ids), _BATCH):
        replayed += _replay_batch(ids[first : first + _BATCH], by=by, at=at)
    _log.info("%s webhook events replayed by %s", replayed, by)
    return replayed


@transaction.atomic(durable=True)
def _replay_batch(ids: list[UUID], *, by: str, at: datetime) -> int:
    events = WebhookEvent.objects.filter(pk__in=ids)
    ended = list(
        events.exclude(state=EventState.PENDING).select_for_update().order_by("pk").values_list("pk", flat=True)
    )
    WebhookEvent.objects.filter(pk__in=ended).update(state=EventState.PENDING)
    queue.add_again(ended, due_at=at)
    # Locked in one order, because two replays of the same events could deadlock otherwise.
    waiting = WebhookQueueItem.objects.filter(event__in=ids, lease=None, due_at__gt=at).order_by("pk")
    locked = list(waiting.select_for_update().values_list("pk", flat=True))
    WebhookQueueItem.objects.filter(pk__in=locked).update(due_at=at)
    _record_in_audit_trail(events, by=by, at=at)
    outbox.wake_on_commit()
    return len(ended) + len(locked)


def _record_in_audit_trail(events: QuerySet[WebhookEvent], *, by: str, at: datetime) -> None:
    """One entry for each account and environment, with the number of events."""
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
