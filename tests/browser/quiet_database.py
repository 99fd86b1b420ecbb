"""Between two tests: the requests that outlive a page."""

import time
from collections.abc import Sequence

import pytest
from django.db import OperationalError, connection
from django.db.backends.base.operations import BaseDatabaseOperations
from psycopg.errors import DeadlockDetected

_OTHERS = """
    SELECT left(query, 200) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND backend_type = 'client backend' AND state <> 'idle'
"""


def wait(*, seconds: float = 20) -> None:
    """Wait until no other connection is in a transaction.

    A page is closed without its last requests, such as those that answer a message of its stream, and the server works
    them to their end. The tables are emptied after each test with one TRUNCATE, which deadlocks with a request that has
    locked some of them. Two looks, because a request has read its body before its transaction begins.
    """
    end = time.monotonic() + seconds
    quiet = 0
    with connection.cursor() as cursor:
        while quiet < 2:
            cursor.execute(_OTHERS)
            others = [query for (query,) in cursor.fetchall()]
            quiet = 0 if others else quiet + 1
            assert time.monotonic() < end, f"Still running: {others}"
            time.sleep(0.05)


def empty_again(patch: pytest.MonkeyPatch) -> None:
    """Let the TRUNCATE after each test be tried again after a deadlock.

    On a machine under load a request may begin its transaction later than the looks above.
    """
    operations = type(connection.ops)
    once = operations.execute_sql_flush

    def flush(self: BaseDatabaseOperations, statements: Sequence[str]) -> None:
        for _try in range(4):
            try:
                return once(self, statements)
            except OperationalError as error:
                if not isinstance(error.__cause__, DeadlockDetected):
                    raise
        return once(self, statements)

    patch.setattr(operations, "execute_sql_flush", flush)
