"""The feed of the first endpoint's events: the same events as the webhooks, for callers that fetch them.

Every change is in it, also one that the endpoint's filter leaves out.

A caller may begin at a moment, or ask for the events of some subjects. Those that nobody has read until then get their
positions first, and the earlier ones of others when somebody asks for them: still none is left out, and those of a
subject ascend.

A caller reads on after the last position it has seen, so no event may get a lower position than one that was read
before. Neither ids nor moments ensure that: they are chosen before the commit, and a transaction that lasts longer
commits its event later. Therefore events have no position when they are written. Readers assign positions to committed
events, one reader of an endpoint at a time. Test events are not in the feed.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db import connection, transaction
from django.db.models import DateTimeField, ExpressionWrapper, F

from common.api import pagination
from common.fields import any_of
from common.webhooks.models import Endpoint, Event
from common.webhooks.outbox import outbox_of

KEPT = timedelta(days=30)
# Events that one call assigns positions to.
_MOST_ASSIGNED = 1000
# An event's position is that of the moment at which it was read first, which is later than its own as long as the
# clocks of the machines differ by less than this.
_CLOCKS_DIFFER = timedelta(hours=1)
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


_ASSIGN_OF_SUBJECTS = _ASSIGN.replace(
    "created_at >= %(since)s", "created_at >= %(since)s AND {subject_id} = ANY(%(subjects)s)"
)


@dataclass(frozen=True)
class Selection:
    """Which events a caller asks for: those from a moment on, and those of the subjects with these keys."""

    since: datetime | None = None
    subjects: Sequence[Any] | None = None


_ALL = Selection()


def read(*, endpoint: Endpoint, after: int, limit: int, at: datetime, selection: Selection = _ALL) -> list[Event]:
    """At most `limit` events whose positions are higher than `after`, in the order of their positions.

    These are the events that were recorded in the 30 days before `at`; a few that were read late can be older.
    """
    events = _page(endpoint, after, limit, at, selection)
    if len(events) < limit and _assign(endpoint, at, selection):
        events = _page(endpoint, after, limit, at, selection)
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
    selection: Selection = _ALL,
) -> str:
    """A page of the feed as JSON. Raises InvalidCursor.

    `cursor`: `nextCursor` of the page before, or an empty text. It keeps the moment of the selection, and replaces that
    of another one; the subjects are a part of the scope. `written` is a moment as the area writes it, `begin` what
    stands before `data`. The body of an event is inserted as it is stored, so that it has the bytes that the webhook
    carries.
    """
    after, since = _position(cursor, scope) if cursor else (0, selection.since)
    if since is not None:
        since = max(since, at - KEPT)
        after = max(after, _microseconds(since - _CLOCKS_DIFFER))
    selection = replace(selection, since=since)
    events = read(endpoint=endpoint, after=after, limit=limit, at=at, selection=selection)
    position = events[-1].feed_position if events else after
    items = ",".join(_item(event, written) for event in events)
    kept = position if since is None else [position, _microseconds(since)]
    following = json.dumps(pagination.cursor_at(kept, scope=scope))
    return f'{{{begin}"data":[{items}],"nextCursor":{following}}}'


def _position(cursor: str, scope: list[str]) -> tuple[int, datetime | None]:
    """The position of a cursor, and the moment at which its reader began, if the reader chose one."""
    kept = pagination.read_cursor(cursor, scope=scope)
    if isinstance(kept, int):
        return kept, None
    after, since = kept
    return after, _EPOCH + timedelta(microseconds=since)


def _item(event: Event, written: Callable[[datetime], str]) -> str:
    facts = {
        "id": str(event.pk),
        "sequence": event.sequence,
        "createdAt": written(event.created_at),
        "sentAt": written(event.sent_at) if event.sent_at else None,
        "state": event.state,
    }
    return f'{json.dumps(facts)[:-1]}, "body": {event.body}}}'


def _page(endpoint: Endpoint, after: int, limit: int, at: datetime, selection: Selection = _ALL) -> list[Event]:
    outbox, start = outbox_of(type(endpoint)), max(after, _microseconds(at - KEPT))
    own = outbox.events._default_manager.filter(endpoint=endpoint)
    found = own.filter(feed_position__gt=start)
    if selection.since is not None:
        # Of an expression, which has no index: PostgreSQL would read all events from the moment on, to sort them.
        moment = ExpressionWrapper(F("created_at") + timedelta(0), DateTimeField())
        found = found.alias(moment=moment).filter(moment__gte=selection.since)
    if selection.subjects is not None:
        # By the index of the subjects: PostgreSQL might read all events from `start` on for them.
        of_subjects = own.filter(**{f"{outbox.subject}__in": selection.subjects})
        found = found.filter(any_of("pk", ArraySubquery(of_subjects.values("pk"))))
    return list(found.order_by("feed_position")[:limit])


@transaction.atomic
def _assign(endpoint: Endpoint, at: datetime, selection: Selection) -> int:
    """Assign positions to committed events, and return to how many. None while another reader of the endpoint does.

    To those of the selection, and to the earlier ones of the same subjects.

    A position is the number of microseconds since 1970, so that the start of the 30 days is a position too, or more if
    that would not be higher than every position before.
    """
    outbox = outbox_of(type(endpoint))
    since = selection.since or at - KEPT
    with connection.cursor() as cursor:
        cursor.execute(outbox.sql(_TRY_LOCK), [endpoint.pk])
        if cursor.fetchone() != (True,):
            return 0
        outbox.record_rest(endpoint, since, selection.subjects)
        subjects = None if selection.subjects is None else [*selection.subjects]
        cursor.execute(
            outbox.sql(_ASSIGN if subjects is None else _ASSIGN_OF_SUBJECTS),
            {
                "endpoint": endpoint.pk,
                "since": since,
                "subjects": subjects,
                "limit": _MOST_ASSIGNED,
                "now": _microseconds(at),
            },
        )
        count: int = cursor.rowcount
        return count


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)
