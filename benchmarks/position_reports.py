"""The CPU time that positions of drivers' phones take which are sent through the web server."""

import json
import os
import subprocess
import sys
import time
from datetime import timedelta
from typing import Any

import psutil
from django.db import connection
from django.utils import timezone

from benchmarks import processes, report, seed
from common import credentials
from config.env import BASE_DIR
from delivery.models import Driver, DriverDevice, DriverPosition
from tests.factories import DeliveryFactory
from tests.ports import free_port

_POSITIONS = 5  # in a request
_HOLDING_A_ROUTE = 5  # one of so many drivers
_SECONDS = 40
# Phones, and the seconds between two requests of each.
_RUNS = ((1000, 10), (2000, 20), (5000, 20), (5000, 10))


def run() -> None:
    rows = [_measure(phones, pause) for phones, pause in _RUNS]
    report.table(
        f"{_POSITIONS} positions in a request over HTTP, one driver of {_HOLDING_A_ROUTE} with a route, {_SECONDS} s",
        [
            "phones",
            "seconds between requests",
            "requests/s",
            "median, 99 %",
            "CPU ms for a request: web, PostgreSQL",
            "phones that a core has time for",
            "load",
        ],
        rows,
    )
    seed.empty()


def _measure(phones: int, pause: int) -> tuple[str, ...]:
    sessions = _phones(phones)
    port = free_port()
    with processes.web(port) as web:
        asked = {
            "url": f"http://127.0.0.1:{port}/driver/positions/",
            "sessions": sessions,
            "seconds": _SECONDS,
            "pause": pause,
            "size": _POSITIONS,
        }
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            postgres = psutil.Process(cursor.fetchone()[0]).ppid()
        stored = DriverPosition.objects.count()
        before = _cpu(web), _cpu(postgres)
        began = time.monotonic()
        done = _drive(asked)
        seconds = time.monotonic() - began
        in_web, in_postgres = _cpu(web) - before[0], _cpu(postgres) - before[1]
    requests = len(done["milliseconds"])
    assert done["statuses"] == {"200": requests}, done["statuses"]
    counts = DriverPosition.objects.count() - stored, done["kept"], requests * _POSITIONS
    assert len(set(counts)) == 1, f"stored, kept, sent: {counts}"
    median, slowest = (report.percentile(done["milliseconds"], share) for share in (0.5, 0.99))
    return (
        f"{phones:,}",
        f"{pause}",
        f"{requests / seconds:,.0f}",
        f"{median:.0f} ms, {slowest:.0f} ms",
        f"{1000 * in_web / requests:.2f}, {1000 * in_postgres / requests:.2f}",
        f"{pause * requests / (in_web + in_postgres):,.0f}",
        f"{os.getloadavg()[0]:.1f}",
    )


def _phones(count: int) -> list[str]:
    """The sessions of phones whose drivers are on duty, some with a route, and have told a position before."""
    seed.empty()
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE delivery_driver CASCADE")
    now = timezone.now()
    drivers = Driver.objects.bulk_create(
        Driver(name=f"Driver {number}", vehicle_type="MOTORCYCLE", on_duty=True) for number in range(count)
    )
    sessions = [credentials.random_token("rota_driver_") for _driver in drivers]
    DriverDevice.objects.bulk_create(
        DriverDevice(
            driver=driver,
            digest=credentials.digest(session),
            hint=session[-4:],
            created_at=now,
            expires_at=now + timedelta(days=1),
            reports_positions=True,
        )
        for driver, session in zip(drivers, sessions, strict=True)
    )
    for driver in drivers[::_HOLDING_A_ROUTE]:
        DeliveryFactory.create(stops=1, accepted=True, driver=driver)
    long_ago = {"latitude": -23.6, "longitude": -46.7, "recorded_at": now - timedelta(hours=1)}
    DriverPosition.objects.bulk_create(DriverPosition(driver=driver, **long_ago) for driver in drivers)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    return sessions


def _drive(asked: dict[str, Any]) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.phones"]
    output = subprocess.run(command, input=json.dumps(asked).encode(), stdout=subprocess.PIPE, cwd=BASE_DIR, check=True)
    done: dict[str, Any] = json.loads(output.stdout)
    return done


def _cpu(pid: int) -> float:
    """CPU seconds of a process and its children."""
    parent = psutil.Process(pid)
    return sum(sum(each.cpu_times()[:2]) for each in (parent, *parent.children(recursive=True)))
