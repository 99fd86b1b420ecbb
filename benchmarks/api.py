"""Calls of both APIs, compared with the same endpoints on FastAPI, pydantic, SQLAlchemy and asyncpg.

Both sides have two worker processes of granian, the same PostgreSQL server and durable commits. They take turns.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import psutil
from django.db import connection
from django.utils import timezone

from benchmarks import api_calls, processes, report, seed
from benchmarks.api_calls import Call
from config.env import BASE_DIR
from delivery.actions import deliveries
from delivery.models import Delivery
from tests.factories import BY, PICKUP, DriverFactory, TariffFactory
from tests.integration.factories import SellerFactory, key_of
from tests.ports import free_port

_PEER = BASE_DIR / "benchmarks" / "api_peer"
_PYTHON = BASE_DIR / "var" / "bench" / "api_peer" / "bin" / "python"
_SECONDS, _ROUNDS, _CONNECTIONS = 5, 5, 8


class Side(NamedTuple):
    """A server: where it listens, its process, and the calls that are measured there."""

    name: str
    base: str
    pid: int
    calls: dict[str, Call]


class Measured(NamedTuple):
    """Calls per second, milliseconds, and CPU seconds of the web processes for 1,000 calls."""

    per_second: float
    p50: float
    p99: float
    cpu: float


def run(names: Sequence[str]) -> None:
    """Measure the calls with these names, without any all calls."""
    names = names or api_calls.NAMES
    if unknown := set(names) - set(api_calls.NAMES):
        raise SystemExit(f"No such call: {', '.join(unknown)}. There are {', '.join(api_calls.NAMES)}.")
    if shutil.which("wrk") is None:
        raise SystemExit("This benchmark needs wrk, Debian's package of that name.")
    seed.empty()
    TariffFactory.create()
    (token,) = seed.accounts(1, url="")
    key = key_of(SellerFactory.create())
    with _rota(token.clear_text, key) as rota, _peer(token.clear_text, key) as peer:
        api_calls.check_same_answers(rota.calls, rota.base, peer.calls, peer.base)
        found: dict[tuple[str, str], list[Measured]] = {}
        for round_ in range(_ROUNDS):
            for name in names:
                for side in (rota, peer) if round_ % 2 else (peer, rota):
                    found.setdefault((side.name, name), []).append(_measure(side, name))
        memory = {side.name: _memory(side) for side in (rota, peer)}
        statements = {name: api_calls.statements(rota.calls[name]) for name in names}
    _report(found, memory)
    print(f"Statements of Rota: {', '.join(f'{name} {count}' for name, count in statements.items())}\n", flush=True)


def _report(found: dict[tuple[str, str], list[Measured]], memory: dict[str, list[float]]) -> None:
    rows = []
    for (side, call), measured in found.items():
        ratios = [one.per_second / other.per_second for one, other in zip(measured, found["peer", call], strict=True)]
        rows.append(
            [
                call,
                side,
                report.spread([one.per_second for one in measured]),
                report.spread(ratios, digits=2),
                report.spread([one.p50 for one in measured], digits=1),
                report.spread([one.p99 for one in measured], digits=1),
                report.spread([one.cpu for one in measured], digits=2),
            ]
        )
    report.table(
        f"{_CONNECTIONS} connections of wrk for {_SECONDS} s, {_ROUNDS} rounds in turn, two web processes each, "
        "all on the same cores; median (least to greatest)",
        ["call", "side", "calls/s", "ratio to the peer", "p50 ms", "p99 ms", "CPU seconds per 1,000 calls"],
        sorted(rows),
    )
    for side, megabytes in memory.items():
        print(f"Memory of each web process afterwards, {side}: {', '.join(f'{size:.0f} MB' for size in megabytes)}")
    print(flush=True)


@contextmanager
def _rota(token: str, key: str) -> Iterator[Side]:
    def accept(delivery_id: str) -> None:
        delivery, driver = Delivery.objects.get(pk=delivery_id), DriverFactory.create(at_point=PICKUP)
        deliveries.accept(delivery=delivery, driver=driver, by=BY, at=timezone.now())

    port = free_port()
    base = f"http://127.0.0.1:{port}"
    os.environ["WEB_WORKERS"] = "2"
    with processes.web(port) as pid:
        yield Side("Rota", base, pid, api_calls.prepare(base, token=token, key=key, accept=accept))


@contextmanager
def _peer(token: str, key: str) -> Iterator[Side]:
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    settings = connection.settings_dict
    with connection.cursor() as cursor:
        cursor.execute("DROP DATABASE IF EXISTS peer_api")
        cursor.execute("CREATE DATABASE peer_api")
    url = f"postgresql+asyncpg://{settings['USER']}@/peer_api?host={settings['HOST']}"
    environment = {"PEER_DATABASE": url, "PYTHONPATH": str(_PEER)}

    def script(*arguments: str) -> None:
        subprocess.run([_PYTHON, *arguments], cwd=_PEER, env=os.environ | environment, check=True)

    script("seed.py", token, key)
    command = [
        str(_PYTHON), "-m", "granian", "--interface", "asgi", "--loop", "uvloop", "--port", str(port), "--workers", "2",
        "--log-level", "warning", "--http", "1", "--no-ws", "--backlog", "4096", "--working-dir", str(_PEER), "app:app",
    ]  # fmt: skip
    with processes.server(command, port, environment) as pid:
        calls = api_calls.prepare(base, token=token, key=key, accept=lambda delivery: script("accept.py", delivery))
        yield Side("peer", base, pid, calls)


def _measure(side: Side, name: str) -> Measured:
    call = side.calls[name]
    environment = os.environ | {"METHOD": call.method, "BODY": call.body, "AUTHORIZATION": call.authorization}
    command = ["wrk", "-t1", f"-c{_CONNECTIONS}", "-s", "benchmarks/call.lua", f"{side.base}{call.path}"]

    def run_wrk(seconds: int) -> str:
        env = environment | {"FRESH": api_calls.fresh()}
        timed = [*command, f"-d{seconds}"]
        return subprocess.run(timed, cwd=BASE_DIR, env=env, check=True, capture_output=True, text=True).stdout

    run_wrk(1)
    before = _cpu_seconds(side.pid)
    output = run_wrk(_SECONDS)
    cpu = _cpu_seconds(side.pid) - before
    found = json.loads(output.splitlines()[-1])
    if errors := {kind: count for kind, count in found["errors"].items() if count}:
        raise RuntimeError(f"Of {found['calls']} calls of {name} at {side.name} failed: {errors}")
    print(f"{side.name} {name}: {found['calls'] / found['seconds']:,.0f}/s", file=sys.stderr, flush=True)
    per_second = found["calls"] / found["seconds"]
    return Measured(per_second, found["p50_ms"], found["p99_ms"], 1000 * cpu / found["calls"])


def _web_processes(pid: int) -> list[psutil.Process]:
    parent = psutil.Process(pid)
    return parent.children(recursive=True) or [parent]


def _cpu_seconds(pid: int) -> float:
    return sum(sum(process.cpu_times()[:2]) for process in _web_processes(pid))


def _memory(side: Side) -> list[float]:
    """Megabytes, each process's share of shared pages included once."""
    return [process.memory_full_info().pss / 1e6 for process in _web_processes(side.pid)]
