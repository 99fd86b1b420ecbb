"""The queue in PostgreSQL: adding events, claiming items under a lease. See `delivery.models.WebhookQueueItem`.

Written in SQL, because each operation is one statement over many rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import Exists, F, OuterRef
from django.db.models.functions import Greatest

from common.postgresql import prepared
from common.webhooks import breaker
from delivery.models import WebhookEvent, WebhookQueueItem

# When it ends, other workers may claim the item. The sender renews it until the outcome of the request is written.
LEASE = timedelta(seconds=15)
# How long a statement of a worker waits for a lock. A worker that waits holds locks itself, which stop web requests;
# and the server goes on waiting for a worker that was killed. The statement is repeated later.
LOCK_TIMEOUT = timedelta(seconds=2)
IN_FLIGHT_PER_ENDPOINT = 4
# Events older than this are sent by the schedule of retries alone, so that every event ends.
_BROUGHT_FORWARD_FOR = timedelta(days=3)
# Items are sent in the order of `due_at`. One that is due so long ago is sent before all others of its endpoint.
AHEAD_OF_OTHERS = timedelta(days=3650)
# The key of an advisory lock. Claims are serialized, so that each sees what the others have in flight.
_CLAIM_LOCK = 5_201_964


@dataclass(frozen=True)
class ClaimedItem:
    """A queue item that this process may send, with its event. `token_id` is the token that requested the delivery.

    The fields are the columns that `_CLAIM` returns, in the same order.
    """

    item_id: int
    lease: UUID
    event_id: UUID
    endpoint_id: int
    token_id: UUID | None
    sequence: int
    body: str
    is_test: bool
    trace_context: str = ""

    @property
    def key(self) -> "LeaseKey":
        return self.item_id, self.lease


# The id of an item and the lease under which it was claimed.
LeaseKey = tuple[int, UUID]

# Where the delivery has an item, the new event waits behind that item's. The update that changes nothing locks the row,
# so that this transaction and a concurrent settlement of the item are serialized; otherwise the settlement could delete
# the item without seeing the new event.
_ADD = """
INSERT INTO delivery_webhookqueueitem (event_id, delivery_id, endpoint_id, is_ordered, due_at, tries, refusals)
VALUES (%s, %s, %s, %s, %s, 0, 0)
ON CONFLICT (delivery_id) WHERE is_ordered DO UPDATE SET delivery_id = EXCLUDED.delivery_id
"""
# One item for each delivery, for the first of its events; an existing item is locked, for the same reason as above.
_ADD_AGAIN = """
INSERT INTO delivery_webhookqueueitem (event_id, delivery_id, endpoint_id, is_ordered, due_at, tries, refusals)
SELECT DISTINCT ON (coalesce(v.delivery_id, v.id))
       v.id, v.delivery_id, v.endpoint_id, v.delivery_id IS NOT NULL, %s, 0, 0
FROM delivery_webhookevent v
WHERE v.id = ANY(%s) AND NOT EXISTS (SELECT FROM delivery_webhookqueueitem i WHERE i.event_id = v.id)
ORDER BY coalesce(v.delivery_id, v.id), v.sequence
ON CONFLICT (delivery_id) WHERE is_ordered DO UPDATE SET delivery_id = EXCLUDED.delivery_id
"""

# TRUE: until the end of the transaction. The other kinds of joins may read all of the queue, for a few of its rows.
_SET_UP = """
SELECT set_config('lock_timeout', %s, TRUE),
       set_config('enable_hashjoin', 'off', TRUE), set_config('enable_mergejoin', 'off', TRUE)
"""
_SERIALIZE_CLAIMS = "SELECT pg_advisory_xact_lock(%s)"

# Its snapshot is taken when the lock above is held, so it sees every earlier claim. `queued` is a loose index scan over
# endpoint_id, so a long backlog of one endpoint does not slow down claims of others.
_CLAIM = """
WITH RECURSIVE queued AS (
    (SELECT endpoint_id FROM delivery_webhookqueueitem ORDER BY endpoint_id LIMIT 1)
    UNION ALL
    SELECT (SELECT i.endpoint_id FROM delivery_webhookqueueitem i WHERE i.endpoint_id > q.endpoint_id
            ORDER BY i.endpoint_id LIMIT 1)
    FROM queued q WHERE q.endpoint_id IS NOT NULL
), ready AS (
    SELECT e.id, first.due_at,
           CASE WHEN e.failures >= %(opens_after)s THEN 1 ELSE %(in_flight)s END
           - (SELECT count(*) FROM delivery_webhookqueueitem leased
              WHERE leased.endpoint_id = e.id AND leased.lease IS NOT NULL AND leased.due_at > %(at)s) AS free
    FROM queued q
    JOIN delivery_webhookendpoint e ON e.id = q.endpoint_id
    CROSS JOIN LATERAL (
        SELECT due_at FROM delivery_webhookqueueitem
        WHERE endpoint_id = e.id AND due_at <= %(at)s ORDER BY due_at LIMIT 1
    ) first
    WHERE e.enabled AND e.url <> '' AND (e.paused_until IS NULL OR e.paused_until <= %(at)s)
), chosen AS (
    SELECT i.id
    FROM (SELECT id, free FROM ready WHERE free > 0 ORDER BY due_at) r
    CROSS JOIN LATERAL (
        SELECT id FROM delivery_webhookqueueitem
        WHERE endpoint_id = r.id AND due_at <= %(at)s ORDER BY due_at LIMIT r.free
        FOR UPDATE SKIP LOCKED
    ) i
    LIMIT %(limit)s
), claimed AS (
    UPDATE delivery_webhookqueueitem i SET lease = %(lease)s, due_at = %(until)s
    FROM chosen WHERE i.id = chosen.id
    RETURNING i.id, i.event_id, i.endpoint_id
)
SELECT c.id, %(lease)s::uuid, c.event_id, c.endpoint_id, d.token_id, v.sequence, v.body, v.delivery_id IS NULL,
       v.trace_context
