"""What came of the tries, written in batches: attempts, states, whose turn is next, and the endpoints' health."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection, transaction

from delivery import breaker
from delivery.models import EventState, OffBecause, WebhookEndpoint
from delivery.webhooks import queue, retry
from delivery.webhooks.queue import Claimed
from delivery.webhooks.sending import Result

_log = logging.getLogger(__name__)
_POISONED_AFTER = 3
# The last success of a healthy endpoint is written once a second, not once an event.
_SUCCESS_RESOLUTION = timedelta(seconds=1)
_GONE = 410
# Until an event that could not be sent for want of something of our own is looked at again.
_UNSENT_PAUSE = timedelta(seconds=60)


@dataclass
class _Held:
    """A turn that is still held under the lease it was claimed with."""

    turn_id: int
    lease: UUID
    event_id: UUID
    endpoint_id: int
    attempts_made: int
    tries: int
    refusals: int
    first_refused_at: datetime | None
    is_ordered: bool
    was_poisoned: bool
    # Whether a success is news of this endpoint.
    is_news: bool
    state: EventState = EventState.PENDING
    due_at: datetime | None = None
    is_poisoned: bool = False


_LOCK = """
SELECT t.id, t.lease, t.event_id, t.endpoint_id, v.attempts_made, t.tries, t.refusals, t.first_refused_at, t.is_ordered,
       t.delivery_id IS NOT NULL AND NOT t.is_ordered,
       e.failures > 0 OR e.last_success_at IS NULL OR e.last_success_at < %s
FROM unnest(%s::bigint[], %s::uuid[]) AS h(id, lease)
JOIN delivery_webhookturn t ON t.id = h.id AND t.lease = h.lease
JOIN delivery_webhookevent v ON v.id = t.event_id
JOIN delivery_webhookendpoint e ON e.id = t.endpoint_id
ORDER BY t.id FOR UPDATE OF t
"""


@transaction.atomic
def settle(outcomes: Sequence[tuple[Claimed, Result]], *, at: datetime) -> None:
    """Write what came of each try. One whose lease has passed to another worker is left to that worker.

    `outcomes` stand in the order in which they came about.
    """
    held = _lock_turns([claimed for claimed, _result in outcomes], at=at)
    tried = [(held[key], result) for claimed, result in outcomes if (key := (claimed.turn_id, claimed.lease)) in held]
    endpoints = _lock_endpoints({turn.endpoint_id for turn, result in tried if turn.is_news or not result.succeeded})
    before = {endpoint.pk: (endpoint.health, endpoint.enabled) for endpoint in endpoints.values()}
    for turn, result in tried:
        endpoint = endpoints.get(turn.endpoint_id)
        _judge(turn, result, last_success_at=endpoint.last_success_at if endpoint else None, at=at)
        if endpoint is not None and result.was_sent:
            _note(endpoint, result, counts=not turn.was_poisoned, at=at)
    _write_events([(turn, result) for turn, result in tried if result.was_sent])
    _write_turns([turn for turn, _result in tried], at=at)
    for endpoint in endpoints.values():
        _write_endpoint(endpoint, before[endpoint.pk], at=at)


def _lock_turns(claimed: Sequence[Claimed], *, at: datetime) -> dict[tuple[int, UUID], _Held]:
    with connection.cursor() as cursor:
        keys = [event.turn_id for event in claimed], [event.lease for event in claimed]
        cursor.execute(_LOCK, [at - _SUCCESS_RESOLUTION, *keys])
        return {(turn.turn_id, turn.lease): turn for turn in (_Held(*row) for row in cursor.fetchall())}


def _lock_endpoints(ids: set[int]) -> dict[int, WebhookEndpoint]:
    """Most batches bring no news of any endpoint: the healthy ones' last success is written once a second."""
    if not ids:
        return {}
    endpoints = WebhookEndpoint.objects.filter(pk__in=ids).order_by("pk").select_for_update(no_key=True)
    return {endpoint.pk: endpoint for endpoint in endpoints}


def _judge(turn: _Held, result: Result, *, last_success_at: datetime | None, at: datetime) -> None:
    """What becomes of the event: sent, to be tried again, given up, or poisoned and out of the others' way."""
    if not result.was_sent:
        turn.due_at = at + _UNSENT_PAUSE
        return
    turn.attempts_made += 1
    turn.tries += 1
    if result.succeeded:
        turn.state = EventState.SENT
        return
    turn.due_at = retry.next_attempt(tries=turn.tries, at=at, asked=retry.asked_pause(result.retry_after, at=at))
    if turn.due_at is None:
        turn.state = EventState.DEAD
    elif result.status_code is not None:
        turn.refusals += 1
        turn.first_refused_at = turn.first_refused_at or at
        takes_others = last_success_at is not None and last_success_at > turn.first_refused_at
        if turn.refusals >= _POISONED_AFTER and takes_others:
            turn.is_poisoned, turn.is_ordered = turn.is_ordered, False


