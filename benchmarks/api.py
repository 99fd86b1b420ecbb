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
from typing import NamedTuple

import psutil
import psycopg
from django.db import connection
from django.utils import timezone

from benchmarks import api_calls, load, processes, report, same_answers, seed
from benchmarks.load import Side, Turn
from config.env import BASE_DIR
from delivery.actions import deliveries
from delivery.models import Delivery
from tests.factories import BY, PICKUP, DriverFactory, TariffFactory
from tests.integration.factories import SellerFactory, key_of
from tests.ports import free_port

_API_PEER, _ORM_PEER = "api_peer", "orm_peer"
_SCRIPTS = BASE_DIR / "benchmarks" / _API_PEER  # which fill the tables of both
_PEER_DATABASE = "peer_api"
_ROUNDS, _SECONDS = 7, 2
_STEADY_ROUNDS, _STEADY_SECONDS = 3, 3
_LOAD = 0.7
# Of the account's webhooks, so that a request writes an event and queues it. Nobody serves it, and no worker runs.
_WEBHOOK = "http://127.0.0.1:9/hook"
_P99_GOAL = 0.5


class _Comparison(NamedTuple):
    """With which peer, and how.

    `goals`: the greatest ratios of CPU time to the peer's that are wanted, by call. `environment`: that of Rota's
    processes. `counted`: the processes whose time is in the ratio. `notes`: what is to be known about the figures.
    """

    peer: str
    goals: Mapping[str, float]
    environment: Mapping[str, str]
    counted: Sequence[str]
    notes: str = ""


_BESIDE_API_PEER = _Comparison(
    peer=_API_PEER,
    goals={
        "quotation-delivery": 0.75,
        "request-delivery": 0.65,
        "info-delivery": 0.5,
        "location-delivery": 0.5,
        "shipping/quote": 0.75,
        "orders": 0.65,
        "orders/tracking": 0.5,
    },
    environment=api_calls.FAR_LIMITS,
    counted=("web", "PostgreSQL"),
)
_BESIDE_ORM_PEER = _Comparison(
    peer=_ORM_PEER,
    goals={
        "quotation-delivery": 1.0,
        "request-delivery": 1.0,
        "info-delivery": 0.45,
        "info-delivery-accepted": 0.45,
        "orders": 1.0,
    },
    environment={},  # limits of calls are off, see `processes.set_up`
    counted=("web", "PostgreSQL", "Redis"),
    notes="""\
Limits of calls, which the peer does not have, are off in Rota too, and Rota's Redis counts. What the peer reads in a
transaction begins with BEGIN and ends with ROLLBACK, as a session of SQLAlchemy does it; Rota reads without one.
The peer leaves out, estimated as shares of Rota's time: the signed Quote-Id and the estimates in headers (8 to 12 % of
a quote, 3 to 4 % of a request), indexes that these calls do not use (0.1 to 0.3 ms of PostgreSQL for a request), and
request ids and metrics (3 to 5 %). Neither side computes a freight: the company of the orders has no postcode.
""",
)


def run(names: Sequence[str]) -> None:
    """Measure the calls with these names beside the lean peer, without any all calls."""
    _run(_BESIDE_API_PEER, names)


def run_beside_an_orm(names: Sequence[str]) -> None:
    _run(_BESIDE_ORM_PEER, names)


def _run(comparison: _Comparison, names: Sequence[str]) -> None:
    names = names or list(comparison.goals)
    if unknown := set(names) - set(comparison.goals):
        raise SystemExit(f"No such call: {', '.join(unknown)}. There are {', '.join(comparison.goals)}.")
    if shutil.which("wrk") is None:
        raise SystemExit("This benchmark needs wrk, Debian's package of that name.")
    os.environ |= comparison.environment
    seed.empty()
    TariffFactory.create()
    (token,) = seed.accounts(1, url=_WEBHOOK)
    key = key_of(SellerFactory.create())
    with _rota(token.clear_text, key) as rota, _peer(comparison.peer, token.clear_text, key) as peer:
        databases = _url(connection.settings_dict["NAME"]), _url(_PEER_DATABASE)
        servers = (
            same_answers.Server(side.base, side.calls, url) for side, url in zip((rota, peer), databases, strict=True)
        )
        same_answers.check(names, *servers)
        found = load.in_turn((rota, peer), names, rounds=_ROUNDS, seconds=_SECONDS)
        _report_cpu(comparison, names, found)
        _report_p99(rota, peer, names, found)
        for side in (rota, peer):
            sizes = ", ".join(f"{size:.0f} MB" for size in _memory(side))
            print(f"Memory of each web process afterwards, {side.name}: {sizes}")
        counts = ", ".join(f"{name} {api_calls.statements(rota.calls[name])}" for name in names)
        print(f"Statements of Rota: {counts}\n\n{comparison.notes}", flush=True)


