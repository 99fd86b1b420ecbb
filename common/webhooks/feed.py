"""The feed of the first endpoint's events: the same events as the webhooks, for callers that fetch them.

Every change is in it, also one that the endpoint's filter leaves out.

A caller reads on after the last position it has seen, so no event may get a lower position than one that was read
before. Neither ids nor moments ensure that: they are chosen before the commit, and a transaction that lasts longer
commits its event later. Therefore events have no position when they are written. Readers assign positions to committed
events, one reader of an endpoint at a time. Test events are not in the feed.
"""

import json
from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import connection, transaction

from common.api import pagination
from common.webhooks.models import Endpoint, Event
from common.webhooks.outbox import outbox_of

KEPT = timedelta(days=30)
# Events that one call assigns positions to.
_MOST_ASSIGNED = 1000
_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")

# The first key is that of the table, because endpoints of two areas can have the same id.
_TRY_LOCK = "SELECT pg_try_advisory_xact_lock('{endpoints}'::regclass::oid::int, %s)"

# `candidate`: the oldest events without a position and, should the clock have been set back, those before them in the
# same subjects. An event that another transaction has locked, such as one whose result is being written, is left for
# the next call with the later ones of its subject: waiting for it could deadlock. So the positions of a subject's
# events ascend with their sequence: its events are written one after another, under the lock of the subject's row, and
# a statement that sees the event of one transaction sees those of the transactions before it.
_ASSIGN = """
WITH oldest AS (
    SELECT {subject_id}, sequence FROM {events}
    WHERE endpoint_id = %(endpoint)s AND feed_position IS NULL AND {subject_id} IS NOT NULL AND copy_of IS NULL
      AND created_at >= %(since)s
    ORDER BY created_at LIMIT %(limit)s
), candidate AS (
    SELECT v.id, v.{subject_id}, v.sequence, v.created_at
    FROM (SELECT {subject_id}, max(sequence) AS last FROM oldest GROUP BY {subject_id}) o
    JOIN {events} v
      ON v.{subject_id} = o.{subject_id} AND v.endpoint_id = %(endpoint)s AND v.sequence <= o.last
    WHERE v.feed_position IS NULL
), locked AS (
    SELECT id FROM {events} WHERE id IN (SELECT id FROM candidate) FOR NO KEY UPDATE SKIP LOCKED
), followed AS (
    SELECT c.id, c.{subject_id}, c.sequence, max(c.created_at) OVER until_here AS moment,
           bool_and(l.id IS NOT NULL) OVER until_here AS is_free
    FROM candidate c LEFT JOIN locked l ON l.id = c.id
    WINDOW until_here AS (PARTITION BY c.{subject_id} ORDER BY c.sequence)
), numbered AS (
    SELECT id, row_number() OVER (ORDER BY moment, {subject_id}, sequence) AS number FROM followed WHERE is_free
), assigned AS (
    SELECT greatest(max(feed_position), %(now)s) AS last FROM {events}
    WHERE endpoint_id = %(endpoint)s AND feed_position IS NOT NULL
)
UPDATE {events} v SET feed_position = assigned.last + numbered.number
FROM numbered, assigned WHERE v.id = numbered.id
"""


def read(*, endpoint: Endpoint, after: int, limit: int, at: datetime) -> list[Event]:
    """At most `limit` events whose positions are higher than `after`, in the order of their positions.

    These are the events that were recorded in the 30 days before `at`; a few that were read late can be older.
    """
    events = _page(endpoint, after, limit, at)
    if len(events) < limit and _assign(endpoint, at):
        events = _page(endpoint, after, limit, at)
    return events


def page(
    *,
    endpoint: Endpoint,
    cursor: str,
    scope: list[str],
    limit: int,
    at: datetime,
    written: Callable[[datetime], str],
    begin: str = "",
) -> str:
    """A page of the feed as JSON. Raises InvalidCursor.

    `cursor`: `nextCursor` of the page before, or an empty text. `written` is a moment as the area writes it, `begin`
    what stands before `data`. The body of an event is inserted as it is stored, so that it has the bytes that the
    webhook carries.
    """
    after: int = pagination.read_cursor(cursor, scope=scope) if cursor else 0
    events = read(endpoint=endpoint, after=after, limit=limit, at=at)
    position = events[-1].feed_position if events else after
    items = ",".join(_item(event, written) for event in events)
    following = json.dumps(pagination.cursor_at(position, scope=scope))
    return f'{{{begin}"data":[{items}],"nextCursor":{following}}}'


def _item(event: Event, written: Callable[[datetime], str]) -> str:
    facts = {
        "id": str(event.pk),
        "sequence": event.sequence,
        "createdAt": written(event.created_at),
        "sentAt": written(event.sent_at) if event.sent_at else None,
        "state": event.state,
    }
    return f'{json.dumps(facts)[:-1]}, "body": {event.body}}}'


def _page(endpoint: Endpoint, after: int, limit: int, at: datetime) -> list[Event]:
    start = max(after, _microseconds(at - KEPT))
    found = outbox_of(type(endpoint)).events._default_manager.filter(endpoint=endpoint, feed_position__gt=start)
    return list(found.order_by("feed_position")[:limit])


@transaction.atomic
def _assign(endpoint: Endpoint, at: datetime) -> int:
    """Assign positions to committed events, and return to how many. None while another reader of the endpoint does.

    A position is the number of microseconds since 1970, so that the start of the 30 days is a position too, or more if
    that would not be higher than every position before.
    """
    outbox = outbox_of(type(endpoint))
    with connection.cursor() as cursor:
        cursor.execute(outbox.sql(_TRY_LOCK), [endpoint.pk])
        if cursor.fetchone() != (True,):
            return 0
        outbox.record_rest(endpoint, at - KEPT)
        cursor.execute(
            outbox.sql(_ASSIGN),
            {"endpoint": endpoint.pk, "since": at - KEPT, "limit": _MOST_ASSIGNED, "now": _microseconds(at)},
        )
        count: int = cursor.rowcount
        return count


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)
