"""Positions that a phone sends, received by two statements.

They are what phones send most often. Where anything is not as usual, `devices.receive_positions` receives them, which
locks what it reads.
"""

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from common import clock, credentials
from common.api.authentication import USE_RESOLUTION
from common.api.json_body import BodyTooLarge
from common.pages.device_data import InvalidDeviceData, read_body
from common.pages.page_updates import publish_on_commit
from common.postgresql import prepared
from common.workers import moments
from delivery import lifecycle, page_updates
from delivery.drivers import phone_data
from delivery.drivers.devices import LONGEST_TEXT, count_on_commit
from delivery.geo.distance import Point
from delivery.geo.position_filter import Limits, SentPosition, plausible
from delivery.models.bases import quoted

# Requests of one phone that arrive at the same moment, as after a lost answer, are two or three.
_ATTEMPTS = 3

# A phone that may send, and the position that the next ones are compared with. No row where something is not as usual.
_SENDER = f"""
SELECT device.id, device.last_used_at, driver.id, driver.name, latest.recorded_at,
    last.latitude, last.longitude, last.recorded_at, last.accuracy_m, last.told_at,
    route.id, route.integrator_id, route.environment
FROM delivery_driverdevice device
JOIN delivery_driver driver ON driver.id = device.driver_id
JOIN delivery_latestposition latest ON latest.driver_id = driver.id
CROSS JOIN LATERAL (
    SELECT latitude, longitude, recorded_at, accuracy_m, told_at FROM delivery_driverposition
    WHERE driver_id = driver.id ORDER BY recorded_at DESC LIMIT 1
) last
LEFT JOIN delivery_delivery route ON route.driver_id = driver.id AND route.route_status IN ({quoted(lifecycle.HELD)})
WHERE device.digest = %(digest)s AND device.revoked_at IS NULL AND device.expires_at > %(at)s
    AND device.reports_positions AND driver.active AND (driver.on_duty OR route.id IS NOT NULL)
"""  # noqa: S608  # nosec B608  # constants
# Writes nothing, and returns no row, if other positions of the driver were recorded since `_SENDER`: who waits for the
# lock reads the moment anew.
_STORE = """
WITH turn AS (
    SELECT driver_id FROM delivery_latestposition
    WHERE driver_id = %(driver)s AND recorded_at = %(latest)s FOR NO KEY UPDATE
), stored AS (
    INSERT INTO delivery_driverposition
        (driver_id, latitude, longitude, recorded_at, accuracy_m, told_at, recorded_by)
    SELECT turn.driver_id, sent.*, %(by)s FROM turn, unnest(
        %(latitudes)s::float8[], %(longitudes)s::float8[], %(moments)s::timestamptz[],
        %(accuracies)s::float8[], %(told)s::timestamptz[]
    ) AS sent
), phone AS (
    UPDATE delivery_driverdevice
    SET dropped_positions = dropped_positions + %(dropped)s, last_used_at = %(used_at)s
    FROM turn WHERE id = %(device)s AND %(is_changed)s
)
SELECT FROM turn
"""


class _Sender(NamedTuple):
    device: UUID
    last_used_at: datetime | None
    driver: UUID
    name: str
    latest: datetime
    last: SentPosition
    route: tuple[UUID, UUID, str] | None


def answer(request: HttpRequest) -> HttpResponse | None:
    """Record what can be true of the positions of a request; its answer. None if the view has to receive them."""
    now = clock.now()
    try:
        found = _receive(request, at=now)
    except (BodyTooLarge, InvalidDeviceData):
        return None
    return None if found is None else HttpResponse(json.dumps(found), content_type="application/json")


def _receive(request: HttpRequest, *, at: datetime) -> dict[str, Any] | None:
    session = request.COOKIES.get(settings.DRIVER_COOKIE_NAME, "")
    if not 0 < len(session) <= LONGEST_TEXT:
        return None
    digest = credentials.digest(session)
    sent = None
    for _attempt in range(_ATTEMPTS):
        sender = _find(digest, at)
        if sender is None or sender.latest > at + moments.TOLERANCE or sender.last.at > at + moments.TOLERANCE:
            return None
        sent = phone_data.positions(read_body(request), at=at) if sent is None else sent
        limits = Limits(settings.SERVICE_AREA, settings.DRIVER_MAX_SPEED_KMH)
        kept, dropped = plausible(sent, last=sender.last, limits=limits, at=at)
        if _store(sender, kept, dropped.total(), at):
            if kept and sender.route:
                publish_on_commit(*page_updates.drivers_moved([sender.route]))
            count_on_commit(kept, dropped)
            return {"kept": len(kept), "dropped": dropped}
    return None


def _find(digest: bytes, at: datetime) -> _Sender | None:
    row = prepared.execute(_SENDER, {"digest": digest, "at": at}).fetchone()
    if row is None:
        return None
    (
        device,
        last_used_at,
        driver,
        name,
        latest,
        latitude,
        longitude,
        *moments_and_accuracy,
        route,
        account,
        environment,
    ) = row
    last = SentPosition(Point(latitude, longitude), *moments_and_accuracy)
    return _Sender(device, last_used_at, driver, name, latest, last, (route, account, environment) if route else None)


def _store(sender: _Sender, kept: list[SentPosition], dropped: int, at: datetime) -> bool:
    is_used = sender.last_used_at is None or at - sender.last_used_at >= USE_RESOLUTION
    cursor = prepared.execute(
        _STORE,
        {
            "driver": sender.driver,
            "latest": sender.latest,
            "by": f"driver {sender.name}",
            # See `drivers._position`.
            "latitudes": _array(round(each.point.latitude, 12) for each in kept),
            "longitudes": _array(round(each.point.longitude, 12) for each in kept),
            "moments": _array(each.at for each in kept),
            "accuracies": _array(each.accuracy_m for each in kept),
            "told": _array(each.told_at for each in kept),
            "dropped": dropped,
            "used_at": at if is_used else sender.last_used_at,
            "device": sender.device,
            "is_changed": is_used or dropped > 0,
        },
    )
    return bool(cursor.rowcount)


def _array(values: Iterable[float | datetime | None]) -> str:
    """PostgreSQL's text of an array, which psycopg makes several times as slowly."""
    return "{" + ",".join("NULL" if value is None else f'"{value}"' for value in values) + "}"
