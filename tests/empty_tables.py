"""Removes what a test has committed."""

from functools import cache

import psycopg
from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.db import connection

# Their rows are made by the migrations; those that a test adds have higher keys.
_FILLED = tuple(model._meta.db_table for model in (ContentType, Permission, Group, Group.permissions.through))


def empty() -> None:
    """Delete the rows of all tables, and in those that the migrations fill the rows that came later.

    A test leaves few rows, which are deleted a hundred times faster than Django truncates all tables and makes content
    types and permissions anew. Without triggers, because those of histories forbid it: only a superuser may do that.
    """
    for last_try in (False, False, True):
        try:
            _delete()
        except psycopg.OperationalError:  # a deadlock with a page's last request, or a test has ended all connections
            if last_try:
                raise
            if _connection().closed:
                _connection.cache_clear()
        else:
            return


def end_other_connections() -> None:
    """End what holds the database at the end of the session: our own, and a request that has outlived its page."""
    _connection().close()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def _delete() -> None:
    own = _connection()
    with own.transaction():
        question = " UNION ALL ".join(f"SELECT '{some}' WHERE EXISTS (SELECT FROM {some})" for some in rows())  # noqa: S608  # names of tables
        left = [some for (some,) in own.execute(question.encode(), prepare=True)]
        own.execute("SET LOCAL session_replication_role = replica")
        for some in left:
            own.execute(f"DELETE FROM {some}".encode())  # noqa: S608  # a table's name


@cache
def _connection() -> psycopg.Connection:
    """Held for the session: a new connection, such as Django's after each test, has to read the whole catalogue."""
    return psycopg.connect(**connection.get_connection_params() | {"cursor_factory": psycopg.Cursor}, autocommit=True)


@cache
def rows() -> list[str]:
    """What to delete: each table, with a condition where some rows stay. To be called before the first test."""
    names = connection.introspection.django_table_names(only_existing=True, include_views=False)
    conditions = {}
    with connection.cursor() as cursor:
        for name in _FILLED:
            cursor.execute(f"SELECT coalesce(max(id), 0) FROM {name}")  # noqa: S608  # a table's name
            conditions[name] = f" WHERE id > {cursor.fetchone()[0]}"
    return [connection.ops.quote_name(name) + conditions.get(name, "") for name in names]
