"""1,000 scans a minute beside a client that creates orders without a pause: what each of the two takes."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any
from uuid import uuid4

import requests
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone

from benchmarks import processes, report, seed
from integration.models import StatusLog
from tests.integration.factories import COMPANY, SellerFactory, create_order, key_of, order_body
from tests.ports import free_port

_PER_MINUTE = 1_000
_SECONDS = 10
_ROUNDS = 2
_CSRF = "x" * 32
_SIZES = (1, 10, 50)


def run() -> None:
    seed.empty()
    User.objects.filter(username="scanner").delete()
    seller = SellerFactory.create(documents=(COMPANY,))
    total = len(_SIZES) * _ROUNDS * (_PER_MINUTE * _SECONDS // 60 + max(_SIZES))
    codes = iter([create_order(seller, orderId=f"S-{number}").tracking_code for number in range(total)])
    key, session, port = key_of(seller), _session(), free_port()
    rows = []
    with processes.web(port):
        base = f"http://127.0.0.1:{port}"
        _orders(base, key, seconds=3)
        for size in _SIZES:
            alone, beside, scans = [], [], []
            for _round in range(_ROUNDS):
                alone.append(_orders(base, key, seconds=_SECONDS))
                with _scans(base, session, codes, size) as milliseconds:
                    beside.append(_orders(base, key, seconds=_SECONDS))
                scans += milliseconds
            spent = processes.postgres_cpu_seconds()
            with _scans(base, session, codes, size, most=max(_SIZES)):
                time.sleep(max(_SIZES) * 60 / _PER_MINUTE + 1)
            cpu = 1000 * (processes.postgres_cpu_seconds() - spent) / max(_SIZES)
            rows.append([
                str(size),
                f"{median(scans):.0f} ms, {report.percentile(scans, 0.99):.0f} ms",
                f"{cpu:.1f} ms",
                report.spread(alone),
                report.spread(beside),
            ])  # fmt: skip  # a row
    report.table(
        f"{_PER_MINUTE:,} scans a minute beside one client that creates orders, {_SECONDS} s, {_ROUNDS} rounds",
        ["scans in a call", "median, 99 % of a call", "PostgreSQL for a scan", "orders/s alone", "orders/s beside"],
        rows,
    )
    seed.empty()


def _session() -> str:
    person = User.objects.create_user("scanner")
    person.groups.add(Group.objects.get(name="Depot staff"))
    client = Client()
    client.force_login(person)
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def _orders(base: str, key: str, *, seconds: float) -> float:
    """Orders a second that one client creates."""
    with requests.Session() as client:
        client.headers["Authorization"] = f"Basic {key}"
        body, end, count = order_body(invoice=None), time.monotonic() + seconds, 0
        while time.monotonic() < end:
            body |= {"orderId": uuid4().hex, "trackingCode": None}
            client.post(f"{base}/api/integration/orders", json=body, timeout=10).raise_for_status()
            count += 1
    return count / seconds


@contextmanager
def _scans(base: str, session: str, codes: Iterator[str], size: int, *, most: int = 10**9) -> Iterator[list[float]]:
    """Scan at the wanted rate until the end of the block, at most so many. The milliseconds of each call."""
    over = threading.Event()
    milliseconds: list[float] = []
    before = StatusLog.objects.filter(status="collected").count()

    def scan() -> None:
        with requests.Session() as client:
            client.cookies.update({settings.SESSION_COOKIE_NAME: session, settings.CSRF_COOKIE_NAME: _CSRF})
            due = time.monotonic()
            while not over.is_set() and len(milliseconds) * size < most:
                began = time.monotonic()
                answer = client.post(
                    f"{base}/panel/scan/movements/",
                    json=_body(codes, size),
                    headers={"X-CSRFToken": _CSRF},
                    timeout=10,
                )
                answer.raise_for_status()
                assert {each["kind"] for each in answer.json()["outcomes"]} == {"done"}
                milliseconds.append(1000 * (time.monotonic() - began))
                due += size * 60 / _PER_MINUTE
                over.wait(max(0.0, due - time.monotonic()))

    thread = threading.Thread(target=scan)
    thread.start()
    try:
        yield milliseconds
    finally:
        over.set()
        thread.join()
    recorded = StatusLog.objects.filter(status="collected").count() - before
    assert recorded == len(milliseconds) * size, (recorded, len(milliseconds) * size)


def _body(codes: Iterator[str], size: int) -> dict[str, Any]:
    now = timezone.now().isoformat()
    scanned = [
        {"id": str(uuid4()), "code": next(codes), "status": "collected", "scannedAt": now} for _number in range(size)
    ]
    return {"sentAt": now, "person": User.objects.get(username="scanner").pk, "movements": scanned}
