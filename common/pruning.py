"""Deletion of rows that are no longer kept."""

from typing import Any

from django.db import connection, models
from psycopg import sql

_BATCH = 5000  # rows that one transaction deletes; small, so that none is long

_PRUNE = sql.SQL("DELETE FROM {table} WHERE id IN (SELECT id FROM {table} WHERE {column} < %s LIMIT %s)")


def prune(model: type[models.Model], column: str, *, before: Any) -> int:
    """Delete the rows whose `column` is less than `before`, in batches that are committed one by one.

    Returns how many rows there were. Must not be called within a transaction, which would hold all of them.
    """
    statement = _PRUNE.format(table=sql.Identifier(model._meta.db_table), column=sql.Identifier(column))
    deleted = 0
    while True:
        with connection.cursor() as cursor:
            cursor.execute(statement, [before, _BATCH])
            count: int = cursor.rowcount
        deleted += count
        if count < _BATCH:
            return deleted
