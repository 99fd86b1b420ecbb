"""Statements that PostgreSQL parses and plans once for each connection.

For statements that every call of an API executes. Django's own are parsed and planned anew each time.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any, Self, cast

import psycopg
from django.db import connection
from django.db.backends.utils import CursorWrapper
from psycopg.types.datetime import TimestamptzLoader


class PreparedCursor(psycopg.RawCursor[Any]):
    """Takes statements with the server's placeholders, `$1`, so that psycopg need not translate them each time.

    Moments are in the time zone of the connection, which is Django's. Its loader, which sets the zone anew, is slow.
    """

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        super().__init__(connection)
        self.adapters.register_loader("timestamptz", TimestamptzLoader)

    def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
        super().execute(query, params, **{**options, "prepare": True})
        # What Django logs: the text without its parameters.
        self._query = SimpleNamespace(query=str(query).encode())  # type: ignore[assignment]
        return self


# By position or by name.
Parameters = Sequence[Any] | Mapping[str, Any]


def execute(sql: str, parameters: Parameters) -> CursorWrapper:
    """Execute a statement that is prepared, unless DATABASE_PREPARE=0 has switched that off.

    `sql` has Django's placeholders, `%s` or `%(name)s`. The rows have to be fetched before the next statement. The text
    must not depend on the parameters: each text occupies memory of the connection.
    """
    cursor: CursorWrapper = cast("Any", connection).prepared_cursor(sql)
    cursor.execute(*_numbered(sql, parameters))
    return cursor


def execute_together(*statements: tuple[str, Parameters]) -> list[tuple[Any, ...]]:
    """Execute statements as `execute` does, one after the other in one round trip. Returns the rows of the last one.

    Outside a transaction they are one of their own. Each sees what was committed before it began, as in a transaction:
    a statement that waits for a lock is followed by one that sees what its holder has changed.
    """
    with cast("Any", connection).pipeline() as new_cursor:
        for sql, parameters in statements:
            cursor = new_cursor()
            cursor.execute(*_numbered(sql, parameters))
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def _numbered(sql: str, parameters: Parameters) -> tuple[str, Sequence[Any]]:
    """A statement with the server's placeholders instead of Django's, and its parameters in their order."""
    if isinstance(parameters, Mapping):
        return _named_to_numbered(sql, tuple(parameters)), list(parameters.values())
    return _positional_to_numbered(sql), parameters


@cache
def _positional_to_numbered(sql: str) -> str:
    placeholders = sql.replace("%%", "").count("%s")
    return sql % tuple(f"${number}" for number in range(1, placeholders + 1))


@cache
def _named_to_numbered(sql: str, names: tuple[str, ...]) -> str:
    return sql % {name: f"${number}" for number, name in enumerate(names, 1)}
