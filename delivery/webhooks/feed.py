"""The feed of the first endpoint's events: the same events as the webhooks, for callers that fetch them.

Every change is in it, also one that the endpoint's filter leaves out.

A caller reads on after the last position it has seen, so no event may get a lower position than one that was read
before. Neither ids nor moments ensure that: they are chosen before the commit, and a transaction that lasts longer
commits its event later. Therefore events have no position when they are written. Readers assign positions to committed
events, one reader of an endpoint at a time. Test events are not in the feed.
"""

from datetime import datetime, timedelta

from django.db import connection, transaction

from delivery.models import WebhookEndpoint, WebhookEvent

KEPT = timedelta(days=30)
# Events that one call assigns positions to.
_MOST_ASSIGNED = 1000
# The class of the advisory locks whose second key is the endpoint's id.
_LOCK_CLASS = 5_201_965
_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")

_TRY_LOCK = "SELECT pg_try_advisory_xact_lock(%s, %s)"

# `candidate`: the oldest events without a position and, should the clock have been set back, those before them in the
# same deliveries. An event that another transaction has locked, such as one whose result is being written, is left for
# the next call with the later ones of its delivery: waiting for it could deadlock. So the positions of a delivery's
# events ascend with their sequence: its events are written one after another, under the lock of the delivery's row, and
# a statement that sees the event of one transaction sees those of the transactions before it.
_ASSIGN = """
WITH oldest AS (
    SELECT delivery_id, sequence FROM delivery_webhookevent
    WHERE endpoint_id = %(endpoint)s AND feed_position IS NULL AND delivery_id IS NOT NULL AND copy_of IS NULL
      AND created_at >= %(since)s
    ORDER BY created_at LIMIT %(limit)s
), candidate AS (
    SELECT v.id, v.delivery_id, v.sequence, v.created_at
    FROM (SELECT delivery_id, max(sequence) AS last FROM oldest GROUP BY delivery_id) o
    JOIN delivery_webhookevent v
      ON v.delivery_id = o.delivery_id AND v.endpoint_id = %(endpoint)s AND v.sequence <= o.last
    WHERE v.feed_position IS NULL
), locked AS (
    SELECT id FROM delivery_webhookevent WHERE id IN (SELECT id FROM candidate) FOR NO KEY UPDATE SKIP LOCKED
), followed AS (
    SELECT c.id, c.delivery_id, c.sequence, max(c.created_at) OVER until_here AS moment,
           bool_and(l.id IS NOT NULL) OVER until_here AS is_free
    FROM candidate c LEFT JOIN locked l ON l.id = c.id
    WINDOW until_here AS (PARTITION BY c.delivery_id ORDER BY c.sequence)
), numbered AS (
    SELECT id, row_number() OVER (ORDER BY moment, delivery_id, sequence) AS number FROM followed WHERE is_free
), assigned AS (
    SELECT greatest(max(feed_position), %(now)s) AS last FROM delivery_webhookevent
    WHERE endpoint_id = %(endpoint)s AND feed_position IS NOT NULL
)
UPDATE delivery_webhookevent v SET feed_position = assigned.last + numbered.number
FROM numbered, assigned WHERE v.id = numbered.id
"""


def read(*, endpoint: WebhookEndpoint, after: int, limit: int, at: datetime) -> list[WebhookEvent]:
    """At most `limit` events whose positions are higher than `after`, in the order of their positions.

    These are the events that were recorded in the 30 days before `at`; a few that were read late can be older.
    """
    events = _page(endpoint, after, limit, at)
    if len(events) < limit and _assign(endpoint, at):
        events = _page(endpoint, after, limit, at)
    return events


def _page(endpoint: WebhookEndpoint, after: int, limit: int, at: datetime) -> list[WebhookEvent]:
    start = max(after, _microseconds(at - KEPT))
    found = WebhookEvent.objects.filter(endpoint=endpoint, feed_position__gt=start)
    return list(found.order_by("feed_position")[:limit])


@transaction.atomic
def _assign(endpoint: WebhookEndpoint, at: datetime) -> int:
    """Assign positions to committed events, and return to how many. None while another reader of the endpoint does.

    A position is the number of microseconds since 1970, so that the start of the 30 days is a position too, or more if
    that would not be higher than every position before.
    """
    with connection.cursor() as cursor:
        cursor.execute(_TRY_LOCK, [_LOCK_CLASS, endpoint.pk])
        if cursor.fetchone() != (True,):
            return 0
        cursor.execute(
            _ASSIGN,
            {"endpoint": endpoint.pk, "since": at - KEPT, "limit": _MOST_ASSIGNED, "now": _microseconds(at)},
        )
        count: int = cursor.rowcount
        return count


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)
