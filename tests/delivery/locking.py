"""Locks between transactions: calls that fail instead of waiting, and waiting until another transaction waits."""

import time
from collections.abc import Callable
from typing import Any

from django.db import connection, transaction


def without_waiting(call: Callable[[], Any]) -> Any:
    """Make the call in a transaction that waits at most 100 ms for a lock; raises OperationalError after that."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '100ms'")
        return call()


def wait_for_a_lock_waiter() -> None:
    """Return once another transaction waits for a row lock of this one."""
    with connection.cursor() as cursor:
        for _try in range(500):
            cursor.execute("SELECT count(*) FROM pg_locks WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))")
            if cursor.fetchone() != (0,):
                return
            time.sleep(0.01)
    raise AssertionError("nothing waited for a lock")
