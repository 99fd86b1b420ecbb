"""What reports cost with a million deliveries of a year: half of them of one account, the others of 300 accounts."""

import time
from typing import Any

from django.db import connection
from django.test import Client

from benchmarks import fill, pages, report, seed
from delivery.actions import dispatch_rules
from delivery.models import Integrator
from tests.factories import TokenFactory

_ROWS, _ACCOUNTS, _RUNS = 1_000_000, 300, 5
_OK = 200
_SPREAD = """
UPDATE delivery_delivery SET integrator_id = ids[1 + abs(hashtext(id::text)) %% 300]
FROM (SELECT array_agg(id ORDER BY id) AS ids FROM delivery_integrator WHERE id <> %s) others
WHERE hashtext(id::text) > 0
"""


def run() -> None:
    seed.empty()
    dispatch_rules.change(values={"driver_share_percent": 70}, by="benchmark")
    fill.deliveries(_ROWS)
    large = Integrator.objects.get()
    for _number in range(_ACCOUNTS):
        TokenFactory.create()
    with fill.bulk() as cursor:
        cursor.execute(_SPREAD, [large.pk])
        cursor.execute("REINDEX INDEX delivery_ended_of_account")
    fill.analyze()
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_relation_size('delivery_ended_of_account')")
        (size,) = cursor.fetchone()
    print(f"The index of reports takes {size / 1e6:.0f} MB\n")
    client = pages.staff()
    small = Integrator.objects.exclude(pk=large.pk).order_by("pk")[0]
    asked = {**pages.reports(large, "an account with most"), **pages.reports(small, "an account with few")}
    report.table(
        f"Reports with {_ROWS:,} deliveries, {_RUNS} times",
        ["report", "ms: median (least to greatest)"],
        [(name, report.spread([_milliseconds(client, path) for _run in range(_RUNS)])) for name, path in asked.items()],
    )
    seed.empty()


def _milliseconds(client: Client, path: str) -> float:
    started = time.perf_counter()
    response: Any = client.get(path)
    b"".join(response)
    if response.status_code != _OK:
        raise RuntimeError(path)
    return 1000 * (time.perf_counter() - started)
