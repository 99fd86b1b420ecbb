"""Metrics and pages on Debian's PostgreSQL beside the embedded one, which cannot compile statements.

Each is measured in a process of its own with the settings of a web process, which `python -m
benchmarks.stock_postgresql` is.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from statistics import median

from config.env import BASE_DIR

_ROWS = 20_000
_RUNS = 15
_WITH_UUIDV7 = 18_00_00  # the first version that has it
_PAGES = ("/panel/", "/panel/board/", "/admin/", "/admin/delivery/delivery/", "/panel/reports/")
_UUIDV7 = """
CREATE OR REPLACE FUNCTION public.uuidv7(shift interval DEFAULT '0') RETURNS uuid LANGUAGE sql VOLATILE AS $$
SELECT (lpad(to_hex((extract(epoch FROM clock_timestamp() + shift) * 1000)::bigint), 12, '0') || '7'
        || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid
$$
"""


def run() -> None:
    from benchmarks import report  # needs Django
    from tests.stock_postgresql import stock_postgresql

    embedded = _measured({})
    with stock_postgresql() as (url, _log):
        stock = _measured({"DATABASE_URL": url})
    report.table(
        f"Milliseconds with {_ROWS:,} deliveries, median (least to greatest) of {_RUNS}",
        ["", "embedded", "Debian's", "medians: Debian's to embedded"],
        [
            (
                name,
                report.spread(embedded[name], digits=1),
                report.spread(stock[name], digits=1),
                f"{median(stock[name]) / median(embedded[name]):.1f}",
            )
            for name in embedded
        ],
    )


def _measured(environment: dict[str, str]) -> dict[str, list[float]]:
    from config.local import embedded

    # Both in production mode, in which the settings are those of production.
    urls = {"DATABASE_URL": embedded.postgres_url(), "REDIS_URL": f"unix://{embedded.redis_socket()}"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "benchmarks.stock_postgresql"],
        cwd=BASE_DIR,
        env={**os.environ, **embedded.local_secrets(), "ALLOWED_HOSTS": "localhost", **urls, **environment},
        stdout=subprocess.PIPE,
        check=True,
        timeout=600,
    )
    measured: dict[str, list[float]] = json.loads(done.stdout)
    return measured


def main() -> None:
    """Measure on the PostgreSQL of DATABASE_URL, and print the milliseconds as a JSON object."""
    from django.conf import settings
    from django.core.management import call_command
    from django.db import connection

    import config.rsgi  # noqa: F401  # as a web process

    settings.REQUIRE_TWO_FACTOR = settings.SECURE_SSL_REDIRECT = False
    call_command("migrate", verbosity=0)
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version_num")
        if int(cursor.fetchone()[0]) < _WITH_UUIDV7:
            cursor.execute(_UUIDV7)
    from benchmarks import fill, pages, seed
    from config.monitoring import exposition

    seed.empty()
    fill.deliveries(_ROWS)
    fill.analyze()
    client = pages.staff()

    def page(path: str) -> None:
        answer = client.get(path)
        if answer.status_code != 200:  # anything else is not what is measured
            raise RuntimeError(f"{path}: {answer.status_code}")

    calls: dict[str, Callable[[], object]] = {"gauges of /metrics": exposition.read_gauges}
    calls |= {path: partial(page, path) for path in _PAGES}
    for call in calls.values():
        call()  # what is loaded and compiled once
    # In turn, so that other load on the machine meets all of them.
    runs = [{name: _milliseconds(call) for name, call in calls.items()} for _run in range(_RUNS)]
    print(json.dumps({name: [each[name] for each in runs] for name in calls}))
    seed.empty()


def _milliseconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - started)


if __name__ == "__main__":
    main()
