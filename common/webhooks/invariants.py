"""What is always true of the tables of webhooks, whatever an area's events are about."""

from common.postgresql.invariants import Invariant

# Attempts are deleted after 30 days, within an hour.
_ATTEMPTS_ARE_THERE = "now() - interval '29 days'"


def of_webhooks(app: str, *, subject: str, owner: str, prefix: str = "") -> tuple[Invariant, ...]:
    """`app`: the label of the area's models. `prefix`: of the names, which differ between areas."""
    return (
        Invariant(
            f"{prefix}event_of_its_account",
            f"events are for the endpoints of the {subject}'s {owner} and environment, copies for further ones",
            f"""
            SELECT e.id FROM {app}_webhookevent e
            JOIN {app}_{subject} s ON s.id = e.{subject}_id JOIN {app}_webhookendpoint p ON p.id = e.endpoint_id
            WHERE (p.{owner}_id, p.environment) <> (s.{owner}_id, s.environment)
               OR (e.copy_of IS NULL) <> (p.number IS NOT DISTINCT FROM 1)""",  # noqa: S608  # nosec B608  # constants
        ),
        Invariant(
            f"{prefix}copy_has_its_event",
            "events for further endpoints have the id and the contents of the event for the first one",
            f"""
            SELECT c.id FROM {app}_webhookevent c LEFT JOIN {app}_webhookevent e ON e.id = c.copy_of
            WHERE c.copy_of IS NOT NULL
              AND (e.{subject}_id, e.sequence, e.name, e.body)
                  IS DISTINCT FROM (c.{subject}_id, c.sequence, c.name, c.body)""",  # noqa: S608  # nosec B608  # constants
        ),
        Invariant(
            f"{prefix}sent_event_has_its_attempt",
            "events that were received have a moment and, while attempts are kept, one that was answered with 2xx",
            f"""
            SELECT e.id FROM {app}_webhookevent e
            WHERE e.state = 'sent' AND (
                e.sent_at IS NULL OR e.attempts_made < 1
                OR (e.sent_at > {_ATTEMPTS_ARE_THERE} AND NOT EXISTS (
                        SELECT FROM {app}_webhookattempt a
                        WHERE a.event_id = e.id AND a.status_code BETWEEN 200 AND 299)))""",  # noqa: S608  # nosec B608  # constants
        ),
        Invariant(
            f"{prefix}attempts_are_counted",
            "attempts have the numbers 1, 2, 3 … up to the event's count",
            f"""
            SELECT e.id FROM {app}_webhookevent e
            JOIN (SELECT event_id, count(*) AS attempts, min(number) AS first, max(number) AS last, max(at) AS at
                  FROM {app}_webhookattempt GROUP BY event_id) a ON a.event_id = e.id
            WHERE a.first < 1 OR a.attempts <> a.last - a.first + 1 OR a.last <> e.attempts_made
               OR (a.first > 1 AND e.created_at > {_ATTEMPTS_ARE_THERE})""",  # noqa: S608  # nosec B608  # constants
        ),
        Invariant(
            f"{prefix}pending_event_is_in_the_queue",
            f"events that wait are in the queue, or behind an event of their {subject} and endpoint that is",
            f"""
            SELECT e.id FROM {app}_webhookevent e
            WHERE e.state = 'pending'
              AND NOT EXISTS (SELECT FROM {app}_webhookqueueitem i WHERE i.event_id = e.id)
              AND NOT EXISTS (SELECT FROM {app}_webhookqueueitem i
                              WHERE (i.{subject}_id, i.endpoint_id) = (e.{subject}_id, e.endpoint_id)
                                AND i.is_ordered)""",  # noqa: S608  # nosec B608  # constants
        ),
        Invariant(
            f"{prefix}queue_item_of_a_pending_event",
            f"queue items are of events that wait, for the same {subject} and endpoint",
            f"""
            SELECT i.id FROM {app}_webhookqueueitem i JOIN {app}_webhookevent e ON e.id = i.event_id
            WHERE e.state <> 'pending' OR e.endpoint_id <> i.endpoint_id
               OR e.{subject}_id IS DISTINCT FROM i.{subject}_id""",  # noqa: S608  # nosec B608  # constants
        ),
        Invariant(
            f"{prefix}feed_positions_ascend",
            f"positions in the feed ascend with the events of a {subject}",
            f"""
            SELECT id FROM (
                SELECT id, feed_position,
                       lag(feed_position) OVER (PARTITION BY {subject}_id ORDER BY sequence) AS before
                FROM {app}_webhookevent WHERE feed_position IS NOT NULL AND {subject}_id IS NOT NULL) AS positions
            WHERE feed_position <= before""",  # noqa: S608  # nosec B608  # constants
        ),
    )
