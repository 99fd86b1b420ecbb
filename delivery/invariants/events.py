"""The outbox: each transition has its event, each event its attempts, and what waits is in the queue."""

from common.invariants import Invariant

# Attempts are deleted after 30 days, within an hour.
_ATTEMPTS_ARE_THERE = "now() - interval '29 days'"

ALL = (
    Invariant(
        "event_sequences_have_no_gap",
        "deliveries have the events 1, 2, 3 … up to the last",
        "delivery_webhookevent",
        """
        SELECT d.id FROM delivery_delivery d
        LEFT JOIN (SELECT delivery_id, count(*) AS events, count(DISTINCT sequence) AS sequences,
                          min(sequence) AS first, max(sequence) AS last
                   FROM delivery_webhookevent GROUP BY delivery_id) e ON e.delivery_id = d.id
        WHERE (e.first, e.last, e.events, e.sequences) IS DISTINCT FROM
              (1, d.last_sequence, d.last_sequence::bigint, d.last_sequence::bigint)""",
    ),
    Invariant(
        "transition_has_its_event",
        "the request and each later transition have their event, with the status that they led to",
        "delivery_transition",
        """
        SELECT d.id FROM delivery_delivery d
        WHERE (SELECT array_agg(t.status ORDER BY t.id) FROM delivery_transition t WHERE t.delivery_id = d.id)
              IS DISTINCT FROM
              (SELECT array_agg(e.name ORDER BY e.sequence) FROM delivery_webhookevent e WHERE e.delivery_id = d.id)""",
    ),
    Invariant(
        "event_of_its_account",
        "events are for the endpoint of the delivery's account and environment",
        "delivery_webhookevent",
        """
        SELECT e.id FROM delivery_webhookevent e
        JOIN delivery_delivery d ON d.id = e.delivery_id JOIN delivery_webhookendpoint p ON p.id = e.endpoint_id
        WHERE (p.integrator_id, p.environment) <> (d.integrator_id, d.environment)""",
    ),
    Invariant(
        "event_has_the_price",
        "events name the delivery's price",
        "delivery_webhookevent",
        """
        SELECT e.id FROM delivery_webhookevent e JOIN delivery_delivery d ON d.id = e.delivery_id
        WHERE substring(e.body FROM '"fixedValue": ?([0-9.]+)')::numeric IS DISTINCT FROM d.shipping_value""",
    ),
    Invariant(
        "sent_event_has_its_attempt",
        "events that were received have a moment and, while attempts are kept, one that was answered with 2xx",
        "delivery_webhookevent",
        f"""
        SELECT e.id FROM delivery_webhookevent e
        WHERE e.state = 'sent' AND (
            e.sent_at IS NULL OR e.attempts_made < 1
            OR (e.sent_at > {_ATTEMPTS_ARE_THERE} AND NOT EXISTS (
                    SELECT FROM delivery_webhookattempt a
                    WHERE a.event_id = e.id AND a.status_code BETWEEN 200 AND 299)))
        """,  # noqa: S608  # nosec B608  # constants
    ),
    Invariant(
        "attempts_are_counted",
        "attempts have the numbers 1, 2, 3 … up to the event's count",
        "delivery_webhookattempt",
        f"""
        SELECT e.id FROM delivery_webhookevent e
        JOIN (SELECT event_id, count(*) AS attempts, min(number) AS first, max(number) AS last, max(at) AS at
              FROM delivery_webhookattempt GROUP BY event_id) a ON a.event_id = e.id
        WHERE a.first < 1 OR a.attempts <> a.last - a.first + 1 OR a.last <> e.attempts_made
           OR (a.first > 1 AND e.created_at > {_ATTEMPTS_ARE_THERE})""",  # noqa: S608  # nosec B608  # constants
    ),
    Invariant(
        "pending_event_is_in_the_queue",
        "events that wait are in the queue, or behind an event of their delivery that is",
        "delivery_webhookevent",
        """
        SELECT e.id FROM delivery_webhookevent e
        WHERE e.state = 'pending'
          AND NOT EXISTS (SELECT FROM delivery_webhookqueueitem i WHERE i.event_id = e.id)
          AND NOT EXISTS (SELECT FROM delivery_webhookqueueitem i WHERE i.delivery_id = e.delivery_id AND i.is_ordered)
        """,
    ),
    Invariant(
        "queue_item_of_a_pending_event",
        "queue items are of events that wait, for the same delivery and endpoint",
        "delivery_webhookqueueitem",
        """
        SELECT i.id FROM delivery_webhookqueueitem i JOIN delivery_webhookevent e ON e.id = i.event_id
        WHERE e.state <> 'pending' OR e.endpoint_id <> i.endpoint_id OR e.delivery_id IS DISTINCT FROM i.delivery_id""",
    ),
    Invariant(
        "feed_positions_ascend",
        "positions in the feed ascend with the events of a delivery",
        "delivery_webhookevent WHERE feed_position IS NOT NULL",
        """
        SELECT id FROM (
            SELECT id, feed_position, lag(feed_position) OVER (PARTITION BY delivery_id ORDER BY sequence) AS before
            FROM delivery_webhookevent WHERE feed_position IS NOT NULL AND delivery_id IS NOT NULL) AS positions
        WHERE feed_position <= before""",
    ),
)
