"""`make run`: everything in the foreground. Sets up, starts, keeps alive, and ends all of it with Ctrl-C.

PostgreSQL and Redis are started too where no URL names one. Children live in sessions of their own, so that Ctrl-C
reaches only this process, which ends them in order; should it be killed outright, the kernel ends them (Linux).
"""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from types import FrameType
from typing import NoReturn, TypeVar

import psycopg

from config import checks
from config.env import BASE_DIR, StartRefused, data_dir, env, is_embedded
from config.local import embedded
from config.local.banner import banner
from config.local.children import Child, die_with_parent, say
from config.local.embedded.private import open_private, private_folder, shorten, try_lock

T = TypeVar("T")
_START_SECONDS = 60
_MANAGE_SECONDS = 600
_CONNECT_SECONDS = 5
_STOP_SECONDS = 20
_PATIENCE_SECONDS = 5


def main() -> int:
    if "MAKELEVEL" in os.environ:
        die_with_parent()
    # SIGINT too: a shell starts what runs in its background with Ctrl-C ignored.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    checks.refuse_bad_environment()
    checks.refuse_public_embedded(env.str("HOST", "127.0.0.1"))
    try:
        with _only_run():  # until everything has ended, so that the next run does not meet it
            _run(env.int("PORT", 8000))
    except KeyboardInterrupt:
        return 0


def _run(port: int) -> NoReturn:
    children: list[Child] = []
    postgres = None
    try:
        _wait_for_port(port)
        postgres = _timed("PostgreSQL", embedded.hold_postgres)
        _start(children, port)
        print(banner(port, _seed_demo(), is_embedded=is_embedded()), flush=True)
        _tend(children, postgres)
    finally:
        say("Stopping")
        _end(children)
        if postgres is not None:
            postgres.release()


def _start(children: list[Child], port: int) -> None:
    """Start everything but PostgreSQL. `children` grows as it goes, so that a failed start ends what it began."""
    if not env.str("REDIS_URL", ""):
        redis = Child("redis", embedded.redis_command())
        children.append(redis)
        _timed("Redis", lambda: embedded.wait_for_redis(redis.start()))
    _timed("Connection to PostgreSQL", _check_database)
    _timed("Database schema", lambda: _manage("migrate", "--verbosity", "0"))
    services = processes(port)
    children += services
    for child in services:
        child.start()
    _timed("Web server", lambda: _wait_for_web(port, services[0]))


def _check_database() -> None:
    """Raise StartRefused when DATABASE_URL is set and leads to no database."""
    if not (url := env.str("DATABASE_URL", "")):
        return
    try:
        psycopg.connect(url, connect_timeout=_CONNECT_SECONDS).close()
    except psycopg.Error as error:
        raise StartRefused(f"The database of DATABASE_URL cannot be used: {str(error).splitlines()[0]}") from error


def _tend(children: list[Child], postgres: embedded.Postgres | None) -> NoReturn:
    """Start again whatever dies, until a signal interrupts."""
    while True:
        for child in children:
            if child.name == "redis" and child.is_settled and not embedded.redis_socket().exists():
                child.signal_end()  # one of a run that was killed ended late and took this one's socket along
            child.tend()
        if postgres is not None:
            shorten(postgres.log)
            if not postgres.is_running():
                _timed("PostgreSQL had ended; again", postgres.ensure_running)
        shorten(embedded.redis_log())
        time.sleep(0.5)


def processes(port: int) -> list[Child]:
    """The web server, the workers and the clock."""
    host = env.str("HOST", "127.0.0.1")
    python = [sys.executable, "-m"]
    celery = [*python, "celery", "--app", "config", "--quiet"]
    return [
        Child(
            "web",
            [
                *python, "granian", "--interface", "rsgi", "--loop", "uvloop", "--host", host, "--port", str(port),
                "--workers", env.str("WEB_WORKERS", "2"), "--respawn-failed-workers", "--log-level", "warning",
                # Connections: 4,096 per process, however slow. Idle ones close after a minute.
                "--backlog", "4096", "--backpressure", "4096", "--http1-header-read-timeout", "60000",
                "--http", "1", "--no-ws", "config.rsgi:application",
            ],
        ),
        Child(
            "worker",
            [
                # Workers need not know each other, and talk of it breaks when Redis goes away.
                *celery, "worker", "--without-gossip", "--without-mingle", "--without-heartbeat",
                "--concurrency", env.str("WORKERS", "2"), "--loglevel", "WARNING",
            ],
        ),
        Child(
            "beat",
            [
                *celery, "beat", "--schedule", str(private_folder(data_dir() / "beat") / "schedule"),
                "--pidfile=", "--loglevel", "WARNING",
            ],
        ),
    ]  # fmt: skip  # a command reads better in a few lines than in twenty


@contextmanager
def _only_run() -> Iterator[None]:
    """Hold the data folder's lock; the kernel lets go of it however this process ends."""
    path = data_dir() / "run.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = open_private(path)
    try:
        if not _patiently(lambda: try_lock(handle)):
            raise StartRefused(f"Rota is running already with the data in {data_dir()}. Set DATA_DIR for another one.")
        yield
    finally:
        os.close(handle)


def _wait_for_port(port: int) -> None:
    def is_free() -> bool:
        with socket.socket() as probe, suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((env.str("HOST", "127.0.0.1"), port))
            return True
        return False

    if not _patiently(is_free):
        raise StartRefused(f"Port {port} is taken. Choose another one: PORT=8001 make run")


def _patiently(is_true: Callable[[], bool]) -> bool:
    """Whether it becomes true within five seconds, which is what a run that was just ended may need to go away."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not is_true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def _manage(*arguments: str) -> str:
    """Run a management command. Returns what it printed; raises StartRefused."""
    try:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=BASE_DIR, check=True, stdout=subprocess.PIPE, text=True, timeout=_MANAGE_SECONDS,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise StartRefused(
            f"manage.py {arguments[0]} has not ended within {_MANAGE_SECONDS} s; run it by itself."
        ) from error
    except subprocess.CalledProcessError as error:
        raise StartRefused(f"manage.py {arguments[0]} failed; its message stands above.") from error
    return done.stdout


def _wait_for_web(port: int, web: Child) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and web.process is not None and web.process.poll() is None:
        with suppress(OSError, HTTPException), closing(HTTPConnection("127.0.0.1", port, timeout=2)) as connection:
            connection.request("GET", "/healthz")
            # 400 where ALLOWED_HOSTS does not name this address, 301 where all is sent to TLS: it is up.
            if connection.getresponse().status < HTTPStatus.INTERNAL_SERVER_ERROR:
                return
        time.sleep(0.1)
    raise StartRefused("The web server did not come up; its messages stand above.")


def _seed_demo() -> dict[str, str] | None:
    """Demo data in an empty database of ours, or in another one where that is wanted. None: nothing was made.

    After everything else, because what it returns is shown once.
    """
    (data_dir() / "demo.json").unlink(missing_ok=True)  # where earlier versions kept them
    if not is_embedded() and not env.bool("SEED_DEMO", False):
        return None
    credentials: dict[str, str] | None = json.loads(_timed("Demo data", lambda: _manage("seed_demo")))
    return credentials


def _timed(what: str, do: Callable[[], T]) -> T:
    started = time.monotonic()
    result = do()
    say(f"{what} ready ({time.monotonic() - started:.1f} s)")
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


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    # Once is enough: while everything is being stopped, another signal must not interrupt that.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
