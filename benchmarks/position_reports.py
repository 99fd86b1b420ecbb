"""How many positions a second the phones of 500 drivers send through the web server, and the CPU time this takes."""

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

_DRIVERS = 500
_HOLDING_A_ROUTE = 100
_SECONDS = 15
_PER_SECOND = 2000


def run() -> None:
    rows = [_measure(size) for size in (10, 20)]
    report.table(
        f"{_PER_SECOND:,} positions a second wanted, from {_DRIVERS} phones over HTTP, {_HOLDING_A_ROUTE} with a route,"
        f" {_SECONDS} s",
        [
            "in a batch",
            "requests/s",
            "positions/s",
            "median, 99 %",
            "CPU ms for a request: web, PostgreSQL",
            "positions/s that two cores have time for",
            "load",
        ],
        rows,
    )
    seed.empty()


def _measure(size: int) -> tuple[str, ...]:
    sessions = _phones()
    port = free_port()
    with processes.web(port) as web:
        asked = {
            "url": f"http://127.0.0.1:{port}/driver/positions/",
            "sessions": sessions,
            "seconds": _SECONDS,
            "pause": size * _DRIVERS / _PER_SECOND,
            "size": size,
        }
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            postgres = psutil.Process(cursor.fetchone()[0]).ppid()
        before = _cpu(web), _cpu(postgres)
        began = time.monotonic()
        done = _drive(asked)
        seconds = time.monotonic() - began
        in_web, in_postgres = _cpu(web) - before[0], _cpu(postgres) - before[1]
    requests = len(done["milliseconds"])
    assert done["statuses"] == {"200": requests}, done["statuses"]
    counts = DriverPosition.objects.count(), done["kept"], requests * size
    assert len(set(counts)) == 1, f"stored, kept, sent: {counts}"
    median, slowest = (report.percentile(done["milliseconds"], share) for share in (0.5, 0.99))
    return (
        f"{size}",
        f"{requests / seconds:,.0f}",
        f"{done['kept'] / seconds:,.0f}",
        f"{median:.0f} ms, {slowest:.0f} ms",
        f"{1000 * in_web / requests:.2f}, {1000 * in_postgres / requests:.2f}",
        f"{2 * done['kept'] / (in_web + in_postgres):,.0f}",
        f"{os.getloadavg()[0]:.1f}",
    )


def _phones() -> list[str]:
    """The sessions of phones whose drivers are on duty, some with a route."""
    seed.empty()
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE delivery_driver CASCADE")
    now = timezone.now()
    drivers = Driver.objects.bulk_create(
        Driver(name=f"Driver {number}", vehicle_type="MOTORCYCLE", on_duty=True) for number in range(_DRIVERS)
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
    for driver in drivers[:_HOLDING_A_ROUTE]:
        DeliveryFactory.create(stops=1, accepted=True, driver=driver)
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
