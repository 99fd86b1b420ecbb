"""How late the sending of webhooks is, as far as it depends on this service."""

from datetime import datetime
from typing import Any

from django.db import connection

from common.webhooks import breaker
from delivery.webhooks.queue import IN_FLIGHT_PER_ENDPOINT

# Endpoints that are off, paused, failing or busy with as many requests as they may have are left out: their events wait
# for them and not for a worker. `queued` is a loose index scan, as in `queue`. A test event is due long before it was
# recorded.
_OLDEST = """
WITH RECURSIVE queued AS (
    (SELECT endpoint_id FROM delivery_webhookqueueitem ORDER BY endpoint_id LIMIT 1)
    UNION ALL
    SELECT (SELECT i.endpoint_id FROM delivery_webhookqueueitem i WHERE i.endpoint_id > q.endpoint_id
            ORDER BY i.endpoint_id LIMIT 1)
    FROM queued q WHERE q.endpoint_id IS NOT NULL
)
SELECT EXTRACT(EPOCH FROM %(at)s - min(greatest(first.due_at, first.created_at, e.paused_until)))::float
FROM queued q
JOIN delivery_webhookendpoint e ON e.id = q.endpoint_id
CROSS JOIN LATERAL (
    SELECT i.due_at, v.created_at
    FROM delivery_webhookqueueitem i JOIN delivery_webhookevent v ON v.id = i.event_id
    WHERE i.endpoint_id = e.id AND i.due_at <= %(at)s ORDER BY i.due_at LIMIT 1
) first
WHERE e.enabled AND e.url <> '' AND e.failures < %(opens_after)s
  AND (e.paused_until IS NULL OR e.paused_until <= %(at)s)
  AND (SELECT count(*) FROM delivery_webhookqueueitem leased
       WHERE leased.endpoint_id = e.id AND leased.lease IS NOT NULL AND leased.due_at > %(at)s) < %(in_flight)s
"""


def oldest_due_seconds(*, at: datetime) -> float:
    """For how long the event that is due first has waited for a worker; 0 if none waits."""
    parameters: dict[str, Any] = {"at": at, "opens_after": breaker.OPENS_AFTER, "in_flight": IN_FLIGHT_PER_ENDPOINT}
    with connection.cursor() as cursor:
        cursor.execute(_OLDEST, parameters)
        (seconds,) = cursor.fetchone()
    return max(seconds or 0.0, 0.0)
