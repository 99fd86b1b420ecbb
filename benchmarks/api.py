"""Calls of immediate delivery, compared with the same endpoints on FastAPI, pydantic, SQLAlchemy and asyncpg.

Both sides have two worker processes of granian, the same PostgreSQL server and durable commits. They take turns.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import psutil
import requests
from django.db import connection

from benchmarks import processes, report, seed
from config.env import BASE_DIR
from delivery.models import Token
from tests.factories import TariffFactory, payload
from tests.ports import free_port

_PEER = BASE_DIR / "benchmarks" / "api_peer"
_PYTHON = BASE_DIR / "var" / "bench" / "api_peer" / "bin" / "python"
_SECONDS, _ROUNDS, _CONNECTIONS = 5, 5, 8
_NAMES = ("quotation-delivery", "request-delivery", "info-delivery")


class Side(NamedTuple):
    """A server: where it listens, its process, and the calls that are measured there: method, path and body."""

    name: str
    base: str
    pid: int
    calls: dict[str, tuple[str, str, str]]


class Measured(NamedTuple):
    """Calls per second, milliseconds, and CPU seconds of the web processes for 1,000 calls."""

    per_second: float
    p50: float
    p99: float
    cpu: float


def run() -> None:
    if shutil.which("wrk") is None:
        raise SystemExit("This benchmark needs wrk, Debian's package of that name.")
    seed.empty()
    TariffFactory.create()
    (token,) = seed.accounts(1, url="")
    with _rota(token) as rota, _peer(token) as peer:
        found: dict[tuple[str, str], list[Measured]] = {}
        for round_ in range(_ROUNDS):
            for call in _NAMES:
                for side in (rota, peer) if round_ % 2 else (peer, rota):
                    found.setdefault((side.name, call), []).append(_measure(side, call, token))
        memory = {side.name: _memory(side) for side in (rota, peer)}
    _report(found, memory)


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
def _rota(token: Token) -> Iterator[Side]:
    port = free_port()
    os.environ["WEB_WORKERS"] = "2"
    with processes.web(port) as pid:
        yield _side("Rota", port, pid, token)


@contextmanager
def _peer(token: Token) -> Iterator[Side]:
    port = free_port()
    settings = connection.settings_dict
    with connection.cursor() as cursor:
        cursor.execute("DROP DATABASE IF EXISTS peer_api")
        cursor.execute("CREATE DATABASE peer_api")
    url = f"postgresql+asyncpg://{settings['USER']}@/peer_api?host={settings['HOST']}"
    environment = {"PEER_DATABASE": url, "PYTHONPATH": str(_PEER)}
    subprocess.run([_PYTHON, "seed.py", token.clear_text], cwd=_PEER, env=os.environ | environment, check=True)
    command = [
        str(_PYTHON), "-m", "granian", "--interface", "asgi", "--loop", "uvloop", "--port", str(port), "--workers", "2",
        "--log-level", "warning", "--http", "1", "--no-ws", "--backlog", "4096", "--working-dir", str(_PEER), "app:app",
    ]  # fmt: skip
    with processes.server(command, port, environment) as pid:
        yield _side("peer", port, pid, token)


def _side(name: str, port: int, pid: int, token: Token) -> Side:
    base = f"http://127.0.0.1:{port}"
    body = payload(stops=3)
    headers = {"Authorization": f"Bearer {token.clear_text}"}
    answer = requests.post(f"{base}/api/request-delivery", json=body, headers=headers, timeout=10)
    answer.raise_for_status()
    text = json.dumps(body)
    return Side(
        name,
        base,
        pid,
        {
            "quotation-delivery": ("POST", "/api/quotation-delivery", text),
            "request-delivery": ("POST", "/api/request-delivery", text),
            "info-delivery": ("GET", f"/api/info-delivery/{answer.json()['deliveryId']}", ""),
        },
    )


def _measure(side: Side, call: str, token: Token) -> Measured:
    method, path, body = side.calls[call]
    environment = {"METHOD": method, "BODY": body, "AUTHORIZATION": f"Bearer {token.clear_text}"}
    command = ["wrk", "-t1", f"-c{_CONNECTIONS}", "-s", "benchmarks/call.lua", f"{side.base}{path}"]
    subprocess.run([*command, "-d1"], cwd=BASE_DIR, env=os.environ | environment, check=True, capture_output=True)
    before = _cpu_seconds(side.pid)
    done = subprocess.run(
        [*command, f"-d{_SECONDS}"],
        cwd=BASE_DIR,
        env=os.environ | environment,
        check=True,
        capture_output=True,
        text=True,
    )
    cpu = _cpu_seconds(side.pid) - before
    found = json.loads(done.stdout.splitlines()[-1])
    if found["errors"]:
        raise RuntimeError(f"{found['errors']} of {found['calls']} calls of {call} failed at {side.name}")
    print(f"{side.name} {call}: {found['calls'] / found['seconds']:,.0f}/s", file=sys.stderr, flush=True)
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
