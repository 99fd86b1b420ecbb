"""Claiming items of the queue under a lease, and renewing the lease.

Written in SQL, because each operation is one statement over many rows.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from common.postgresql import prepared
from common.webhooks import breaker
from common.webhooks.outbox import ClaimedItem, LeaseKey, Outbox
from common.webhooks.queue import IN_FLIGHT_PER_ENDPOINT

# When it ends, other workers may claim the item. The sender renews it until the outcome of the request is written.
LEASE = timedelta(seconds=15)
# How long a statement of a worker waits for a lock. A worker that waits holds locks itself, which stop web requests;
# and the server goes on waiting for a worker that was killed. The statement is repeated later.
LOCK_TIMEOUT = timedelta(seconds=2)
# The key of an advisory lock, one for all outboxes. Claims are serialized, so that each sees what the others have in
# flight.
_CLAIM_LOCK = 5_201_964

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
    (SELECT endpoint_id FROM {items} ORDER BY endpoint_id LIMIT 1)
    UNION ALL
    SELECT (SELECT i.endpoint_id FROM {items} i WHERE i.endpoint_id > q.endpoint_id
            ORDER BY i.endpoint_id LIMIT 1)
    FROM queued q WHERE q.endpoint_id IS NOT NULL
), ready AS (
    SELECT e.id, first.due_at,
           CASE WHEN e.failures >= %(opens_after)s THEN 1 ELSE %(in_flight)s END
           - (SELECT count(*) FROM {items} leased
              WHERE leased.endpoint_id = e.id AND leased.lease IS NOT NULL AND leased.due_at > %(at)s) AS free
    FROM queued q
    JOIN {endpoints} e ON e.id = q.endpoint_id
    CROSS JOIN LATERAL (
        SELECT due_at FROM {items}
        WHERE endpoint_id = e.id AND due_at <= %(at)s ORDER BY due_at LIMIT 1
    ) first
    WHERE e.enabled AND e.url <> '' AND (e.paused_until IS NULL OR e.paused_until <= %(at)s)
), chosen AS (
    SELECT i.id
    FROM (SELECT id, free FROM ready WHERE free > 0 ORDER BY due_at) r
    CROSS JOIN LATERAL (
        SELECT id FROM {items}
        WHERE endpoint_id = r.id AND due_at <= %(at)s ORDER BY due_at LIMIT r.free
        FOR UPDATE SKIP LOCKED
    ) i
    LIMIT %(limit)s
), claimed AS (
    UPDATE {items} i SET lease = %(lease)s, due_at = %(until)s
    FROM chosen WHERE i.id = chosen.id
    RETURNING i.id, i.event_id, i.endpoint_id
)
SELECT c.id, %(lease)s::uuid, c.event_id, c.endpoint_id, v.{subject_id}, v.sequence, v.body, v.trace_context, v.copy_of
FROM claimed c JOIN {events} v ON v.id = c.event_id
"""

# Rows that another transaction has locked are skipped: one of them must not delay the others beyond their leases.
_RENEW = """
UPDATE {items} SET due_at = %(until)s
WHERE id IN (
    SELECT i.id
    FROM unnest(%(ids)s::bigint[], %(leases)s::uuid[]) AS claimed(id, lease)
    JOIN {items} i ON i.id = claimed.id AND i.lease = claimed.lease
    FOR NO KEY UPDATE OF i SKIP LOCKED
)
RETURNING id, lease
"""


def claim(outbox: Outbox, *, lease: UUID, at: datetime, limit: int) -> list[ClaimedItem]:
    """Claim items that are due, at most `limit` and at most four in flight for each endpoint (one as a probe)."""
    parameters = {
        "at": at,
        "until": at + LEASE,
        "lease": lease,
        "limit": limit,
        "opens_after": breaker.OPENS_AFTER,
        "in_flight": IN_FLIGHT_PER_ENDPOINT,
    }
    rows = execute_with_lock_timeout((_SERIALIZE_CLAIMS, [_CLAIM_LOCK]), (outbox.sql(_CLAIM), parameters))
    return [ClaimedItem(*row) for row in rows]


def renew(outbox: Outbox, keys: Sequence[LeaseKey], *, at: datetime) -> list[LeaseKey]:
    """Let these leases end LEASE after `at`. Returns those that were renewed.

    The others were lost to another worker, or their items are locked by another transaction at the moment.
    """
    parameters = {
        "until": at + LEASE,
        "ids": [item_id for item_id, _lease in keys],
        "leases": [lease for _item_id, lease in keys],
    }
    return [(item_id, lease) for item_id, lease in execute_with_lock_timeout((outbox.sql(_RENEW), parameters))]


def execute_with_lock_timeout(*statements: tuple[str, prepared.Parameters]) -> list[tuple[Any, ...]]:
    """Execute statements in one round trip, with LOCK_TIMEOUT until the end of the transaction.

    Outside a transaction they are one of their own. Returns the rows of the last one.
    """
    milliseconds = f"{LOCK_TIMEOUT // timedelta(milliseconds=1)}ms"
    return prepared.execute_together((_SET_UP, [milliseconds]), *statements)
