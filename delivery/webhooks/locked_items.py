"""The rows of claimed queue items: locking them, and writing what has become of their events.

Written in SQL, because each operation is one statement over many rows.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection

from common.postgresql import prepared
from common.webhooks.http_client import Result
from delivery.models import EventState
from delivery.webhooks import queue
from delivery.webhooks.queue import ClaimedItem, LeaseKey


@dataclass
class LockedItem:
    """A queue item with its row lock. The fields from `attempts_made` on are changed and then written."""

    item_id: int
    lease: UUID
    event_id: UUID
    endpoint_id: int
    was_poisoned: bool
    # Whether a success changes the endpoint's row; False while its last success is recent and no failure is counted.
    success_is_recorded: bool
    created_at: datetime  # of the event
    attempts_made: int
    tries: int
    refusals: int
    first_refused_at: datetime | None
    is_ordered: bool
    state: EventState = EventState.PENDING
    due_at: datetime | None = None
    is_newly_poisoned: bool = False


# Items that another transaction has locked are skipped, so that a long transaction delays the outcomes of its own
# deliveries only.
_LOCK = """
SELECT i.id, i.lease, i.event_id, i.endpoint_id, i.delivery_id IS NOT NULL AND NOT i.is_ordered,
       e.failures > 0 OR e.last_success_at IS NULL OR e.last_success_at < %s,
       v.created_at, v.attempts_made, i.tries, i.refusals, i.first_refused_at, i.is_ordered
FROM unnest(%s::bigint[], %s::uuid[]) AS claimed(id, lease)
JOIN delivery_webhookqueueitem i ON i.id = claimed.id AND i.lease = claimed.lease
JOIN delivery_webhookevent v ON v.id = i.event_id
JOIN delivery_webhookendpoint e ON e.id = i.endpoint_id
ORDER BY i.id FOR UPDATE OF i SKIP LOCKED
"""

_STILL_CLAIMED = """
SELECT i.id, i.lease
FROM unnest(%s::bigint[], %s::uuid[]) AS claimed(id, lease)
JOIN delivery_webhookqueueitem i ON i.id = claimed.id AND i.lease = claimed.lease
"""


def lock(
    outcomes: Sequence[tuple[ClaimedItem, Result]], *, successes_since: datetime
) -> tuple[list[tuple[LockedItem, Result]], list[tuple[ClaimedItem, Result]]]:
    """Lock the items that are still claimed under the same lease.

    Returns them in the order of `outcomes`, and the outcomes of items that another transaction has locked.
    `success_is_recorded` is False for endpoints without a failure whose last success is not before `successes_since`.
    """
    keys = [claimed.key for claimed, _result in outcomes]
    rows = queue.execute_with_lock_timeout((_LOCK, [successes_since, *_columns(keys)]))
    locked = {(row[0], row[1]): LockedItem(*row) for row in rows}
    attempts = [(locked[claimed.key], result) for claimed, result in outcomes if claimed.key in locked]
    blocked = _still_claimed([key for key in keys if key not in locked])
    return attempts, [(claimed, result) for claimed, result in outcomes if claimed.key in blocked]


def _still_claimed(keys: Sequence[LeaseKey]) -> set[LeaseKey]:
    """Those of `keys` whose lease has not passed to another worker. Almost always there are no keys."""
    if not keys:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(_STILL_CLAIMED, _columns(keys))
        return set(cursor.fetchall())


def _columns(rows: Sequence[tuple[object, ...]]) -> list[list[object]]:
    """One list for each column."""
    return [list(column) for column in zip(*rows, strict=True)]


# The first pending event of the delivery of item `i` that has no item of its own.
_NEXT_EVENT = """
SELECT v.id FROM delivery_webhookevent v
WHERE v.delivery_id = i.delivery_id AND v.state = 'pending'
  AND NOT EXISTS (SELECT FROM delivery_webhookqueueitem other WHERE other.event_id = v.id)
