"""What the p99 of calls comes from: the same load on web servers of which one thing is changed each.

All get the same calls a second: 70 % of what the server as it is answers. `fsync` and `synchronous_commit` are changed
to see what they cost, not as a proposal.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import NamedTuple

from django.db import connection
from django.utils import timezone

from benchmarks import api_calls, load, processes, report, seed
from benchmarks.load import Side
from common.postgresql import statistics
from config.processes import commands
from delivery.actions import deliveries
from delivery.models import Delivery
from tests.factories import BY, PICKUP, DriverFactory, TariffFactory
from tests.integration.factories import SellerFactory, key_of
from tests.ports import free_port

_CALLS = ("quotation-delivery", "request-delivery", "info-delivery", "orders")
_LOAD = 0.7
_ROUNDS, _SECONDS = 5, 5


class Variant(NamedTuple):
    """`web`: changes of `benchmarks.variant_web`. `postgres`: parameters that are reloaded."""

    web: str = ""
    postgres: dict[str, str] = {}
    processes: int = 2


_VARIANTS = {
    "as it is": Variant(),
    "one thread": Variant("threads=1"),
    "two threads": Variant("threads=2"),
    "four threads": Variant("threads=4"),
    "switch interval 1 ms": Variant("switch_ms=1"),
    "switch interval 0.5 ms": Variant("switch_ms=0.5"),
    "two threads, 0.5 ms": Variant("threads=2 switch_ms=0.5"),
    "no garbage collection": Variant("gc_after=0"),
    "collection after 700 objects": Variant("gc_after=700"),
    "collection after 50,000 objects": Variant("gc_after=50000"),
    "three processes": Variant(processes=3),
    "no autovacuum": Variant(postgres={"autovacuum": "off"}),
    "commits not waited for": Variant(postgres={"synchronous_commit": "off"}),
    "no fsync": Variant(postgres={"fsync": "off"}),
}


def run(names: list[str]) -> None:
    """Measure these variants, without any all. The first one is always measured, because the rates are its own."""
    if unknown := set(names) - set(_VARIANTS):
        raise SystemExit(f"No such variant: {', '.join(unknown)}. There are {', '.join(_VARIANTS)}.")
    first, *_others = _VARIANTS
    chosen = [first, *(name for name in names or _VARIANTS if name != first)]
    seed.empty()
    TariffFactory.create()
    (token,) = seed.accounts(1, url="")
    key = key_of(SellerFactory.create())
    with _served(_VARIANTS[first], token.clear_text, key) as side:
        fastest = {name: load.fastest(side, name, seconds=_SECONDS) for name in _CALLS}
    found: dict[tuple[str, str], list[list[float]]] = {(name, call): [] for name in chosen for call in _CALLS}
    for round_ in range(_ROUNDS):
        for name in chosen if round_ % 2 else reversed(chosen):
            with _served(_VARIANTS[name], token.clear_text, key) as side:
                for call in _CALLS:
                    rate = _LOAD * fastest[call]
                    load.at_a_rate(side, call, per_second=rate, seconds=1)  # warms up
                    found[name, call].append(load.at_a_rate(side, call, per_second=rate, seconds=_SECONDS))
            print(f"{name}, round {round_ + 1} of {_ROUNDS}", file=sys.stderr, flush=True)
    report.table(
        f"Milliseconds at {_LOAD:.0%} of the calls that the server as it is answers, {_ROUNDS} rounds of {_SECONDS} s "
        "in turn, two web processes: median, p99, and the p99's ratio to the median, each the median of the rounds",
        ["", *(f"{call}, {_LOAD * fastest[call]:,.0f}/s" for call in _CALLS)],
        [[name, *(_shown(found[name, call]) for call in _CALLS)] for name in chosen],
    )


def _shown(rounds: list[list[float]]) -> str:
    middle = median(report.percentile(each, 0.5) for each in rounds)
    p99 = median(report.percentile(each, 0.99) for each in rounds)
    return f"{middle:.1f}, {p99:.1f}, {p99 / middle:.1f}"


@contextmanager
def _served(variant: Variant, token: str, key: str) -> Iterator[Side]:
    def accept(delivery_id: str) -> None:
        delivery, driver = Delivery.objects.get(pk=delivery_id), DriverFactory.create(at_point=PICKUP)
        deliveries.accept(delivery=delivery, driver=driver, by=BY, at=timezone.now())

    port = free_port()
    base = f"http://127.0.0.1:{port}"
    os.environ |= {"WEB_WORKERS": str(variant.processes), "CHANGES": variant.web, **api_calls.FAR_LIMITS}
    command = ["benchmarks.variant_web" if word == "config.server.web" else word for word in commands(port)["web"]]
    with _set(variant.postgres), processes.server(command, port) as web:
        calls = api_calls.prepare(base, token=token, key=key, accept=accept, read=api_calls.fresh())
        statistics.analyze_new()  # as beat has it done
        yield Side("Rota", base, calls, {"web": web, **processes.embedded_pids()})


@contextmanager
def _set(parameters: dict[str, str]) -> Iterator[None]:
    with connection.cursor() as cursor:
        for name, value in parameters.items():
            cursor.execute(f"ALTER SYSTEM SET {name} = {value}")
        cursor.execute("SELECT pg_reload_conf()")
        try:
            yield
        finally:
            for name in parameters:
                cursor.execute(f"ALTER SYSTEM RESET {name}")
            cursor.execute("SELECT pg_reload_conf()")
