"""Settles the outcomes of requests in batches: whether each event has ended or is sent again, and the breakers.

What is read and written for many rows is one statement each, so it is written in SQL.
"""

import json
import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection, transaction

from common.pages.page_updates import publish_on_commit
from common.postgresql import prepared
from common.webhooks import breaker, claims, queue, retry
from common.webhooks.http_client import Result
from common.webhooks.models import BREAKER_FIELDS, Endpoint, EventState, OffBecause
from common.webhooks.outbox import ClaimedItem, LeaseKey, Outbox

_log = logging.getLogger(__name__)
_POISONED_AFTER = 3
# The last success of a healthy endpoint is written at most once a second and not for every event.
_SUCCESS_RESOLUTION = timedelta(seconds=1)
_GONE = 410
# Until an event is tried again that could not be sent for a reason on our side.
UNSENT_PAUSE = timedelta(seconds=60)


@dataclass
class LockedItem:
    """A queue item with its row lock. The fields from `tries` on are changed and then written."""

    item_id: int
    lease: UUID
    event_id: UUID
    endpoint_id: int
    was_poisoned: bool
    is_healthy: bool  # whether a success changes nothing of its endpoint but the last success
    tries: int
    refusals: int
    first_refused_at: datetime | None
    is_ordered: bool
    state: EventState = EventState.PENDING
    due_at: datetime | None = None
    is_newly_poisoned: bool = False


def settle(
    outbox: Outbox, outcomes: Sequence[tuple[ClaimedItem, Result]], *, at: datetime
) -> list[tuple[ClaimedItem, Result]]:
    """Write the outcomes, given in the order in which the requests ended.

    An item whose lease has passed to another worker is left out: that worker writes its own outcome. Returns the
    outcomes that were not written because another transaction has locked their items; they are to be settled again.
    Raises OperationalError, and writes nothing, when another lock is not released within `claims.LOCK_TIMEOUT`.
    """
    failing = {claimed.endpoint_id for claimed, result in outcomes if not result.succeeded}
    plain = [outcome for outcome in outcomes if outcome[0].endpoint_id not in failing]
    written = _settle_plain(outbox, plain, at=at) if plain else set()
    others = [outcome for outcome in outcomes if outcome[0].item_id not in written]
    return _settle_others(outbox, others, at=at) if others else []


def _settle_plain(outbox: Outbox, outcomes: Sequence[tuple[ClaimedItem, Result]], *, at: datetime) -> Collection[int]:
    """Write successes of healthy endpoints, most outcomes by far, in one round trip. Returns the ids of their items.

    Leaves out those that are not to be written, or not yet, and those whose endpoint has changed: see `_LOCK_PLAIN`.
    """
    keys = [claimed.key for claimed, _result in outcomes]
    rows = [{**_as_json(claimed.item_id, result), "state": EventState.SENT} for claimed, result in outcomes]
    written = _write(outbox, rows, at=at, lock=(outbox.sql(_LOCK_PLAIN), _columns(keys)))
    attempts = [(claimed, result) for claimed, result in outcomes if claimed.item_id in written]
    publish_on_commit(*outbox.messages((claimed.endpoint_id, claimed.event_id) for claimed, _result in attempts))
    for claimed, result in attempts:
        _count(EventState.SENT, result, sent_after=written[claimed.item_id])
    return written


def _settle_others(
    outbox: Outbox, outcomes: Sequence[tuple[ClaimedItem, Result]], *, at: datetime
) -> list[tuple[ClaimedItem, Result]]:
    with transaction.atomic():
        attempts, blocked = lock(outbox, outcomes)
        endpoints = _lock_endpoints(outbox, attempts)
        before = {pk: (endpoint.breaker_state, endpoint.enabled) for pk, endpoint in endpoints.items()}
        for item, result in attempts:
            _apply_outcome(item, result, endpoints, at=at)
        written = write(outbox, attempts, at=at) if attempts else {}
        for pk, endpoint in endpoints.items():
            _write_endpoint(endpoint, *before[pk])
        publish_on_commit(*outbox.messages((item.endpoint_id, item.event_id) for item, _ in attempts))
    for item, result in attempts:
        _count(item.state, result, sent_after=written.get(item.item_id))
    # Not in the transaction: it would wait for items while it has locked others, in no common order.
    for pk, endpoint in endpoints.items():
        if before[pk][0].is_open and not endpoint.breaker_state.is_open:
            queue.bring_forward(outbox, endpoint_id=pk, at=at)
    return blocked


