"""The queue in PostgreSQL: who comes to wait, and what a worker may take. See `delivery.models.WebhookTurn`.

In SQL, because each question is one statement over many rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection
from django.db.models import F
from django.db.models.functions import Greatest

from delivery import breaker
from delivery.models import WebhookEvent, WebhookTurn

# Longer than a request can take and its outcome to be written; when a worker died, others take over after this.
LEASE = timedelta(seconds=60)
IN_FLIGHT_PER_ENDPOINT = 4
_BROUGHT_FORWARD_FOR = timedelta(days=3)
# Claims go one after the other, so that each sees what is in flight; one lasts a few milliseconds.
_CLAIM_LOCK = 5_201_964


@dataclass(frozen=True)
class Claimed:
    """An event to send now, held under a lease. `token_id` names the token that requested the delivery."""

    turn_id: int
    lease: UUID
    event_id: UUID
    endpoint_id: int
    token_id: UUID | None
    sequence: int
    body: str
    is_test: bool


# A delivery that has its turn keeps it: the new event waits behind it. The turn is locked even so, which makes a
# worker that is just settling it see the new event, or this one see that the turn has gone.
_ENTER = """
INSERT INTO delivery_webhookturn (event_id, delivery_id, endpoint_id, is_ordered, due_at, tries, refusals)
VALUES (%s, %s, %s, %s, %s, 0, 0)
ON CONFLICT (delivery_id) WHERE is_ordered DO UPDATE SET delivery_id = EXCLUDED.delivery_id
"""
# One turn for each delivery, at its first event that waits; one that has its turn keeps it, and is only locked.
_REJOIN = """
INSERT INTO delivery_webhookturn (event_id, delivery_id, endpoint_id, is_ordered, due_at, tries, refusals)
SELECT DISTINCT ON (coalesce(v.delivery_id, v.id))
       v.id, v.delivery_id, v.endpoint_id, v.delivery_id IS NOT NULL, %s, 0, 0
FROM delivery_webhookevent v
WHERE v.id = ANY(%s) AND NOT EXISTS (SELECT FROM delivery_webhookturn t WHERE t.event_id = v.id)
ORDER BY coalesce(v.delivery_id, v.id), v.sequence
ON CONFLICT (delivery_id) WHERE is_ordered DO UPDATE SET delivery_id = EXCLUDED.delivery_id
"""

# Two statements, which go to the server together and are one transaction: what the second sees is younger than the
# lock. `present` hops through the index from endpoint to endpoint: a long backlog of one costs the others nothing.
_CLAIM = """
SELECT pg_advisory_xact_lock(%(lock)s);
WITH RECURSIVE present AS (
    (SELECT endpoint_id FROM delivery_webhookturn ORDER BY endpoint_id LIMIT 1)
    UNION ALL
    SELECT (SELECT t.endpoint_id FROM delivery_webhookturn t WHERE t.endpoint_id > p.endpoint_id
            ORDER BY t.endpoint_id LIMIT 1)
    FROM present p WHERE p.endpoint_id IS NOT NULL
), ready AS (
    SELECT e.id, first.due_at,
           CASE WHEN e.failures >= %(opens_after)s THEN 1 ELSE %(in_flight)s END
           - (SELECT count(*) FROM delivery_webhookturn h
              WHERE h.endpoint_id = e.id AND h.lease IS NOT NULL AND h.due_at > %(at)s) AS free
    FROM present p
    JOIN delivery_webhookendpoint e ON e.id = p.endpoint_id
    CROSS JOIN LATERAL (
        SELECT due_at FROM delivery_webhookturn
        WHERE endpoint_id = e.id AND due_at <= %(at)s ORDER BY due_at LIMIT 1
    ) first
    WHERE e.enabled AND e.url <> '' AND (e.paused_until IS NULL OR e.paused_until <= %(at)s)
), chosen AS (
    SELECT t.id
    FROM (SELECT id, free FROM ready WHERE free > 0 ORDER BY due_at) r
    CROSS JOIN LATERAL (
        SELECT id FROM delivery_webhookturn
        WHERE endpoint_id = r.id AND due_at <= %(at)s ORDER BY due_at LIMIT r.free
        FOR UPDATE SKIP LOCKED
    ) t
    LIMIT %(limit)s
), claimed AS (
    UPDATE delivery_webhookturn t SET lease = %(lease)s, due_at = %(until)s
    FROM chosen WHERE t.id = chosen.id
    RETURNING t.id, t.event_id, t.endpoint_id
)
SELECT c.id, %(lease)s::uuid, c.event_id, c.endpoint_id, d.token_id, v.sequence, v.body, v.delivery_id IS NULL
FROM claimed c
JOIN delivery_webhookevent v ON v.id = c.event_id
LEFT JOIN delivery_delivery d ON d.id = v.delivery_id
"""


def enter(event: WebhookEvent, *, at: datetime) -> None:
    """Let an event that was just written wait for its turn."""
    with connection.cursor() as cursor:
        cursor.execute(_ENTER, [event.pk, event.delivery_id, event.endpoint_id, not event.is_test, at])


def rejoin(events: Sequence[UUID], *, at: datetime) -> None:
    """Let finished events, made pending again in this transaction, wait once more; those of one delivery in order."""
    with connection.cursor() as cursor:
        cursor.execute(_REJOIN, [at, list(events)])


def claim(*, lease: UUID, at: datetime, limit: int) -> list[Claimed]:
    """Take what is due, `limit` events at most, so that each endpoint has no more in flight than it may."""
    with connection.cursor() as cursor:
        cursor.execute(
            _CLAIM,
            {
                "lock": _CLAIM_LOCK,
                "at": at,
                "until": at + LEASE,
                "lease": lease,
                "limit": limit,
                "opens_after": breaker.OPENS_AFTER,
                "in_flight": IN_FLIGHT_PER_ENDPOINT,
            },
        )
        cursor.nextset()
        return [Claimed(*row) for row in cursor.fetchall()]


def bring_forward(*, endpoint_id: int, at: datetime, poisoned_too: bool = False) -> int:
    """Try everything again now that waits for an endpoint's sake; what it refused for its own sake keeps its time.

    Returns how many. Such a try is one more and not one of the schedule's, or an endpoint that comes and goes would
    use them up in minutes. After three days an event has the schedule alone, so that it ends.
    """
    waiting = WebhookTurn.objects.filter(
        endpoint=endpoint_id, lease=None, due_at__gt=at, event__created_at__gt=at - _BROUGHT_FORWARD_FOR
    )
    if not poisoned_too:
        waiting = waiting.filter(is_ordered=True)
    return waiting.update(due_at=at, tries=Greatest(F("tries") - 1, 0))
