"""The cost of choosing the nearest eligible driver, and of recording a position, with few and with many drivers."""

import random
import time
from collections.abc import Callable
from datetime import timedelta

from django.db import connection, transaction
from django.utils import timezone

from benchmarks import report, seed
from delivery.actions import drivers
from delivery.models import Delivery, Driver, DriverPosition
from tests.factories import BY, PICKUP, DeliveryFactory

_RUNS = 50
_POSITIONS_EACH = 10
# Drivers on duty, and how far from A they are spread: degrees to each side. 0.1 is inside the dispatch radius.
_CASES = ((100, 0.1), (10_000, 0.1), (10_000, 5.0))


def run() -> None:
    report.table(
        f"Drivers on duty with {_POSITIONS_EACH} positions each; ms of {_RUNS} calls, median (least to greatest)",
        ["drivers", "degrees to each side of A", "lock the nearest", "first page of 50", "record a position"],
        [(f"{count:,}", f"{degrees}", *_measured(count, degrees)) for count, degrees in _CASES],
    )
    print(_plan(), flush=True)


def _measured(count: int, degrees: float) -> list[str]:
    delivery = _fill(count, degrees)
    driver = Driver.objects.all()[0]
    calls: list[Callable[[], object]] = [
        lambda: drivers.claim_first_eligible(delivery, at=timezone.now()),
        lambda: drivers.nearest(delivery, at=timezone.now(), count=50),
        lambda: drivers.set_position(driver=driver, point=PICKUP, by=BY, at=timezone.now()),
    ]
    return [report.spread([_milliseconds(call) for _run in range(_RUNS)], digits=1) for call in calls]


def _fill(count: int, degrees: float) -> Delivery:
    """So many drivers on duty around the pickup of the returned delivery, all with fresh positions."""
    seed.empty()
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE delivery_driver CASCADE")
    generator = random.Random(1)  # noqa: S311  # positions are no secret
    made = Driver.objects.bulk_create(
        Driver(name=f"Driver {number}", vehicle_type="MOTORCYCLE", on_duty=True) for number in range(count)
    )
    newest = timezone.now() + timedelta(hours=1)  # fresh until the end of the benchmark
    DriverPosition.objects.bulk_create(
        [
            DriverPosition(
                driver=driver,
                latitude=PICKUP.latitude + generator.uniform(-degrees, degrees),
                longitude=PICKUP.longitude + generator.uniform(-degrees, degrees),
                recorded_at=newest - timedelta(seconds=age),
                recorded_by=BY,
            )
            for age in reversed(range(_POSITIONS_EACH))
            for driver in made
        ],
        batch_size=5_000,
    )
    delivery: Delivery = DeliveryFactory.create()
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    return delivery


def _milliseconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    with transaction.atomic():
        call()
    return (time.perf_counter() - started) * 1000


def _plan() -> str:
    """EXPLAIN ANALYZE of the query of the smallest circle, for the last case."""
    return drivers.nearby(Delivery.objects.get(), share=0.1)[:1].explain(analyze=True)
