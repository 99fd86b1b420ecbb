"""Kills, freezes and restarts the embedded servers."""

import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg
from django.db import connection

from config.env import data_dir
from dev import embedded
from tests import servers
from tests.faults.waiting import DEADLINE_SECONDS, until

# All, and those that end a transaction of several statements.
_HELD_COMMITS = """
SELECT count(*), count(*) FILTER (WHERE query = 'COMMIT') FROM pg_stat_activity WHERE wait_event = 'SyncRep'
"""


@contextmanager
def no_redis() -> Iterator[None]:
    """Redis is killed; an empty one is started at the end."""
    assert servers._redis is not None
    servers._redis.kill()
    servers._redis.wait(DEADLINE_SECONDS)
    try:
        yield
    finally:
        # The end of the session stops the process in this variable.
        servers._redis = subprocess.Popen(embedded.redis_command(), stdin=subprocess.DEVNULL)
        embedded.wait_for_redis(servers._redis)


@contextmanager
def no_postgres() -> Iterator[None]:
    """All processes of PostgreSQL get SIGKILL; at the end it is started again and replays its log."""
    server = embedded.hold_postgres()
    assert server is not None
    for process in _suspended(server.folder):  # so that none is forked meanwhile
        process.kill()
    until(lambda: not server.is_running(), what="PostgreSQL is killed")
    try:
        yield
    finally:
        server.ensure_running()
        server.release()  # the session goes on holding it
        connection.close()  # this thread's was cut


@contextmanager
def frozen_postgres(folder: Path | None = None) -> Iterator[None]:
    """The processes of a PostgreSQL stand still: connections stay open, and nothing is answered."""
    stopped = _suspended(folder or data_dir() / "postgres")
    try:
        yield
    finally:
        for process in reversed(stopped):
            process.resume()


def _suspended(folder: Path) -> list[psutil.Process]:
    """The processes of a PostgreSQL, the postmaster first; all have got SIGSTOP."""
    postmaster = psutil.Process(int((folder / "postmaster.pid").read_text().splitlines()[0]))
    postmaster.suspend()
    stopped = [postmaster, *postmaster.children()]
    for process in stopped[1:]:
        process.suspend()
    return stopped


@contextmanager
def held_commits() -> Iterator[Callable[[], bool]]:
    """PostgreSQL makes commits durable and does not say so: it waits for a replica that does not exist.

    Yields a function that says whether the commit of a transaction of several statements is held. At the end PostgreSQL
    goes on, also with commits of clients that have gone, and others see them from then on.
    """
    ending = threading.Event()

    def commit() -> None:
        """Until the setting is in force, which then holds this commit too."""
        with psycopg.connect(embedded.postgres_url(), autocommit=True) as trial:
            while not ending.is_set():
                trial.execute("SELECT pg_logical_emit_message(TRUE, 'tests', '')")

    thread = threading.Thread(target=commit)
    with psycopg.connect(embedded.postgres_url(), autocommit=True) as own:

        def held() -> tuple[int, int]:
            (row,) = own.execute(_HELD_COMMITS).fetchall()
            return row

        own.execute("ALTER SYSTEM SET synchronous_standby_names = 'none'")
        own.execute("SELECT pg_reload_conf()")
        thread.start()
        try:
            until(lambda: held()[0] > 0, what="the setting is in force")
            yield lambda: held()[1] > 0
        finally:
            ending.set()
            own.execute("ALTER SYSTEM RESET synchronous_standby_names")
            own.execute("SELECT pg_reload_conf()")
            thread.join()