ORDER BY v.sequence LIMIT 1
"""

# All parts see the rows as they were before the statement. So `ended` finds the event that has just ended still
# pending, and leaves it out because it still has its item. The rows are one parameter of type json, which is made and
# read faster than an array for each column.
_WRITE = f"""
WITH outcome AS MATERIALIZED (
    SELECT * FROM json_to_recordset(%(outcomes)s) AS o(
        item_id bigint, event_id uuid, state text, number int, due_at timestamptz, tries int, refusals int,
        first_refused_at timestamptz, is_ordered boolean, was_sent boolean, at timestamptz, milliseconds int,
        status_code int, error text, response_start text, url text, token_hint text, webhook_timestamp bigint,
        signature text
    )
), attempt AS (
    INSERT INTO delivery_webhookattempt (
        event_id, number, at, milliseconds, status_code, error, response_start, url, token_hint, webhook_timestamp,
        signature
    )
    SELECT event_id, number, at, milliseconds, status_code, error, response_start, url, token_hint, webhook_timestamp,
           signature
    FROM outcome WHERE was_sent
), event AS (
    UPDATE delivery_webhookevent v
    SET state = o.state, attempts_made = o.number,
        sent_at = CASE WHEN o.state = 'sent' THEN o.at + o.milliseconds * interval '1 ms' ELSE v.sent_at END
    FROM outcome o WHERE v.id = o.event_id AND o.was_sent
), released AS (
    UPDATE delivery_webhookqueueitem i
    SET lease = NULL, due_at = o.due_at, tries = o.tries, refusals = o.refusals,
        first_refused_at = o.first_refused_at, is_ordered = o.is_ordered
    FROM outcome o WHERE i.id = o.item_id AND o.state = 'pending'
), ended AS MATERIALIZED (
    SELECT i.id, next.id AS next_event_id
    FROM outcome o JOIN delivery_webhookqueueitem i ON i.id = o.item_id
    LEFT JOIN LATERAL ({_NEXT_EVENT}) next ON i.is_ordered
    WHERE o.state <> 'pending'
), moved AS (
    UPDATE delivery_webhookqueueitem i
    SET event_id = ended.next_event_id, due_at = %(at)s, tries = 0, refusals = 0, first_refused_at = NULL, lease = NULL
    FROM ended WHERE i.id = ended.id AND ended.next_event_id IS NOT NULL
)
DELETE FROM delivery_webhookqueueitem
WHERE id = ANY(ARRAY(SELECT ended.id FROM ended WHERE ended.next_event_id IS NULL))
"""  # noqa: S608  # nosec B608  # made of constants

# For items that were just poisoned: the later events of their deliveries get an ordered item.
_ADD_NEXT_EVENT = f"""
INSERT INTO delivery_webhookqueueitem (event_id, delivery_id, endpoint_id, is_ordered, due_at, tries, refusals)
SELECT next.id, i.delivery_id, i.endpoint_id, TRUE, %(at)s, 0, 0
FROM delivery_webhookqueueitem i CROSS JOIN LATERAL ({_NEXT_EVENT}) next
WHERE i.id = ANY(%(items)s)
"""  # noqa: S608  # nosec B608  # made of constants


def write(attempts: Sequence[tuple[LockedItem, Result]], *, at: datetime) -> None:
    """Write what has become of locked items.

    Inserts an attempt for each request and updates its event. Releases the items of pending events, and moves the
    others on to their delivery's next event or deletes them.
    """
    outcomes = [_as_json(item, result) for item, result in attempts]
    if not outcomes:
        return
    prepared.execute(_WRITE, {"outcomes": json.dumps(outcomes, default=str), "at": at})
    poisoned = [item.item_id for item, _result in attempts if item.is_newly_poisoned]
    if poisoned:
        prepared.execute(_ADD_NEXT_EVENT, {"items": poisoned, "at": at})


def _as_json(item: LockedItem, result: Result) -> dict[str, object]:
    return {
        "item_id": item.item_id,
        "event_id": item.event_id,
        "state": item.state,
        "number": item.attempts_made,
        "due_at": item.due_at,
        "tries": item.tries,
        "refusals": item.refusals,
        "first_refused_at": item.first_refused_at,
        "is_ordered": item.is_ordered,
        "was_sent": result.was_sent,
        "at": result.at,
        "milliseconds": result.milliseconds,
        "status_code": result.status_code,
        "error": result.error,
        "response_start": result.response_start,
        "url": result.request.url,
        "token_hint": result.request.token_hint,
        "webhook_timestamp": result.request.webhook_timestamp,
        "signature": result.request.signature,
    }
