"""The queue of an outbox as those who record events see it: adding, making due, and how late it is.

Written in SQL, because each operation is one statement over many rows.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef
from django.db.models.functions import Greatest
from prometheus_client import Counter, Histogram

from common.observability.metrics import REGISTRY
from common.webhooks import breaker
from common.webhooks.models import Event
from common.webhooks.outbox import Outbox, outboxes

IN_FLIGHT_PER_ENDPOINT = 4
# Events older than this are sent by the schedule of retries alone, so that every event ends.
_BROUGHT_FORWARD_FOR = timedelta(days=3)
# Items are sent in the order of `due_at`. One that is due so long ago is sent before all others of its endpoint.
AHEAD_OF_OTHERS = timedelta(days=3650)

# What workers count when they settle. Here, because web processes show it.
ATTEMPTS = Counter(
    "rota_webhook_attempts", "Webhook requests, by class of status or of error", ["outcome"], registry=REGISTRY
)
ENDED = Counter(
    "rota_webhook_events_ended", "Webhook events that are not tried again: sent or dead", ["state"], registry=REGISTRY
)
SENT_AFTER = Histogram(
    "rota_webhook_sent_seconds",
    "From the change to the endpoint's answer, of events that the first attempt has sent",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300),
    registry=REGISTRY,
)

# Where the subject has an item for the endpoint, the new event waits behind that item's. The update that changes
# nothing locks the row, so that this transaction and a concurrent settlement of the item are serialized; otherwise the
# settlement could delete the item without seeing the new event.
_ADD = """
INSERT INTO {items} (event_id, {subject_id}, endpoint_id, is_ordered, due_at, tries, refusals)
VALUES {{rows}}
ON CONFLICT ({subject_id}, endpoint_id) WHERE is_ordered DO UPDATE SET {subject_id} = EXCLUDED.{subject_id}
"""
_ROW = "(%s, %s, %s, %s, %s, 0, 0)"
# One item for each subject and endpoint, for the first of its events; an existing item is locked, for the same reason
# as above. By the key of the subject, as whoever changes several subjects in one transaction does, so that neither
# waits for the other. Test events have none, and an item each.
_ADD_AGAIN = """
INSERT INTO {items} (event_id, {subject_id}, endpoint_id, is_ordered, due_at, tries, refusals)
SELECT DISTINCT ON (v.endpoint_id, v.{subject_id}, CASE WHEN v.{subject_id} IS NULL THEN v.id END)
       v.id, v.{subject_id}, v.endpoint_id, v.{subject_id} IS NOT NULL, %s, 0, 0
FROM {events} v
WHERE v.id = ANY(%s) AND NOT EXISTS (SELECT FROM {items} i WHERE i.event_id = v.id)
ORDER BY v.endpoint_id, v.{subject_id}, CASE WHEN v.{subject_id} IS NULL THEN v.id END, v.sequence
ON CONFLICT ({subject_id}, endpoint_id) WHERE is_ordered DO UPDATE SET {subject_id} = EXCLUDED.{subject_id}
"""

# Endpoints that are off, paused, failing or busy with as many requests as they may have are left out: their events wait
# for them and not for a worker. `queued` is a loose index scan, as in `claims`. A test event is due long before it was
# recorded.
_OLDEST = """
WITH RECURSIVE queued AS (
    (SELECT endpoint_id FROM {items} ORDER BY endpoint_id LIMIT 1)
    UNION ALL
    SELECT (SELECT i.endpoint_id FROM {items} i WHERE i.endpoint_id > q.endpoint_id
            ORDER BY i.endpoint_id LIMIT 1)
    FROM queued q WHERE q.endpoint_id IS NOT NULL
)
SELECT EXTRACT(EPOCH FROM %(at)s - min(greatest(first.due_at, first.created_at, e.paused_until)))::float
FROM queued q
JOIN {endpoints} e ON e.id = q.endpoint_id
CROSS JOIN LATERAL (
    SELECT i.due_at, v.created_at
    FROM {items} i JOIN {events} v ON v.id = i.event_id
    WHERE i.endpoint_id = e.id AND i.due_at <= %(at)s ORDER BY i.due_at LIMIT 1
) first
WHERE e.enabled AND e.url <> '' AND e.failures < %(opens_after)s
  AND (e.paused_until IS NULL OR e.paused_until <= %(at)s)
  AND (SELECT count(*) FROM {items} leased
       WHERE leased.endpoint_id = e.id AND leased.lease IS NOT NULL AND leased.due_at > %(at)s) < %(in_flight)s
"""


def add(outbox: Outbox, *events: Event, due_at: datetime) -> None:
    """Queue events of one change that this transaction has written, at most one for each endpoint.

    If their subject has an item for an endpoint already, none is added: that item moves on to the event later.
    """
    parameters: list[Any] = []
    # In the order in which replays lock items, so that neither waits for the other.
    for event in sorted(events, key=attrgetter("endpoint_id")):
        subject = event.subject_id
        parameters += [event.pk, subject, event.endpoint_id, subject is not None, due_at]
    with connection.cursor() as cursor:
        cursor.execute(outbox.sql(_ADD).replace("{rows}", ", ".join([_ROW] * len(events))), parameters)


def add_again(outbox: Outbox, events: Sequence[UUID], *, due_at: datetime) -> None:
    """Queue events that had ended and that this transaction has made pending; those of one subject in order."""
    with connection.cursor() as cursor:
        cursor.execute(outbox.sql(_ADD_AGAIN), [due_at, list(events)])


def bring_forward(outbox: Outbox, *, endpoint_id: int, at: datetime, poisoned_too: bool = False) -> int:
    """Make the endpoint's items that wait for a retry due now. Returns how many.

    Poisoned events keep their time unless `poisoned_too`. The retry does not count towards the schedule, which an
    endpoint that recovers and fails repeatedly would use up within minutes otherwise.
    """
    items: Any = outbox.items._default_manager
    recent = outbox.events._default_manager.filter(pk=OuterRef("event"), created_at__gt=at - _BROUGHT_FORWARD_FOR)
    # Not `event__created_at__gt`: for a join Django chooses the rows in a subquery, which PostgreSQL does not evaluate
    # again for a row that it waited for, so an item that was claimed meanwhile would be made due and sent twice.
    waiting = items.filter(Exists(recent), endpoint=endpoint_id, lease=None, due_at__gt=at)
    if not poisoned_too:
        waiting = waiting.filter(is_ordered=True)
    with transaction.atomic():
        # In the sequence in which replays lock items, so that neither waits for the other.
        locked = list(waiting.order_by("pk").select_for_update().values_list("pk", flat=True))
        count: int = items.filter(pk__in=locked).update(due_at=at, tries=Greatest(F("tries") - 1, 0))
    return count


def oldest_due_seconds(outbox: Outbox, *, at: datetime) -> float:
    """For how long the event that is due first has waited for a worker; 0 if none waits."""
    parameters: dict[str, Any] = {"at": at, "opens_after": breaker.OPENS_AFTER, "in_flight": IN_FLIGHT_PER_ENDPOINT}
    with connection.cursor() as cursor:
        cursor.execute(outbox.sql(_OLDEST), parameters)
        (seconds,) = cursor.fetchone()
    return max(seconds or 0.0, 0.0)


def oldest_due_of_all_seconds(*, at: datetime) -> float:
    """As `oldest_due_seconds`, of all areas together."""
    return max(oldest_due_seconds(outbox, at=at) for outbox in outboxes())