def _report_cpu(comparison: _Comparison, names: Sequence[str], found: dict[tuple[str, str], list[Turn]]) -> None:
    rows = []
    for name in names:
        rota, peer = found["Rota", name], found["peer", name]
        spent = [[_counted(turn, comparison.counted) for turn in turns] for turns in (rota, peer)]
        ratios = [one / other for one, other in zip(*spent, strict=True)]
        rows.append(
            [
                name,
                report.spread(ratios, digits=2),
                f"{comparison.goals[name]}",
                *(f"{median(turn.cpu[kind] for turn in rota):.2f}" for kind in ("web", "PostgreSQL", "Redis")),
                *(f"{median(turn.cpu[kind] for turn in peer):.2f}" for kind in ("web", "PostgreSQL")),
                *(f"{median(turn.per_second for turn in turns):,.0f}" for turns in (rota, peer)),
            ]
        )
    report.table(
        f"CPU time of {', '.join(comparison.counted)} (user and system), {_ROUNDS} rounds of {_SECONDS} s in turn, two "
        "web processes each: ratio, median (least to greatest), and CPU seconds for 1,000 calls",
        ["call", "ratio to the peer", "goal", "web", "PostgreSQL", "Redis", "peer's web", "peer's PostgreSQL",
         "calls/s", "peer's calls/s"],
        rows,
    )  # fmt: skip  # the names of the columns are one line of a table


def _counted(turn: Turn, names: Sequence[str]) -> float:
    """Of the processes with these names, as far as the side has them."""
    return sum(turn.cpu.get(name, 0.0) for name in names)


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
        delivery, driver = Delivery.objects.get(pk=delivery_id), DriverFactory.create(name="Driver 1", at_point=PICKUP)
        deliveries.accept(delivery=delivery, driver=driver, by=BY, at=timezone.now())

    port = free_port()
    base = f"http://127.0.0.1:{port}"
    os.environ["WEB_WORKERS"] = "2"
    with processes.web(port) as web:
        calls = api_calls.prepare(base, token=token, key=key, accept=accept)
        yield Side("Rota", base, calls, {"web": web, **processes.embedded_pids()})


@contextmanager
def _peer(name: str, token: str, key: str) -> Iterator[Side]:
    port, folder = free_port(), BASE_DIR / "benchmarks" / name
    python = BASE_DIR / "var" / "bench" / name / "bin" / "python"
    base = f"http://127.0.0.1:{port}"
    with connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {_PEER_DATABASE}")
        cursor.execute(f"CREATE DATABASE {_PEER_DATABASE}")
    environment = {"PEER_DATABASE": _url(_PEER_DATABASE), "PYTHONPATH": str(folder)}

    def script(*arguments: str) -> None:
        subprocess.run([python, *arguments], cwd=_SCRIPTS, env=os.environ | environment, check=True)

    script("seed.py", token, key)
    if folder != _SCRIPTS:  # it has tables of its own
        with psycopg.connect(_url(_PEER_DATABASE)) as opened:
            opened.execute((folder / "schema.sql").read_bytes())
    command = [
        str(python), "-m", "granian", "--interface", "asgi", "--loop", "uvloop", "--port", str(port), "--workers", "2",
        "--log-level", "warning", "--http", "1", "--no-ws", "--backlog", "4096", "--working-dir", str(folder),
        "app:app",
    ]  # fmt: skip
    with processes.server(command, port, environment) as web:
        calls = api_calls.prepare(base, token=token, key=key, accept=lambda delivery: script("accept.py", delivery))
        yield Side("peer", base, calls, {"web": web, "PostgreSQL": processes.embedded_pids()["PostgreSQL"]})


def _url(database: str) -> str:
    settings = connection.settings_dict
    return f"postgresql://{settings['USER']}@/{database}?host={settings['HOST']}"


def _memory(side: Side) -> list[float]:
    """Megabytes of the workers, each process's share of shared pages included once."""
    workers = psutil.Process(side.pids["web"]).children(recursive=True)
    return [worker.memory_full_info().pss / 1e6 for worker in workers]