FROM claimed c
JOIN delivery_webhookevent v ON v.id = c.event_id
LEFT JOIN delivery_delivery d ON d.id = v.delivery_id
"""

# Rows that another transaction has locked are skipped: one of them must not delay the others beyond their leases.
_RENEW = """
UPDATE delivery_webhookqueueitem SET due_at = %(until)s
WHERE id IN (
    SELECT i.id
    FROM unnest(%(ids)s::bigint[], %(leases)s::uuid[]) AS claimed(id, lease)
    JOIN delivery_webhookqueueitem i ON i.id = claimed.id AND i.lease = claimed.lease
    FOR NO KEY UPDATE OF i SKIP LOCKED
)
RETURNING id, lease
"""


def add(event: WebhookEvent, *, due_at: datetime) -> None:
    """Queue an event that this transaction has written.

    If its delivery has an item already, none is added: that item moves on to this event later.
    """
    with connection.cursor() as cursor:
        cursor.execute(_ADD, [event.pk, event.delivery_id, event.endpoint_id, not event.is_test, due_at])


def add_again(events: Sequence[UUID], *, due_at: datetime) -> None:
    """Queue events that had ended and that this transaction has made pending; those of one delivery in order."""
    with connection.cursor() as cursor:
        cursor.execute(_ADD_AGAIN, [due_at, list(events)])


def claim(*, lease: UUID, at: datetime, limit: int) -> list[ClaimedItem]:
    """Claim items that are due, at most `limit` and at most four in flight for each endpoint (one as a probe)."""
    parameters = {
        "at": at,
        "until": at + LEASE,
        "lease": lease,
        "limit": limit,
        "opens_after": breaker.OPENS_AFTER,
        "in_flight": IN_FLIGHT_PER_ENDPOINT,
    }
    rows = execute_with_lock_timeout((_SERIALIZE_CLAIMS, [_CLAIM_LOCK]), (_CLAIM, parameters))
    return [ClaimedItem(*row) for row in rows]


def renew(keys: Sequence[LeaseKey], *, at: datetime) -> list[LeaseKey]:
    """Let these leases end LEASE after `at`. Returns those that were renewed.

    The others were lost to another worker, or their items are locked by another transaction at the moment.
    """
    parameters = {
        "until": at + LEASE,
        "ids": [item_id for item_id, _lease in keys],
        "leases": [lease for _item_id, lease in keys],
    }
    return [(item_id, lease) for item_id, lease in execute_with_lock_timeout((_RENEW, parameters))]


def execute_with_lock_timeout(*statements: tuple[str, prepared.Parameters]) -> list[tuple[Any, ...]]:
    """Execute statements in one round trip, with LOCK_TIMEOUT until the end of the transaction.

    Outside a transaction they are one of their own. Returns the rows of the last one.
    """
    milliseconds = f"{LOCK_TIMEOUT // timedelta(milliseconds=1)}ms"
    return prepared.execute_together((_SET_UP, [milliseconds]), *statements)


def bring_forward(*, endpoint_id: int, at: datetime, poisoned_too: bool = False) -> int:
    """Make the endpoint's items that wait for a retry due now. Returns how many.

    Poisoned events keep their time unless `poisoned_too`. The retry does not count towards the schedule, which an
    endpoint that recovers and fails repeatedly would use up within minutes otherwise.
    """
    recent = WebhookEvent.objects.filter(pk=OuterRef("event"), created_at__gt=at - _BROUGHT_FORWARD_FOR)
    # Not `event__created_at__gt`: for a join Django chooses the rows in a subquery, which PostgreSQL does not evaluate
    # again for a row that it waited for, so an item that was claimed meanwhile would be made due and sent twice.
    waiting = WebhookQueueItem.objects.filter(Exists(recent), endpoint=endpoint_id, lease=None, due_at__gt=at)
    if not poisoned_too:
        waiting = waiting.filter(is_ordered=True)
    return waiting.update(due_at=at, tries=Greatest(F("tries") - 1, 0))
