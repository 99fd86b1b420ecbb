"""`make run`: starts all processes in the foreground, restarts those that exit, and stops all at Ctrl-C.

Starts PostgreSQL and Redis too where no URL names one. Children run in sessions of their own, so that Ctrl-C reaches
only this process, which stops them in order. If it is killed, the kernel terminates them (Linux).
"""

import io
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

from config import environment, npm_files, processes
from config.env import BASE_DIR, StartRefused, data_dir, is_embedded
from dev import embedded, schema
from dev.banner import banner
from dev.children import Child, die_with_parent, log
from dev.embedded.private import open_private, shorten, try_lock

T = TypeVar("T")
_START_SECONDS = 120
_MANAGE_SECONDS = 600
_CONNECT_SECONDS = 5
_STOP_SECONDS = 20
_PREVIOUS_RUN_SECONDS = 5


def main() -> int:
    if "MAKELEVEL" in os.environ:
        die_with_parent()
    # SIGINT too: a shell starts background jobs with SIGINT ignored.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names with accents on a terminal that knows ASCII only
    environment.refuse_bad_environment()
    for sentence in environment.misspelt():
        log(sentence)
    environment.refuse_public_embedded(processes.host())
    npm_files.refuse_missing()
    _silence_root()
    try:
        with _only_run():  # held until all processes have stopped, so that the next run cannot overlap
            _run(environment.Web().PORT)
    except KeyboardInterrupt:
        return 0


def _silence_root() -> None:
    """Leave out what Celery says in eight lines at each start of a worker: in a container root is usual."""
    if os.geteuid() == 0:
        filters = (os.environ.get("PYTHONWARNINGS"), "ignore:You're running the worker with superuser privileges")
        os.environ["PYTHONWARNINGS"] = ",".join(filter(None, filters))


def _run(port: int) -> NoReturn:
    children: list[Child] = []
    postgres = None
    try:
        _wait_for_port(port)
        postgres = _timed("PostgreSQL", embedded.hold_postgres)
        _start(children, port)
        print(banner(_base_url(port), _seed_demo(), is_embedded=is_embedded()), flush=True)
        if is_embedded():
            children.append(Child("demo", [sys.executable, "manage.py", "play_demo"]))
            children[-1].start()
        _supervise(children, postgres)
    finally:
        log("Stopping")
        _stop(children)
        if postgres is not None:
            postgres.release()


def _start(children: list[Child], port: int) -> None:
    """Start everything but PostgreSQL. Appends each child before its start, so that a failed start is cleaned up."""
    if not os.environ.get("REDIS_URL"):
        redis = Child("redis", embedded.redis_command())
        embedded.wait_for_end_of_redis()
        children.append(redis)
        _timed("Redis", lambda: embedded.wait_for_redis(redis.start()))
    _timed("Connection to PostgreSQL", _check_database)
    _timed("Database schema", _migrate)
    services = [Child(name, command) for name, command in processes.commands(port).items()]
    children += services
    for child in services:
        child.start()
    _timed("Web server, worker and beat", lambda: _wait_for_services(port, services))


def _local_host() -> str:
    """Host through which this machine reaches the web server."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(processes.host(), processes.host())  # noqa: S104  # nosec B104  # compared only


def _base_url(port: int) -> str:
    host = _local_host()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _check_database() -> None:
    """Raise StartRefused when DATABASE_URL is set and leads to no database."""
    if not (url := os.environ.get("DATABASE_URL")):
        return
    try:
        psycopg.connect(url, connect_timeout=_CONNECT_SECONDS).close()
    except psycopg.Error as error:
        raise StartRefused(f"The database of DATABASE_URL cannot be used: {str(error).splitlines()[0]}") from error


def _migrate() -> None:
    if not schema.is_current():
        if is_embedded():
            schema.begin()
        _manage("migrate", "--verbosity", "0")
        schema.note_current()


def _supervise(children: list[Child], postgres: embedded.Postgres | None) -> NoReturn:
    """Restart processes that exit, until a signal interrupts."""
    while True:
        for child in children:
            if child.name == "redis" and child.is_started and not embedded.redis_socket().exists():
                child.signal_end()  # an orphaned Redis of a killed run unlinked our socket; restart it
            child.restart_if_exited()
        if postgres is not None:
            shorten(postgres.log)
            if not postgres.is_running():
                _timed("PostgreSQL had ended; again", postgres.ensure_running)
        shorten(embedded.redis_log())
        time.sleep(1)


@contextmanager
def _only_run() -> Iterator[None]:
    """Hold the data folder's lock, which the kernel releases however this process ends."""
    path = data_dir() / "run.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = open_private(path)
    try:
        if not _becomes_true(lambda: try_lock(handle)):
            raise StartRefused(f"Rota is running already with the data in {data_dir()}. Set DATA_DIR for another one.")
        yield
    finally:
        os.close(handle)


def _wait_for_port(port: int) -> None:
    try:
        (family, *_kind, address), *_others = socket.getaddrinfo(processes.host(), port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise StartRefused(f"HOST={processes.host()} is no address of this machine: {error.strerror}") from error

    def is_free() -> bool:
        with socket.socket(family) as probe, suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            return True
        return False

    if not _becomes_true(is_free):
        raise StartRefused(f"Port {port} is taken. Choose another one: PORT=8001 make run")


def _becomes_true(is_true: Callable[[], bool]) -> bool:
    """Whether it becomes true within five seconds, the time that a previous run may need to stop."""
    deadline = time.monotonic() + _PREVIOUS_RUN_SECONDS
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
        raise StartRefused(f"manage.py {arguments[0]} failed; see its message above.") from error
    return done.stdout


def _wait_for_services(port: int, children: list[Child]) -> None:
    """Return once the web server answers that worker and beat work. Raises StartRefused, also if one has ended."""
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        for child in children:
            if child.process is not None and child.process.poll() is not None:
                raise StartRefused(f"{child.name} has ended with {child.process.returncode}; see its messages above.")
        with suppress(OSError, HTTPException), closing(HTTPConnection(_local_host(), port, timeout=5)) as connection:
            connection.request("GET", "/readyz")
            answer = connection.getresponse()
            if answer.status == HTTPStatus.BAD_REQUEST:
                return  # ALLOWED_HOSTS lacks this address, so it says nothing
            found = json.loads(answer.read())["checks"]
            if found["worker"]["ok"] and found["beat"]["ok"]:
                return
        time.sleep(0.1)
    raise StartRefused(
        f"Web server, worker and beat gave no sign of life within {_START_SECONDS} s; see their messages above."
    )


def _seed_demo() -> dict[str, str] | None:
    """Fill an empty embedded database. Returns credentials, None if none were made.

    Called last, because the credentials are shown only once.
    """
    if not is_embedded() or schema.has_users():
        return None
    credentials: dict[str, str] | None = json.loads(_timed("Demo data", lambda: _manage("seed_demo")))
    return credentials


def _timed(what: str, do: Callable[[], T]) -> T:
    started = time.monotonic()
    result = do()
    log(f"{what} ready ({time.monotonic() - started:.1f} s)")
    return result


def _stop(children: list[Child]) -> None:
    """Stop the services, then Redis, all within 20 s."""
    deadline = time.monotonic() + _STOP_SECONDS
    for child in reversed(children):
        if child.name != "redis":
            child.signal_end()
    for child in reversed(children):
        child.signal_end()
        child.stop(deadline)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    # A second signal must not interrupt the shutdown.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
