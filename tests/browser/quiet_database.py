"""Between two tests: the requests that outlive a page, and the rows that a test has left."""

import time
from functools import cache

from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.db import OperationalError, connection, transaction
from psycopg.errors import DeadlockDetected

_OTHERS = """
    SELECT left(query, 200) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND backend_type = 'client backend' AND state <> 'idle'
"""
# Their rows are made by the migrations, and no test changes them.
_KEPT = {model._meta.db_table for model in (ContentType, Permission, Group, Group.permissions.through)}


def wait(*, seconds: float = 20) -> None:
    """Wait until no other connection is in a transaction.

    A page is closed without its last requests, such as those that answer a message of its stream, and the server works
    them to their end. Their rows would be seen by the next test. Two looks, because a request has read its body before
    its transaction begins.
    """
    end = time.monotonic() + seconds
    quiet = 0
    with connection.cursor() as cursor:
        while quiet < 2:
            cursor.execute(_OTHERS)
            others = [query for (query,) in cursor.fetchall()]
            quiet = 0 if others else quiet + 1
            assert time.monotonic() < end, f"Still running: {others}"
            time.sleep(0.02)


def empty() -> None:
    """Delete the rows of all tables but those that the migrations fill.

    A test leaves few rows, which are deleted a hundred times faster than 64 tables are truncated, and nothing has to be
    made anew. Without triggers: those of histories would forbid it. The role of the tests is a superuser.
    """
    for last_try in (False, False, True):
        try:
            _delete()
        except OperationalError as error:  # a request began after the wait, on a machine under load
            if last_try or not isinstance(error.__cause__, DeadlockDetected):
                raise
        else:
            return


def _delete() -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(f"SELECT '{name}' WHERE EXISTS (SELECT FROM {name})" for name in _tables()))  # noqa: S608  # names of tables
        filled = [name for (name,) in cursor.fetchall()]
        cursor.execute("SET LOCAL session_replication_role = replica")
        for name in filled:
            cursor.execute(f"DELETE FROM {name}")  # noqa: S608  # a table's name


@cache
def _tables() -> list[str]:
    names = connection.introspection.django_table_names(only_existing=True, include_views=False)
    return [connection.ops.quote_name(name) for name in names if name not in _KEPT]
