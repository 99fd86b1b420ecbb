"""Positions that phones send, received from several phones by two statements.

They are what phones send most often. Where anything is not as usual, `devices.receive_positions` receives them, which
locks what it reads.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from io import BytesIO
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings

from common import credentials
from common.api.authentication import USE_RESOLUTION
from common.api.json_body import BodyTooLarge
from common.pages.device_data import InvalidDeviceData, read_content
from common.pages.page_updates import publish_on_commit
from common.postgresql import prepared
from common.workers import moments
from delivery import lifecycle, looks, page_updates
from delivery.drivers import phone_data
from delivery.drivers.devices import LONGEST_TEXT, count_on_commit
from delivery.geo.distance import Point
from delivery.geo.position_filter import Limits, Reason, SentPosition, plausible
from delivery.models.bases import quoted

# Phones that may send, and the position that the next ones are compared with. No row where something is not as usual.
_SENDERS = f"""
SELECT device.digest, device.id, device.last_used_at, driver.id, driver.environment, latest.recorded_at,
    route.updated_at, (
        SELECT max(note.written_at) FROM delivery_stop stop JOIN delivery_receivernote note ON note.stop_id = stop.id
        WHERE stop.delivery_id = route.id
    ), route.id, route.integrator_id, route.environment,
    last.latitude, last.longitude, last.recorded_at, last.accuracy_m, last.told_at
FROM delivery_driverdevice device
JOIN delivery_driver driver ON driver.id = device.driver_id
JOIN delivery_latestposition latest ON latest.driver_id = driver.id
CROSS JOIN LATERAL (
    SELECT latitude, longitude, recorded_at, accuracy_m, told_at FROM delivery_driverposition
    WHERE driver_id = driver.id ORDER BY recorded_at DESC LIMIT 1
) last
LEFT JOIN delivery_delivery route ON route.driver_id = driver.id AND route.route_status IN ({quoted(lifecycle.HELD)})
WHERE device.digest = ANY(%(digests)s::bytea[]) AND device.revoked_at IS NULL AND device.expires_at > %(at)s
    AND device.reports_positions AND driver.active AND (driver.on_duty OR route.id IS NOT NULL)
