"""The embedded servers going away and coming back."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from config.local import embedded
from tests import servers


@contextmanager
def no_redis() -> Iterator[None]:
    """Redis is killed; afterwards there is an empty one."""
    assert servers._redis is not None
    servers._redis.kill()
    servers._redis.wait(10)
    try:
        yield
    finally:
        # Held where the session's end looks for it.
        servers._redis = subprocess.Popen(embedded.redis_command(), stdin=subprocess.DEVNULL)
        embedded.wait_for_redis(servers._redis)


def restart_postgres() -> None:
    """As after a crash: no shutdown checkpoint, every connection cut, the log replayed."""
    server = embedded.hold_postgres()
    assert server is not None
    server.stop("immediate")
    server.ensure_running()
    server.release()  # the session goes on holding it
    connection.close()  # this thread's was cut
