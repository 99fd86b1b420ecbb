"""Stops, freezes and restarts the embedded servers."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
from django.db import connection

from config.env import data_dir
from config.local import embedded
from tests import servers


@contextmanager
def no_redis() -> Iterator[None]:
    """Redis is killed; an empty one is started at the end."""
    assert servers._redis is not None
    servers._redis.kill()
    servers._redis.wait(10)
    try:
        yield
    finally:
        # The end of the session stops the process in this variable.
        servers._redis = subprocess.Popen(embedded.redis_command(), stdin=subprocess.DEVNULL)
        embedded.wait_for_redis(servers._redis)


@contextmanager
def no_postgres() -> Iterator[None]:
    """PostgreSQL crashes; at the end it is started again and replays its log."""
    server = embedded.hold_postgres()
    assert server is not None
    server.stop("immediate")
    try:
        yield
    finally:
        server.ensure_running()
        server.release()  # the session goes on holding it
        connection.close()  # this thread's was cut


@contextmanager
def frozen_postgres(folder: Path | None = None) -> Iterator[None]:
    """The processes of a PostgreSQL stand still: connections stay open, and nothing is answered."""
    folder = folder or data_dir() / "postgres"
    postmaster = psutil.Process(int((folder / "postmaster.pid").read_text().splitlines()[0]))
    postmaster.suspend()
    stopped = postmaster.children()
    for process in stopped:
        process.suspend()
    try:
        yield
    finally:
        for process in (*stopped, postmaster):
            process.resume()


def restart_postgres() -> None:
    """As after a crash: no shutdown checkpoint, every connection cut, the log replayed."""
    with no_postgres():
        pass
