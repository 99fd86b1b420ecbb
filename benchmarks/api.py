"""Calls of both APIs, compared with the same ones on FastAPI: as lean as can be, and as its documentation has them.

The former are on msgspec and asyncpg (`benchmarks/api_peer/app.py`), the latter on pydantic and SQLAlchemy's ORM
(`benchmarks/orm_peer/app.py`). Both sides have two worker processes of granian, the same PostgreSQL server and durable
commits. They take turns.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import median

import psutil
from django.db import connection
from django.utils import timezone

from benchmarks import api_calls, load, processes, report, seed
from benchmarks.load import Side, Turn
from config.env import BASE_DIR
from delivery.actions import deliveries
from delivery.models import Delivery
from tests.factories import BY, PICKUP, DriverFactory, TariffFactory
from tests.integration.factories import SellerFactory, key_of
from tests.ports import free_port

_API_PEER, _ORM_PEER = "api_peer", "orm_peer"
_SCRIPTS = BASE_DIR / "benchmarks" / _API_PEER  # which fill the tables of both
_ROUNDS, _SECONDS = 7, 2
_STEADY_ROUNDS, _STEADY_SECONDS = 3, 3
_LOAD = 0.7
# The greatest ratios of CPU time to the peer's that are wanted, and of the p99.
_GOALS = {
    "quotation-delivery": 0.75,
    "request-delivery": 0.65,
    "info-delivery": 0.5,
    "location-delivery": 0.5,
    "shipping/quote": 0.75,
    "orders": 0.65,
    "orders/tracking": 0.5,
}
# The same beside the ORM, whose peer has these calls only.
_ORM_GOALS = {"quotation-delivery": 1.0, "request-delivery": 1.0, "info-delivery": 0.45, "orders": 1.0}
_P99_GOAL = 0.5


def run(names: Sequence[str]) -> None:
    """Measure the calls with these names beside the lean peer, without any all calls."""
    _run(_API_PEER, names, _GOALS)


def run_beside_an_orm(names: Sequence[str]) -> None:
    _run(_ORM_PEER, names, _ORM_GOALS)


def _run(peer_name: str, names: Sequence[str], goals: Mapping[str, float]) -> None:
    names = names or list(goals)
    if unknown := set(names) - set(goals):
        raise SystemExit(f"No such call: {', '.join(unknown)}. There are {', '.join(goals)}.")
    if shutil.which("wrk") is None:
        raise SystemExit("This benchmark needs wrk, Debian's package of that name.")
    seed.empty()
    TariffFactory.create()
    (token,) = seed.accounts(1, url="")
    key = key_of(SellerFactory.create())
    with _rota(token.clear_text, key) as rota, _peer(peer_name, token.clear_text, key) as peer:
        asked = {name: rota.calls[name] for name in names}
        api_calls.check_same_answers(asked, rota.base, peer.calls, peer.base)
        found = load.in_turn((rota, peer), names, rounds=_ROUNDS, seconds=_SECONDS)
        _report_cpu(goals, names, found)
        _report_p99(rota, peer, names, found)
        for side in (rota, peer):
            sizes = ", ".join(f"{size:.0f} MB" for size in _memory(side))
            print(f"Memory of each web process afterwards, {side.name}: {sizes}")
        counts = ", ".join(f"{name} {api_calls.statements(rota.calls[name])}" for name in names)
        print(f"Statements of Rota: {counts}\n", flush=True)


def _report_cpu(goals: Mapping[str, float], names: Sequence[str], found: dict[tuple[str, str], list[Turn]]) -> None:
    rows = []
    for name in names:
        rota, peer = found["Rota", name], found["peer", name]
        ratios = [_counted(one) / _counted(other) for one, other in zip(rota, peer, strict=True)]
        rows.append(
            [
                name,
                report.spread(ratios, digits=2),
                f"{goals[name]}",
                *(f"{median(turn.cpu[kind] for turn in rota):.2f}" for kind in ("web", "PostgreSQL", "Redis")),
                *(f"{median(turn.cpu[kind] for turn in peer):.2f}" for kind in ("web", "PostgreSQL")),
                *(f"{median(turn.per_second for turn in turns):,.0f}" for turns in (rota, peer)),
            ]
        )
    report.table(
        f"CPU time of the web processes and PostgreSQL (user and system), {_ROUNDS} rounds of {_SECONDS} s in turn, "
        "two web processes each: ratio, median (least to greatest), and CPU seconds for 1,000 calls",
        ["call", "ratio to the peer", "goal", "web", "PostgreSQL", "Redis", "peer's web", "peer's PostgreSQL",
         "calls/s", "peer's calls/s"],
        rows,
    )  # fmt: skip  # the names of the columns are one line of a table


def _counted(turn: Turn) -> float:
    return turn.cpu["web"] + turn.cpu["PostgreSQL"]


def _report_p99(rota: Side, peer: Side, names: Sequence[str], found: dict[tuple[str, str], list[Turn]]) -> None:
    """At 70 % of the calls a second that the slower side answers, and at 70 % of each side's own."""
    rows = []
    for name in names:
        own = {side: _LOAD * median(turn.per_second for turn in found[side, name]) for side in ("Rota", "peer")}
        both = min(own.values())
        p99: dict[tuple[str, float], list[float]] = {run: [] for run in (("Rota", both), ("peer", both), *own.items())}
        for round_ in range(_STEADY_ROUNDS):
            for run in p99 if round_ % 2 else reversed(p99):
                side = rota if run[0] == "Rota" else peer
                milliseconds = load.at_a_rate(side, name, per_second=run[1], seconds=_STEADY_SECONDS)
                p99[run].append(report.percentile(milliseconds, 0.99))
        ratios = [one / other for one, other in zip(p99["Rota", both], p99["peer", both], strict=True)]
        rows.append(
            [
                name,
                report.spread(ratios, digits=2),
                f"{_P99_GOAL}",
                f"{both:,.0f}",
                *(f"{median(p99[side, both]):.1f}" for side in own),
                *(f"{median(p99[side, rate]):.1f} at {rate:,.0f}" for side, rate in own.items()),
            ]
        )
        print(f"p99 of {name}", file=sys.stderr, flush=True)
    report.table(
        f"p99 in ms at a constant rate, {_STEADY_ROUNDS} rounds of {_STEADY_SECONDS} s in turn: at {_LOAD:.0%} of what "
        f"the slower side answers, and at {_LOAD:.0%} of what each does",
        ["call", "ratio to the peer", "goal", "calls/s", "p99", "peer's", "at its own rate", "peer's at its own"],
        rows,
    )


