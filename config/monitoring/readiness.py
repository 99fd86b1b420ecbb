"""What `/readyz` examines: the servers behind this process, and whether the other processes work.

The answer names no host, error text or version, because everybody may ask.
"""

import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from threading import Lock

from django.db import Error, connection
from django.db.migrations.loader import MigrationLoader
from redis import RedisError
from redis.exceptions import OutOfMemoryError

from common import clock
from common.cached import Cached
from common.connections import redis
from common.webhooks import queue
from config.monitoring import heartbeats

_log = logging.getLogger(__name__)
DEADLINE_SECONDS = 2.0
_CACHED_SECONDS = 1.0
_SILENT_SECONDS = 30  # beat starts a task every five seconds, and both write a sign of life every five
_LATE_SECONDS = 60
# Without these the process cannot answer requests. Calls are answered without Redis, workers and beat: what they would
# do is kept in PostgreSQL and done later, so taking the web processes away too would help nobody.
REQUIRED = frozenset({"database", "migrations"})
_LATE = "no answer in time"
_IS_STANDBY = "SELECT current_setting('transaction_read_only')"
_OF_DATABASE = ("migrations", "clock", "webhooks")


@dataclass(frozen=True)
class Result:
    ok: bool
    why: str
    milliseconds: float


Results = dict[str, Result]


class _Failed(Exception):
    """A check has failed; the text says why."""


class _Group:
    """Checks of one server, made one after the other in a thread of its own.

    A thread that hangs is waited for again by the next call and not joined by another one.
    """

    def __init__(self, names: tuple[str, ...], run: Callable[[Results], None]) -> None:
        self.names, self._run = names, run
        self._results: Results = {}
        self._lock = Lock()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix=f"readiness-{names[0]}")
        self._running: Future[None] | None = None

    def start(self) -> "Future[None]":
        with self._lock:
            if self._running is None or self._running.done():
                self._results = {}
                self._running = self._pool.submit(self._run, self._results)
            return self._running

    def results(self) -> Results:
        """Those that are there. The others count as failed."""
        found = dict(self._results)
        return {name: found.get(name, Result(False, _LATE, DEADLINE_SECONDS * 1000)) for name in self.names}


@contextmanager
def _timed(results: Results, name: str) -> Iterator[None]:
    """Record the result of a check. Only errors that neither PostgreSQL nor Redis causes are raised: defects."""
    started, why = time.perf_counter(), ""
    try:
        yield
    except _Failed as failed:
        why = str(failed)
    except (Error, RedisError) as error:
        _log.warning("The check %s failed: %s", name, error)
        why = "it cannot be reached or answers with an error"
    results[name] = Result(not why, why, round((time.perf_counter() - started) * 1000, 1))


def _check_database(results: Results) -> None:
    try:
        with _timed(results, "database"), connection.cursor() as cursor:
            cursor.execute(_IS_STANDBY)
            if cursor.fetchone() != ("off",):  # behind a pooler, which may lead to a standby
                raise _Failed("it is a standby, so nothing can be written to it")
        if not results["database"].ok:  # the others would wait for it too, one after the other
            results.update(dict.fromkeys(_OF_DATABASE, Result(False, "the database does not answer", 0.0)))
            return
        with _timed(results, "migrations"), connection.cursor() as cursor:
            cursor.execute("SELECT app, name FROM django_migrations")
            if not _expected_migrations() <= set(cursor.fetchall()):
                raise _Failed("migrations are pending: run manage.py migrate")
        with _timed(results, "clock"):
            try:
                clock.agreed_now()
            except clock.ClocksDiffer as error:
                _log.warning("The check clock failed: %s", error)
                raise _Failed("the clocks of this machine and of PostgreSQL differ") from error
        with _timed(results, "webhooks"):
            if queue.oldest_due_of_all_seconds(at=clock.now()) > _LATE_SECONDS:
                raise _Failed(f"an event has been due for more than {_LATE_SECONDS} s")
    finally:
        connection.close()  # it is not used again before the next probe


def _check_redis(results: Results) -> None:
    with _timed(results, "redis"):
        try:
            redis().set("rota:readyz", 1, px=1000)
        except OutOfMemoryError as error:  # it answers a ping, and takes no task
            raise _Failed("its memory is full, so nothing can be written to it") from error
    for process in heartbeats.PROCESSES:
        with _timed(results, process):
            age = heartbeats.ages()[process]
            if age is None or age > _SILENT_SECONDS:
                raise _Failed(f"no sign of life for {_SILENT_SECONDS} s")
    with _timed(results, "worker_clock"):
        if heartbeats.does_clock_differ():
            raise _Failed("the clocks of a worker's machine and of PostgreSQL differ")


@cache
def _expected_migrations() -> set[tuple[str, str]]:
    """The last migrations of every app of this version. A newer version's database has them too."""
    return set(MigrationLoader(None).graph.leaf_nodes())


_GROUPS = (
    _Group(("database", *_OF_DATABASE), _check_database),
    _Group(("redis", "beat", "worker", "worker_clock"), _check_redis),
)


def _examine() -> Results:
    _expected_migrations()  # reads files at the first call, which is not to count towards the deadline
    for group in wait([group.start() for group in _GROUPS], timeout=DEADLINE_SECONDS).done:
        group.result()  # raises defects
    return {name: result for group in _GROUPS for name, result in group.results().items()}


_results = Cached(_examine, seconds=_CACHED_SECONDS)


def results() -> Results:
    """Every check by its name, at most a second old unless they are being made anew. Within the deadline."""
    return _results.get()
