"""What pages for people cost with a million deliveries: in the process, from request to rendered page."""

import time
from collections.abc import Callable

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from benchmarks import fill, pages, report, seed
from delivery.models import Delivery

_ROWS = 1_000_000
_RUNS = 5


def run() -> None:
    seed.empty()
    started = time.monotonic()
    fill.deliveries(_ROWS)
    fill.positions(_ROWS)
    fill.analyze()
    print(f"{_ROWS:,} deliveries, each with a stop, an event and a transition: {time.monotonic() - started:.0f} s\n")
    client = pages.staff()
    middle = Delivery.objects.order_by("-created_at")[_ROWS // 2]
    report.table(
        f"Pages with {_ROWS:,} deliveries, of 50 rows each where they are lists; {_RUNS} times",
        ["page", "ms: median (least to greatest)", "queries"],
        [(name, *_measured(client, path)) for name, path in {**pages.admin(middle), **pages.panel(client)}.items()],
    )
    report.table(
        "For comparison: an exact count",
        ["rows", "ms: median (least to greatest)"],
        [(f"{_ROWS:,}", report.spread([_milliseconds(Delivery.objects.count) for _run in range(_RUNS)]))],
    )
    seed.empty()


def _measured(client: Client, path: str) -> tuple[str, str]:
    with CaptureQueriesContext(connection) as queries:
        response = client.get(path)
    if response.status_code not in {200, 204}:
        raise RuntimeError(f"{path}: {response.status_code}")
    asked = len(queries)  # before the next request empties the log
    return report.spread([_milliseconds(lambda: client.get(path)) for _run in range(_RUNS)]), str(asked)


def _milliseconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - started)