def _count(state: EventState, result: Result, *, sent_after: float | None) -> None:
    status = result.status_code
    queue.ATTEMPTS.labels(f"{status // 100}xx" if status else result.error).inc()
    if state != EventState.PENDING:
        queue.ENDED.labels(state.value).inc()
    if sent_after is not None:
        queue.SENT_AFTER.observe(sent_after)


def _lock_endpoints(outbox: Outbox, attempts: Iterable[tuple[LockedItem, Result]]) -> dict[int, Endpoint]:
    """The endpoints whose breakers these outcomes may change."""
    ids = {
        item.endpoint_id for item, result in attempts if result.was_sent and not (item.is_healthy and result.succeeded)
    }
    if not ids:
        return {}
    endpoints = outbox.endpoints._default_manager.filter(pk__in=ids).order_by("pk").select_for_update(no_key=True)
    return {endpoint.pk: endpoint for endpoint in endpoints}


def _apply_outcome(item: LockedItem, result: Result, endpoints: Mapping[int, Endpoint], *, at: datetime) -> None:
    if not result.was_sent:
        item.due_at = at + UNSENT_PAUSE
        return
    endpoint = endpoints.get(item.endpoint_id)
    if endpoint is not None and not result.succeeded and result.request.url not in {"", endpoint.url}:
        item.due_at = at  # it went to a URL that was changed meanwhile, and says nothing of the one of now
        return
    item.tries += 1
    if result.succeeded:
        item.state = EventState.SENT
        if endpoint is not None:
            endpoint.breaker_state = breaker.after_success(endpoint.breaker_state, sent_at=result.at, at=at)
        return
    retry_after = retry.parse_retry_after(result.retry_after, at=at)
    failing = endpoints[item.endpoint_id]  # locked, because the outcome is a failure
    _schedule_retry(item, result, failing, retry_after=retry_after, at=at)
    _record_failure(failing, item, result, retry_after=retry_after, at=at)


def _schedule_retry(
    item: LockedItem, result: Result, endpoint: Endpoint, *, retry_after: timedelta, at: datetime
) -> None:
    """Set when the event is sent again, give it up after the last attempt, or mark it as poisoned."""
    item.due_at = retry.next_attempt(tries=item.tries, at=at, retry_after=retry_after)
    if item.due_at is None:
        item.state = EventState.DEAD
        return
    if result.status_code is None:  # no answer, which says nothing about this event
        return
    item.refusals += 1
    item.first_refused_at = item.first_refused_at or at
    last_success_at = endpoint.last_success_at
    accepts_others = last_success_at is not None and last_success_at > item.first_refused_at
    if item.refusals >= _POISONED_AFTER and accepts_others and item.is_ordered:
        item.is_newly_poisoned, item.is_ordered = True, False


def _record_failure(
    endpoint: Endpoint, item: LockedItem, result: Result, *, retry_after: timedelta, at: datetime
) -> None:
    """Update the breaker, and switch the endpoint off after 410 or five days of failures.

    A refusal of a poisoned event is not counted: the endpoint is known to accept other events.
    """
    if not item.was_poisoned:
        endpoint.breaker_state = breaker.after_failure(
            endpoint.breaker_state, sent_at=result.at, at=at, retry_after=retry_after
        )
    if not endpoint.enabled:
        return
    if result.status_code == _GONE:
        endpoint.switch_off(OffBecause.GONE, at=at)
    elif endpoint.breaker_state.has_given_up(at=at):
        endpoint.switch_off(OffBecause.FAILING, at=at)


def _write_endpoint(endpoint: Endpoint, state_before: breaker.BreakerState, was_enabled: bool) -> None:
    state = endpoint.breaker_state
    if (state, endpoint.enabled) == (state_before, was_enabled):
        return
    endpoint.save(update_fields=[*BREAKER_FIELDS, "enabled", "off_because", "off_since"])
    if state_before.is_open and not state.is_open:
        _log.info("webhook endpoint %s accepts events again", endpoint.pk)
    elif state.is_open and not state_before.is_open:
        _log.warning("webhook endpoint %s failed %s times in a row", endpoint.pk, state.failures)
    if was_enabled and not endpoint.enabled:
        _log.warning("webhook endpoint %s switched off: %s", endpoint.pk, endpoint.get_off_because_display())


# Of endpoints of which a success changes nothing but the moment of the last success.
_HEALTHY = "e.failures = 0 AND e.paused_until IS NULL AND e.retry_after_until IS NULL"