"""  # noqa: S608  # nosec B608  # constants
# Leaves out the drivers of whom other positions were recorded since `_SENDERS`, and returns the others: who waits for
# the lock reads the moment anew. In the order of the drivers, so that no two statements wait for each other.
_STORE = """
WITH asked AS (
    SELECT * FROM unnest(
        %(drivers)s::uuid[], %(latest)s::timestamptz[], %(devices)s::uuid[], %(dropped)s::int[], %(used)s::timestamptz[]
    ) AS asked (driver_id, recorded_at, device_id, dropped, used_at)
), turn AS (
    SELECT driver_id FROM delivery_latestposition latest JOIN asked USING (driver_id, recorded_at)
    ORDER BY driver_id FOR NO KEY UPDATE OF latest
), stored AS (
    INSERT INTO delivery_driverposition
        (driver_id, latitude, longitude, recorded_at, accuracy_m, told_at, recorded_by)
    SELECT sent.*, 'driver ' || driver.name
    FROM unnest(
        %(senders)s::uuid[], %(latitudes)s::float8[], %(longitudes)s::float8[], %(moments)s::timestamptz[],
        %(accuracies)s::float8[], %(told)s::timestamptz[]
    ) AS sent (driver_id)
    JOIN turn USING (driver_id) JOIN delivery_driver driver ON driver.id = turn.driver_id
), phones AS (
    UPDATE delivery_driverdevice device
    SET dropped_positions = dropped_positions + asked.dropped, last_used_at = COALESCE(asked.used_at, last_used_at)
    FROM asked JOIN turn USING (driver_id)
    WHERE device.id = asked.device_id AND (asked.dropped > 0 OR asked.used_at IS NOT NULL)
)
SELECT driver_id FROM turn
"""


class Sent(NamedTuple):
    """The session of a phone, and the body of its request."""

    session: str
    content: bytes


class _Sender(NamedTuple):
    device: UUID
    last_used_at: datetime | None
    driver: UUID
    environment: str
    latest: datetime
    route_version: str | None
    route: tuple[UUID, UUID, str]  # three times None without one
    last: SentPosition

    @property
    def topics(self) -> list[str]:
        """Of the pages that show where the driver is."""
        board = page_updates.board(self.environment)
        route, account, environment = self.route
        return [board, page_updates.account(account, environment)] if route else [board]

    def used_at(self, at: datetime) -> datetime | None:
        """When the phone was used, if it is time to record it."""
        is_known = self.last_used_at is not None and at - self.last_used_at < USE_RESOLUTION
        return None if is_known else at


class _Report(NamedTuple):
    sender: _Sender
    kept: list[SentPosition]
    dropped: Counter[Reason]


def receive(sent: Sequence[Sent], *, at: datetime) -> list[dict[str, Any] | None]:
    """Record what can be true of the positions of several phones, as `devices.receive_positions` does.

    Returns the answers; None, having changed nothing, where that one has to receive them.
    """
    digests = [credentials.digest(each.session) if len(each.session) <= LONGEST_TEXT else b"" for each in sent]
    first = {digest: each.content for digest, each in zip(reversed(digests), reversed(sent), strict=True)}
    limits = Limits(settings.SERVICE_AREA, settings.DRIVER_MAX_SPEED_KMH)
    reports = {}
    for digest, sender in _senders(first, at):
        report = _judged(sender, first[digest], limits, at)
        if report is not None:
            reports[digest] = report
    stored = _store(list(reports.values()), at)
    done = {digest: report for digest, report in reports.items() if report.sender.driver in stored}
    routes = [report.sender.route for report in done.values() if report.kept and report.sender.route[0]]
    publish_on_commit(*page_updates.drivers_moved(routes))
    count_on_commit(
        [position for report in done.values() for position in report.kept],
        sum((report.dropped for report in done.values()), Counter()),
    )
    watched = looks.watched({report.sender.driver: report.sender.topics for report in done.values()})
    # The second request of a phone finds its positions gone, and so it is received after the first.
    found = [done.pop(digest, None) for digest in digests]
    return [report and _answer(report, is_watched=report.sender.driver in watched) for report in found]


def version(updated_at: datetime | None, noted_at: datetime | None) -> str | None:
    """What tells the states of a route apart: when it and the notes of its receivers were changed last.

    None without a route.
    """
    return " ".join(each.isoformat() for each in (updated_at, noted_at) if each) if updated_at else None


def _answer(report: _Report, *, is_watched: bool) -> dict[str, Any]:
    seconds = looks.WATCHED if is_watched else looks.UNWATCHED
    return {
        "kept": len(report.kept),
        "dropped": report.dropped,
        "everySeconds": seconds,
        "routeVersion": report.sender.route_version,
    }


def _senders(digests: Iterable[bytes], at: datetime) -> Iterator[tuple[bytes, _Sender]]:
    asked = "{" + ",".join(f'"\\\\x{digest.hex()}"' for digest in digests) + "}"
    for digest, device, used_at, driver, environment, latest, updated_at, noted_at, *row in prepared.execute(
        _SENDERS, {"digests": asked, "at": at}
    ).fetchall():
        route, (latitude, longitude, *more) = tuple(row[:3]), row[3:]
        last = SentPosition(Point(latitude, longitude), *more)
        if max(latest, last.at) <= at + moments.TOLERANCE:
            yield (
                bytes(digest),
                _Sender(device, used_at, driver, environment, latest, version(updated_at, noted_at), route, last),
            )


def _judged(sender: _Sender, content: bytes, limits: Limits, at: datetime) -> _Report | None:
    try:
        sent = phone_data.positions(read_content(BytesIO(content)), at=at)
    except (BodyTooLarge, InvalidDeviceData):
        return None
    return _Report(sender, *plausible(sent, last=sender.last, limits=limits, at=at))


def _store(reports: Sequence[_Report], at: datetime) -> set[UUID]:
    """The drivers whose positions are stored."""
    if not reports:
        return set()
    senders = [report.sender for report in reports]
    positions = [(report.sender.driver, each) for report in reports for each in report.kept]
    rows = prepared.execute(
        _STORE,
        {
            "drivers": _array(sender.driver for sender in senders),
            "latest": _array(sender.latest for sender in senders),
            "devices": _array(sender.device for sender in senders),
            "dropped": _array(report.dropped.total() for report in reports),
            "used": _array(sender.used_at(at) for sender in senders),
            "senders": _array(driver for driver, _each in positions),
            # Rounded as in `actions.drivers`.
            "latitudes": _array(round(each.point.latitude, 12) for _driver, each in positions),
            "longitudes": _array(round(each.point.longitude, 12) for _driver, each in positions),
            "moments": _array(each.at for _driver, each in positions),
            "accuracies": _array(each.accuracy_m for _driver, each in positions),
            "told": _array(each.told_at for _driver, each in positions),
        },
    ).fetchall()
    return {driver for (driver,) in rows}


def _array(values: Iterable[float | datetime | UUID | None]) -> str:
    """PostgreSQL's text of an array, which psycopg makes several times as slowly."""
    return "{" + ",".join("NULL" if value is None else f'"{value}"' for value in values) + "}"
