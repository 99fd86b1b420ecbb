"""What has to be true in the database after the simulated day, whatever was lost, repeated or out of order."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from django.db import connection

from benchmarks.day_phones import Tally
from common import invariants
from delivery.invariants import ALL
from delivery.models import ArrivalEstimate, DriverMove, DriverPosition, WebhookQueueItem

# What is true after such a day beside what is always true, the table that it is about, and a query that counts what
# breaks it.
_INVARIANTS = (
    (
        "deliveries are closed, with the moment",
        "delivery_delivery",
        """
        SELECT count(*) FROM delivery_delivery
        WHERE route_status NOT IN ('FINISHED', 'CANCELLED', 'EXPIRED') OR closed_at IS NULL""",
    ),
    (
        "stops are closed",
        "delivery_stop",
        "SELECT count(*) FROM delivery_stop WHERE status NOT IN ('DELIVERED', 'FAILED')",
    ),
    (
        "deliveries were accepted once, by one driver",
        "delivery_delivery",
        """
        SELECT count(*) FROM delivery_delivery d
        WHERE (SELECT count(*) FROM delivery_transition t WHERE t.delivery_id = d.id AND t.trigger = 'accept')
              <> (d.driver_id IS NOT NULL)::int""",
    ),
    (
        "routes of a driver do not overlap",
        "delivery_delivery",
        """
        SELECT count(*) FROM (
            SELECT accepted.at, lag(d.closed_at) OVER (PARTITION BY d.driver_id ORDER BY accepted.at) AS before
            FROM delivery_delivery d JOIN delivery_transition accepted
                ON accepted.delivery_id = d.id AND accepted.trigger = 'accept') AS routes
        WHERE at < before""",
    ),
    (
        "moments of transitions are in their order, none made after its record",
        "delivery_transition",
        """
        SELECT count(*) FROM (
            SELECT at, made_at, lag(at) OVER (PARTITION BY delivery_id ORDER BY id) AS before
            FROM delivery_transition) AS transitions
        WHERE at < before OR made_at > at""",
    ),
    ("events were sent", "delivery_webhookevent", "SELECT count(*) FROM delivery_webhookevent WHERE state <> 'sent'"),
    (
        "moves of drivers in the history have a report that was done",
        "delivery_transition",
        """
        SELECT count(*) FROM delivery_transition t
        WHERE t.trigger IN ('collect', 'deliver', 'fail', 'return')
          AND NOT EXISTS (SELECT FROM delivery_drivermove m JOIN delivery_delivery d ON d.id = m.delivery_id
                          WHERE m.delivery_id = t.delivery_id AND m.trigger = t.trigger AND m.point = t.point
                            AND m.refusal = '' AND m.driver_id = d.driver_id)""",
    ),
    (
        "delivered stops have the PIN and the photo that were asked for",
        "delivery_dropoffoptions",
        """
        SELECT count(*) FROM delivery_dropoffoptions o JOIN delivery_stop s ON s.id = o.stop_id
            LEFT JOIN delivery_stopproof p ON p.stop_id = s.id
        WHERE s.status = 'DELIVERED' AND (
            o.pin_ciphertext <> '' AND p.pin_confirmed_at IS NULL
            OR o.needs_photo AND NOT EXISTS (SELECT FROM delivery_proofphoto WHERE stop_id = s.id))""",
    ),
    ("arrival times are deleted", "delivery_stop", "SELECT count(*) FROM delivery_arrivalestimate"),
)
_OFF_DUTY = """
SELECT count(*) FROM delivery_driverposition p
WHERE NOT EXISTS (SELECT FROM unnest(%s::uuid[], %s::timestamptz[], %s::timestamptz[]) AS duty (driver, since, until)
                  WHERE duty.driver = p.driver_id AND p.recorded_at BETWEEN duty.since AND duty.until)
"""


class InvariantBroken(Exception):
    """Something that must not happen has happened."""


class Finding(NamedTuple):
    """How many rows or reports were examined, and how many of them break what is true of all."""

    what: str
    examined: int
    broken: int


def examine(tally: Tally) -> list[Finding]:
    """All invariants."""
    return [
        *(Finding(what, _scalar(f"SELECT count(*) FROM {table}"), _scalar(sql)) for what, table, sql in _INVARIANTS),
        *(_always(found) for found in invariants.examine(ALL, most_ids=0)),
        Finding("positions are from times on duty", DriverPosition.objects.count(), _off_duty(tally)),
        Finding("positions are as many as phones were told", tally.kept_positions, _missing_positions(tally)),
        Finding("reports have one outcome, that of the database", len(tally.outcomes), _other_outcomes(tally)),
    ]


def _always(found: invariants.Finding) -> Finding:
    return Finding(found.what, found.examined or 0, 0 if found.holds else found.broken or 1)


def refuse(findings: Iterable[Finding]) -> None:
    """Raises InvariantBroken, naming what is broken."""
    if broken := [finding.what for finding in findings if finding.broken]:
        raise InvariantBroken("; ".join(broken))


def workers_have_work() -> bool:
    """Whether webhooks are waiting, or arrival times of routes that have ended are there."""
    return WebhookQueueItem.objects.exists() or ArrivalEstimate.objects.exists()


def _off_duty(tally: Tally) -> int:
    drivers, since, until = zip(*tally.duties, strict=True)
    return _scalar(_OFF_DUTY, [list(drivers), list(since), list(until)])


def _missing_positions(tally: Tally) -> int:
    return abs(DriverPosition.objects.count() - tally.kept_positions)


def _other_outcomes(tally: Tally) -> int:
    kept = {
        str(report): {(not refusal, refusal)} for report, refusal in DriverMove.objects.values_list("report", "refusal")
    }
    return sum(outcomes != kept.get(report) for report, outcomes in tally.outcomes.items())


def _scalar(sql: str, parameters: Sequence[Any] = ()) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        (count,) = cursor.fetchone()
    return int(count)