# Items that another transaction has locked are skipped, so that a long transaction delays the outcomes of its own
# subjects only.
_LOCK = """
SELECT i.id, i.lease, i.event_id, i.endpoint_id, i.{subject_id} IS NOT NULL AND NOT i.is_ordered, {healthy},
       i.tries, i.refusals, i.first_refused_at, i.is_ordered
FROM unnest(%s::bigint[], %s::uuid[]) AS claimed(id, lease)
JOIN {items} i ON i.id = claimed.id AND i.lease = claimed.lease
JOIN {endpoints} e ON e.id = i.endpoint_id
ORDER BY i.id FOR UPDATE OF i SKIP LOCKED
""".replace("{healthy}", _HEALTHY)  # nosec B608  # two constants

# Both tell `_WRITE`, which is sent together with one of them, which items are locked. It is a statement of its own,
# because it must see every event that was added before its subject's item was locked.
_NAME_LOCKED = "SELECT set_config('rota.locked_items', %s::bigint[]::text, TRUE)"
_LOCK_PLAIN = """
SELECT set_config('rota.locked_items', ARRAY(
    SELECT i.id
    FROM unnest(%s::bigint[], %s::uuid[]) AS claimed(id, lease)
    JOIN {items} i ON i.id = claimed.id AND i.lease = claimed.lease
    JOIN {endpoints} e ON e.id = i.endpoint_id
    WHERE {healthy}
    ORDER BY i.id FOR UPDATE OF i SKIP LOCKED
)::text, TRUE)
""".replace("{healthy}", _HEALTHY)  # nosec B608  # two constants

_STILL_CLAIMED = """
SELECT i.id, i.lease
FROM unnest(%s::bigint[], %s::uuid[]) AS claimed(id, lease)
JOIN {items} i ON i.id = claimed.id AND i.lease = claimed.lease
"""


def lock(
    outbox: Outbox, outcomes: Sequence[tuple[ClaimedItem, Result]]
) -> tuple[list[tuple[LockedItem, Result]], list[tuple[ClaimedItem, Result]]]:
    """Lock the items that are still claimed under the same lease.

    Returns them in the order of `outcomes`, and the outcomes of items that another transaction has locked.
    """
    keys = [claimed.key for claimed, _result in outcomes]
    rows = claims.execute_with_lock_timeout((outbox.sql(_LOCK), _columns(keys)))
    locked = {(row[0], row[1]): LockedItem(*row) for row in rows}
    attempts = [(locked[claimed.key], result) for claimed, result in outcomes if claimed.key in locked]
    blocked = _still_claimed(outbox, [key for key in keys if key not in locked])
    return attempts, [(claimed, result) for claimed, result in outcomes if claimed.key in blocked]


def _still_claimed(outbox: Outbox, keys: Sequence[LeaseKey]) -> set[LeaseKey]:
    """Those of `keys` whose lease has not passed to another worker. Almost always there are no keys."""
    if not keys:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(outbox.sql(_STILL_CLAIMED), _columns(keys))
        return set(cursor.fetchall())


def _columns(rows: Sequence[tuple[object, ...]]) -> list[list[object]]:
    """One list for each column."""
    return [list(column) for column in zip(*rows, strict=True)]


# The first pending event of the subject and the endpoint of item `i` that has no item of its own.
_NEXT_EVENT = """
SELECT v.id FROM {events} v
WHERE v.{subject_id} = i.{subject_id} AND v.endpoint_id = i.endpoint_id AND v.state = 'pending'
  AND NOT EXISTS (SELECT FROM {items} other WHERE other.event_id = v.id)
ORDER BY v.sequence LIMIT 1
"""

