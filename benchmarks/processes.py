"""Context managers for the servers and processes of a benchmark, with their data in var/bench."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import IO

import psutil

from config.env import BASE_DIR
from config.processes import commands
from dev import embedded

DATA = BASE_DIR / "var" / "bench"
_START_SECONDS = 120


def set_up() -> None:
    """Set up Django for the embedded servers, which need not run. Ignores DATABASE_URL and REDIS_URL."""
    for name in ("DATABASE_URL", "REDIS_URL"):
        os.environ.pop(name, None)
    os.environ |= {
        "DATA_DIR": str(DATA),
        "LOG_LEVEL": "ERROR",
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "RATE_LIMIT_PER_SECOND": "0",
        "RATE_LIMIT_PER_HOUR": "0",
    }
    import django

    django.setup()


@contextmanager
def servers() -> Iterator[None]:
    """Set up Django, start embedded PostgreSQL and Redis, and migrate."""
    set_up()
    with embedded_servers(DATA):
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        yield


@contextmanager
def embedded_servers(data: Path, options: Mapping[str, str] = MappingProxyType({})) -> Iterator[None]:
    """Start embedded PostgreSQL and Redis with their data in this folder, and set DATA_DIR to it.

    `options` are parameters of PostgreSQL.
    """
    os.environ["DATA_DIR"] = str(data)
    postgres = embedded.Postgres(data / "postgres", options)
    redis = subprocess.Popen(embedded.redis_command(), stdin=subprocess.DEVNULL)
    try:
        embedded.wait_for_redis(redis)
        yield
    finally:
        _end(redis)
        postgres.release()


def embedded_pids(data: Path = DATA) -> dict[str, int]:
    """The processes of the embedded servers with this data: Redis, and the first one of PostgreSQL."""
    children = psutil.Process().children()
    (redis,) = (child.pid for child in children if any(str(data / "redis") in word for word in child.cmdline()))
    postgres = (data / "postgres" / "postmaster.pid").read_text().split()[0]
    return {"PostgreSQL": int(postgres), "Redis": redis}


@contextmanager
def worker(*, processes: int, beat: bool = False) -> Iterator[int]:
    """Start a Celery worker and wait until it is ready: its process's id. With `beat`, start Celery beat too."""
    from config.celery import app

    app.control.purge()
    os.environ["WORKERS"] = str(processes)
    running = [_start(commands(0)[name]) for name in (["worker", "beat"] if beat else ["worker"])]
    try:
        _wait_until(lambda: bool(app.control.ping(timeout=0.5)), "the worker")
        yield running[0].pid
    finally:
        for process in reversed(running):
            _end(process)


@contextmanager
def web(port: int) -> Iterator[int]:
    """Start the web server at `port` as `make run` does, and wait until it listens. The process's id."""
    with server(commands(port)["web"], port) as pid:
        yield pid


@contextmanager
def server(
    command: list[str],
    port: int,
    environment: Mapping[str, str] | None = None,
    *,
    folder: Path = BASE_DIR,
    output: IO[bytes] | None = None,
) -> Iterator[int]:
    """Start a server in this folder and wait until it listens. Its process's id. `output` receives its messages."""
    process = _start(command, stdout=output, stderr=output, environment=environment, folder=folder)
    try:
        _wait_until(lambda: _listens(port), command[0])
        yield process.pid
    finally:
        _end(process)


def cpu_seconds(pid: int) -> float:
    """User and system time of a process and its descendants, those included that have ended and been waited for.

    From `/proc`: psutil reads all processes of the machine to find children, which takes milliseconds.
    """
    ticks, left = 0, [pid]
    while left:
        one = Path(f"/proc/{left.pop()}")
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended since it was found
            ticks += sum(int(each) for each in (one / "stat").read_text().rpartition(")")[2].split()[11:15])
            left += (int(child) for task in one.glob("task/*/children") for child in task.read_text().split())
    return ticks / os.sysconf("SC_CLK_TCK")


def postgres_cpu_seconds() -> float:
    return cpu_seconds(int((DATA / "postgres" / "postmaster.pid").read_text().splitlines()[0]))


class Sink:
    """The webhook endpoint of all integrators: `url` answers 204 after 1 ms, `hanging_url` never answers."""

    def __init__(self, port: int, record: Path) -> None:
        self.url = f"http://127.0.0.1:{port}/hook"
        self.hanging_url = f"http://127.0.0.1:{port}/hang"
        self._record = record

    def received(self) -> dict[str, float]:
        """Monotonic time of the first receipt of each webhook-id, in seconds. Call it after the sink has ended."""
        times: dict[str, float] = {}
        for line in self._record.read_text().splitlines():
            webhook_id, _, at = line.partition(" ")
            times.setdefault(webhook_id, float(at))
        return times


@contextmanager
def sink() -> Iterator[Sink]:
    record = DATA / "received"
    process = _start([sys.executable, "-m", "benchmarks.sink", str(record)], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        yield Sink(int(process.stdout.readline()), record)
    finally:
        _end(process)
        if process.stdout is not None:
            process.stdout.close()


def _start(
    command: list[str],
    *,
    stdout: int | IO[bytes] | None = None,
    stderr: IO[bytes] | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path = BASE_DIR,
) -> "subprocess.Popen[bytes]":
    env = {**os.environ, **(environment or {})}
    return subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, env=env)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _wait_until(is_true: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        with suppress(OSError):
            if is_true():
                return
        time.sleep(0.1)
    raise RuntimeError(f"{what} did not start within {_START_SECONDS} s")
