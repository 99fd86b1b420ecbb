"""How many positions of drivers a second two connections record, and what the choice of a driver reads afterwards."""

import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from itertools import count

from django.db import connection
from django.utils import timezone

from benchmarks import report, seed
from delivery.actions import drivers
from delivery.geo.distance import Point
from delivery.geo.position_filter import Reported
from delivery.models import Driver, DriverPosition, LatestPosition
from tests.factories import BY, PICKUP

_DRIVERS = 10_000
_CONNECTIONS = 2
_SECONDS = 15
_DEGREES = 0.1


def run() -> None:
    rows = []
    for size in (1, 10, 100):
        made = _drivers()
        reported = _per_second(made, size=size)
        assert DriverPosition.objects.count() == reported
        assert LatestPosition.objects.count() <= _DRIVERS
        rows.append((f"{size}", f"{reported / _SECONDS:,.0f}", _updates(), _pages()))
    report.table(
        f"Positions of {_DRIVERS:,} drivers in turn, {_CONNECTIONS} connections, {_SECONDS} s",
        ["positions in a call", "positions a second", "updates of latest positions: all, within their page", "pages"],
        rows,
    )
    seed.empty()


def _drivers() -> list[Driver]:
    seed.empty()
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE delivery_driver CASCADE")
        cursor.execute("SELECT pg_stat_reset()")
    return Driver.objects.bulk_create(
        Driver(name=f"Driver {number}", vehicle_type="MOTORCYCLE", on_duty=True) for number in range(_DRIVERS)
    )


def _per_second(made: list[Driver], *, size: int) -> int:
    """How many positions were recorded. With a size of more than 1, a call has so many of one driver, 100 ms apart."""
    end = time.monotonic() + _SECONDS

    def one(driver: Driver, at: datetime) -> None:
        drivers.set_position(driver=driver, point=_place(), by=BY, at=at)

    def batch(driver: Driver, at: datetime) -> None:
        reported = [Reported(_place(), at - timedelta(milliseconds=100 * number)) for number in range(size)]
        drivers.record_positions(driver=driver, reported=reported, by=BY)

    def work(act: Callable[[Driver, datetime], None], offset: int) -> int:
        try:
            for number in count(offset, _CONNECTIONS):
                if time.monotonic() > end:
                    return (number - offset) // _CONNECTIONS
                act(made[number % _DRIVERS], timezone.now())
        finally:
            connection.close()
        return 0

    with ThreadPoolExecutor(_CONNECTIONS) as pool:
        calls = pool.map(lambda offset: work(one if size == 1 else batch, offset), range(_CONNECTIONS))
        return size * sum(calls)


def _place() -> Point:
    """Somewhere around PICKUP."""
    north, east = (random.uniform(-_DEGREES, _DEGREES) for _axis in range(2))  # noqa: S311  # positions are no secret
    return Point(PICKUP.latitude + north, PICKUP.longitude + east)


def _updates() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute(
            "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'delivery_latestposition'"
        )
        updated, in_page = cursor.fetchone()
    return f"{updated:,}, {in_page:,}"


def _pages() -> str:
    """The size of the latest positions in pages of 8 KiB: the table, and the index by which drivers are chosen."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_relation_size('delivery_latestposition') / 8192, pg_relation_size('latest_position_xyz') / 8192"
        )
        table, index = cursor.fetchone()
    return f"table {table:,}, index {index:,}"