# All parts see the rows as they were before the statement. So `ended` finds the event that has just ended still
# pending, and leaves it out because it still has its item. The rows are one parameter of type json, which is made and
# read faster than an array for each column. The last success of a healthy endpoint is written once a second; an
# endpoint that another transaction has locked is left to the next success.
_WRITE = """
WITH outcome AS MATERIALIZED (
    SELECT o.*, i.event_id, i.endpoint_id
    FROM json_to_recordset(%(outcomes)s) AS o(
        item_id bigint, state text, due_at timestamptz, tries int, refusals int, first_refused_at timestamptz,
        is_ordered boolean, was_sent boolean, at timestamptz, milliseconds int, status_code int, error text,
        response_start text, url text, token_hint text, webhook_timestamp bigint, signature text
    )
    JOIN {items} i ON i.id = o.item_id
    WHERE i.id = ANY(ARRAY(SELECT unnest(current_setting('rota.locked_items')::bigint[])))
), event AS (
    UPDATE {events} v
    SET state = o.state, attempts_made = v.attempts_made + 1,
        sent_at = CASE WHEN o.state = 'sent' THEN o.at + o.milliseconds * interval '1 ms' ELSE v.sent_at END
    FROM outcome o WHERE v.id = o.event_id AND o.was_sent
    RETURNING o.*, v.attempts_made, v.created_at
), attempt AS (
    INSERT INTO {attempts} (
        event_id, number, at, milliseconds, status_code, error, response_start, url, token_hint, webhook_timestamp,
        signature
    )
    SELECT event_id, attempts_made, at, milliseconds, status_code, error, response_start, url, token_hint,
           webhook_timestamp, signature
    FROM event
), released AS (
    UPDATE {items} i
    SET lease = NULL, due_at = o.due_at, tries = o.tries, refusals = o.refusals,
        first_refused_at = o.first_refused_at, is_ordered = o.is_ordered
    FROM outcome o WHERE i.id = o.item_id AND o.state = 'pending'
), ended AS MATERIALIZED (
    SELECT i.id, next.id AS next_event_id
    FROM outcome o JOIN {items} i ON i.id = o.item_id
    LEFT JOIN LATERAL ({next_event}) next ON i.is_ordered
    WHERE o.state <> 'pending'
), moved AS (
    UPDATE {items} i
    SET event_id = ended.next_event_id, due_at = %(at)s, tries = 0, refusals = 0, first_refused_at = NULL, lease = NULL
    FROM ended WHERE i.id = ended.id AND ended.next_event_id IS NOT NULL
), deleted AS (
    DELETE FROM {items}
    WHERE id = ANY(ARRAY(SELECT ended.id FROM ended WHERE ended.next_event_id IS NULL))
), healthy AS (
    SELECT e.id, sent.at
    FROM (SELECT endpoint_id, max(at) AS at FROM outcome WHERE state = 'sent' GROUP BY endpoint_id) sent
    JOIN {endpoints} e ON e.id = sent.endpoint_id
    WHERE {healthy} AND (e.last_success_at IS NULL OR e.last_success_at < %(successes_since)s)
    FOR NO KEY UPDATE OF e SKIP LOCKED
), recorded AS (
    UPDATE {endpoints} e SET last_success_at = greatest(e.last_success_at, healthy.at)
    FROM healthy WHERE e.id = healthy.id
)
SELECT item_id, CASE WHEN attempts_made = 1 AND state = 'sent'
                     THEN (EXTRACT(EPOCH FROM at - created_at) + milliseconds / 1000.0)::float END
FROM event
""".replace("{next_event}", _NEXT_EVENT).replace("{healthy}", _HEALTHY)  # nosec B608  # constants

# For items that were just poisoned: the later events of their subjects get an ordered item.
_ADD_NEXT_EVENT = """
INSERT INTO {items} (event_id, {subject_id}, endpoint_id, is_ordered, due_at, tries, refusals)
SELECT next.id, i.{subject_id}, i.endpoint_id, TRUE, %(at)s, 0, 0
FROM {items} i CROSS JOIN LATERAL ({next_event}) next
WHERE i.id = ANY(%(items)s)
""".replace("{next_event}", _NEXT_EVENT)  # nosec B608  # two constants


def write(outbox: Outbox, attempts: Sequence[tuple[LockedItem, Result]], *, at: datetime) -> dict[int, float | None]:
    """Write what has become of items that this transaction has locked; see `_write`."""
    rows = [
        {
            **_as_json(item.item_id, result),
            "state": item.state,
            "due_at": item.due_at,
            "tries": item.tries,
            "refusals": item.refusals,
            "first_refused_at": item.first_refused_at,
            "is_ordered": item.is_ordered,
        }
        for item, result in attempts
    ]
    written = _write(outbox, rows, at=at, lock=(_NAME_LOCKED, [[item.item_id for item, _result in attempts]]))
    poisoned = [item.item_id for item, _result in attempts if item.is_newly_poisoned]
    if poisoned:
        prepared.execute(outbox.sql(_ADD_NEXT_EVENT), {"items": poisoned, "at": at})
    return written


def _write(
    outbox: Outbox, rows: Sequence[Mapping[str, object]], *, at: datetime, lock: tuple[str, prepared.Parameters]
) -> dict[int, float | None]:
    """Insert an attempt for each request and update its event, of the items that the statement `lock` locks or names.

    Releases the items of pending events, and moves the others on to their subject's next event or deletes them. Returns
    the ids of the items whose requests were made; for events that the first attempt has sent, with the seconds from the
    change to the answer.
    """
    parameters = {
        "outcomes": json.dumps(rows, default=str),
        "at": at,
        "successes_since": at - _SUCCESS_RESOLUTION,
    }
    return dict(claims.execute_with_lock_timeout(lock, (outbox.sql(_WRITE), parameters)))


def _as_json(item_id: int, result: Result) -> dict[str, object]:
    return {
        "item_id": item_id,
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