@contextmanager
def _rota(token: str, key: str) -> Iterator[Side]:
    def accept(delivery_id: str) -> None:
        delivery, driver = Delivery.objects.get(pk=delivery_id), DriverFactory.create(at_point=PICKUP)
        deliveries.accept(delivery=delivery, driver=driver, by=BY, at=timezone.now())

    port = free_port()
    base = f"http://127.0.0.1:{port}"
    os.environ |= {"WEB_WORKERS": "2", **api_calls.FAR_LIMITS}
    with processes.web(port) as web:
        calls = api_calls.prepare(base, token=token, key=key, accept=accept)
        yield Side("Rota", base, calls, {"web": web, **processes.embedded_pids()})


@contextmanager
def _peer(name: str, token: str, key: str) -> Iterator[Side]:
    port, folder = free_port(), BASE_DIR / "benchmarks" / name
    python = BASE_DIR / "var" / "bench" / name / "bin" / "python"
    base = f"http://127.0.0.1:{port}"
    settings = connection.settings_dict
    with connection.cursor() as cursor:
        cursor.execute("DROP DATABASE IF EXISTS peer_api")
        cursor.execute("CREATE DATABASE peer_api")
    url = f"postgresql://{settings['USER']}@/peer_api?host={settings['HOST']}"
    environment = {"PEER_DATABASE": url, "PYTHONPATH": str(folder)}

    def script(*arguments: str) -> None:
        subprocess.run([python, *arguments], cwd=_SCRIPTS, env=os.environ | environment, check=True)

    script("seed.py", token, key)
    command = [
        str(python), "-m", "granian", "--interface", "asgi", "--loop", "uvloop", "--port", str(port), "--workers", "2",
        "--log-level", "warning", "--http", "1", "--no-ws", "--backlog", "4096", "--working-dir", str(folder),
        "app:app",
    ]  # fmt: skip
    with processes.server(command, port, environment) as web:
        calls = api_calls.prepare(base, token=token, key=key, accept=lambda delivery: script("accept.py", delivery))
        yield Side("peer", base, calls, {"web": web, "PostgreSQL": processes.embedded_pids()["PostgreSQL"]})


def _memory(side: Side) -> list[float]:
    """Megabytes of the workers, each process's share of shared pages included once."""
    workers = psutil.Process(side.pids["web"]).children(recursive=True)
    return [worker.memory_full_info().pss / 1e6 for worker in workers]
