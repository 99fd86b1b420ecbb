"""The rows of claimed queue items: locking them, and writing what has become of their events.

Written in SQL, because each operation is one statement over many rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection

from delivery.models import EventState
from delivery.webhooks import queue
from delivery.webhooks.queue import ClaimedItem, LeaseKey
from delivery.webhooks.sending import Result


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
    attempts_made: int
    tries: int
    refusals: int
    first_refused_at: datetime | None
    is_ordered: bool
    state: EventState = EventState.PENDING
    due_at: datetime | None = None
    is_newly_poisoned: bool = False


# The timeout holds for the rest of the transaction. Items that another transaction has locked are skipped, so that a
# long transaction delays the outcomes of its own deliveries only.
_LOCK = """
SET LOCAL lock_timeout = %s;
SELECT i.id, i.lease, i.event_id, i.endpoint_id, i.delivery_id IS NOT NULL AND NOT i.is_ordered,
       e.failures > 0 OR e.last_success_at IS NULL OR e.last_success_at < %s,
       v.attempts_made, i.tries, i.refusals, i.first_refused_at, i.is_ordered
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
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, [queue.lock_timeout(), successes_since, *_columns(keys)])
        cursor.nextset()
        items = [LockedItem(*row) for row in cursor.fetchall()]
    locked = {(item.item_id, item.lease): item for item in items}
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


_WRITE_ATTEMPTS = """
WITH outcome AS (
    SELECT * FROM unnest(
        %s::uuid[], %s::int[], %s::text[], %s::timestamptz[], %s::int[], %s::int[], %s::text[], %s::text[]
    ) AS o(event_id, number, state, at, milliseconds, status_code, error, response_start)
), attempt AS (
    INSERT INTO delivery_webhookattempt (event_id, number, at, milliseconds, status_code, error, response_start)
    SELECT event_id, number, at, milliseconds, status_code, error, response_start FROM outcome
)
UPDATE delivery_webhookevent v
SET state = o.state, attempts_made = o.number,
    sent_at = CASE WHEN o.state = 'sent' THEN o.at + o.milliseconds * interval '1 ms' ELSE v.sent_at END
FROM outcome o WHERE v.id = o.event_id
"""

_RELEASE = """
UPDATE delivery_webhookqueueitem i
SET lease = NULL, due_at = r.due_at, tries = r.tries, refusals = r.refusals, first_refused_at = r.first_refused_at,
    is_ordered = r.is_ordered
FROM unnest(%s::bigint[], %s::timestamptz[], %s::int[], %s::int[], %s::timestamptz[], %s::boolean[])
     AS r(id, due_at, tries, refusals, first_refused_at, is_ordered)
WHERE i.id = r.id
"""

# The first pending event of the delivery of item `i` that has no item of its own.
_NEXT_EVENT = """
SELECT v.id FROM delivery_webhookevent v
WHERE v.delivery_id = i.delivery_id AND v.state = 'pending'
  AND NOT EXISTS (SELECT FROM delivery_webhookqueueitem other WHERE other.event_id = v.id)
ORDER BY v.sequence LIMIT 1
"""

# For items whose event has ended.
_MOVE_ON_OR_DELETE = f"""
WITH ended AS (
    SELECT i.id, next.id AS next_event_id
    FROM delivery_webhookqueueitem i LEFT JOIN LATERAL ({_NEXT_EVENT}) next ON i.is_ordered
    WHERE i.id = ANY(%(items)s)
), moved AS (
    UPDATE delivery_webhookqueueitem i
    SET event_id = ended.next_event_id, due_at = %(at)s, tries = 0, refusals = 0, first_refused_at = NULL, lease = NULL
    FROM ended WHERE i.id = ended.id AND ended.next_event_id IS NOT NULL
)
DELETE FROM delivery_webhookqueueitem i USING ended WHERE i.id = ended.id AND ended.next_event_id IS NULL
"""  # noqa: S608  # nosec B608  # made of constants

# For items that were just poisoned: the later events of their deliveries get an ordered item.
_ADD_NEXT_EVENT = f"""
INSERT INTO delivery_webhookqueueitem (event_id, delivery_id, endpoint_id, is_ordered, due_at, tries, refusals)
SELECT next.id, i.delivery_id, i.endpoint_id, TRUE, %(at)s, 0, 0
FROM delivery_webhookqueueitem i CROSS JOIN LATERAL ({_NEXT_EVENT}) next
WHERE i.id = ANY(%(items)s)
"""  # noqa: S608  # nosec B608  # made of constants


def write_attempts(attempts: Sequence[tuple[LockedItem, Result]]) -> None:
    """Insert an attempt for each request, and update its event."""
    rows = [
        (
            item.event_id, item.attempts_made, item.state, result.at, result.milliseconds, result.status_code,
            result.error, result.response_start,
        )
        for item, result in attempts
    ]  # fmt: skip  # two lines for a row and not eight
    _execute_for_rows(_WRITE_ATTEMPTS, rows)


def write(items: Sequence[LockedItem], *, at: datetime) -> None:
    """Release the items of pending events; move the others on to their delivery's next event, or delete them."""
    pending = [item for item in items if item.state == EventState.PENDING]
    _release(pending)
    _execute_for_items(_MOVE_ON_OR_DELETE, [item for item in items if item.state != EventState.PENDING], at=at)
    _execute_for_items(_ADD_NEXT_EVENT, [item for item in pending if item.is_newly_poisoned], at=at)


def _release(items: Sequence[LockedItem]) -> None:
    rows = [
        (item.item_id, item.due_at, item.tries, item.refusals, item.first_refused_at, item.is_ordered) for item in items
    ]
    _execute_for_rows(_RELEASE, rows)


def _execute_for_items(statement: str, items: Sequence[LockedItem], *, at: datetime) -> None:
    if items:
        with connection.cursor() as cursor:
            cursor.execute(statement, {"items": [item.item_id for item in items], "at": at})


def _execute_for_rows(statement: str, rows: Sequence[tuple[object, ...]]) -> None:
    """Execute a statement that takes its rows as one array for each column."""
    if rows:
        with connection.cursor() as cursor:
            cursor.execute(statement, _columns(rows))