def _note(endpoint: WebhookEndpoint, result: Result, *, counts: bool, at: datetime) -> None:
    """What it tells of the endpoint. `counts` is False for an event that it refuses while it takes others."""
    if result.succeeded:
        endpoint.health = breaker.after_success(endpoint.health, sent_at=result.at)
        return
    asked = retry.asked_pause(result.retry_after, at=at)
    if counts:
        endpoint.health = breaker.after_failure(endpoint.health, sent_at=result.at, at=at, asked=asked)
    if endpoint.enabled and result.status_code == _GONE:
        endpoint.switch_off(OffBecause.GONE, at=at)
    elif endpoint.enabled and endpoint.health.has_given_up(at=at):
        endpoint.switch_off(OffBecause.FAILING, at=at)


_EVENTS = """
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

_AGAIN = """
UPDATE delivery_webhookturn t
SET lease = NULL, due_at = u.due_at, tries = u.tries, refusals = u.refusals, first_refused_at = u.first_refused_at,
    is_ordered = u.is_ordered
FROM unnest(%s::bigint[], %s::timestamptz[], %s::int[], %s::int[], %s::timestamptz[], %s::boolean[])
     AS u(id, due_at, tries, refusals, first_refused_at, is_ordered)
WHERE t.id = u.id
"""

# The delivery's first event that waits and has no turn of its own.
_NEXT = """
SELECT v.id FROM delivery_webhookevent v
WHERE v.delivery_id = t.delivery_id AND v.state = 'pending'
  AND NOT EXISTS (SELECT FROM delivery_webhookturn o WHERE o.event_id = v.id)
ORDER BY v.sequence LIMIT 1
"""

_PASS_ON = f"""
WITH done AS (
    SELECT t.id, next.id AS event_id
    FROM delivery_webhookturn t LEFT JOIN LATERAL ({_NEXT}) next ON t.is_ordered
    WHERE t.id = ANY(%(turns)s)
), moved AS (
    UPDATE delivery_webhookturn t
    SET event_id = done.event_id, due_at = %(at)s, tries = 0, refusals = 0, first_refused_at = NULL, lease = NULL
    FROM done WHERE t.id = done.id AND done.event_id IS NOT NULL
)
DELETE FROM delivery_webhookturn t USING done WHERE t.id = done.id AND done.event_id IS NULL
"""  # noqa: S608  # nosec B608  # made of constants

_LET_PASS = f"""
INSERT INTO delivery_webhookturn (event_id, delivery_id, endpoint_id, is_ordered, due_at, tries, refusals)
SELECT next.id, t.delivery_id, t.endpoint_id, TRUE, %(at)s, 0, 0
FROM delivery_webhookturn t CROSS JOIN LATERAL ({_NEXT}) next
WHERE t.id = ANY(%(turns)s)
"""  # noqa: S608  # nosec B608  # likewise


def _write_events(tried: Sequence[tuple[_Held, Result]]) -> None:
    rows = [
        (
            turn.event_id, turn.attempts_made, turn.state, result.at, result.milliseconds, result.status_code,
            result.error, result.response_start,
        )
        for turn, result in tried
    ]  # fmt: skip  # a row reads better in two lines than in eight
    _for_all(_EVENTS, rows)


def _write_turns(turns: Sequence[_Held], *, at: datetime) -> None:
    again = [turn for turn in turns if turn.state == EventState.PENDING]
    _for_all(
        _AGAIN,
        [(t.turn_id, t.due_at, t.tries, t.refusals, t.first_refused_at, t.is_ordered) for t in again],
    )
    done = [turn.turn_id for turn in turns if turn.state != EventState.PENDING]
    poisoned = [turn.turn_id for turn in again if turn.is_poisoned]
    with connection.cursor() as cursor:
        if done:
            cursor.execute(_PASS_ON, {"turns": done, "at": at})
        if poisoned:
            cursor.execute(_LET_PASS, {"turns": poisoned, "at": at})


def _for_all(statement: str, rows: Sequence[tuple[object, ...]]) -> None:
    """Run a statement that takes its rows as one array for each column."""
    if rows:
        with connection.cursor() as cursor:
            cursor.execute(statement, [list(column) for column in zip(*rows, strict=True)])


def _write_endpoint(endpoint: WebhookEndpoint, known: tuple[breaker.Health, bool], *, at: datetime) -> None:
    before, was_enabled = known
    health = endpoint.health
    if (health, endpoint.enabled) == (before, was_enabled):  # fenced off, or nothing new
        return
    endpoint.save(
        update_fields=[
            "failures", "failing_since", "paused_until", "last_success_at", "enabled", "off_because", "off_since",
        ]
    )  # fmt: skip  # a list of names
    if before.is_open and not health.is_open:
        _log.info("webhook endpoint %s takes events again", endpoint.pk)
        queue.bring_forward(endpoint_id=endpoint.pk, at=at)
    elif health.is_open and not before.is_open:
        _log.warning("webhook endpoint %s failed %s times in a row", endpoint.pk, health.failures)
    if was_enabled and not endpoint.enabled:
        _log.warning("webhook endpoint %s switched off: %s", endpoint.pk, endpoint.get_off_because_display())
