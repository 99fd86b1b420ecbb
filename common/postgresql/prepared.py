"""Statements that PostgreSQL parses and plans once for each connection.

For statements that every call of an API executes. Django's own are parsed and planned anew each time.
"""

from collections.abc import Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any, Self, cast

import psycopg
from django.db import connection
from django.db.backends.utils import CursorWrapper


class PreparedCursor(psycopg.RawCursor[Any]):
    """Takes statements with the server's placeholders, `$1`, so that psycopg need not translate them each time."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
        super().execute(query, params, **{**options, "prepare": True})
        # What Django logs: the text without its parameters.
        self._query = SimpleNamespace(query=str(query).encode())  # type: ignore[assignment]
        return self


def execute(sql: str, parameters: Sequence[Any]) -> CursorWrapper:
    """Execute a statement that is prepared, unless DATABASE_PREPARE=0 has switched that off.

    `sql` has Django's placeholders, `%s`. The rows have to be fetched before the next statement. The text must not
    depend on the parameters: each text occupies memory of the connection.
    """
    cursor: CursorWrapper = cast("Any", connection).prepared_cursor()
    cursor.execute(_numbered(sql), parameters)
    return cursor


@cache
def _numbered(sql: str) -> str:
    """A statement with the server's placeholders instead of Django's."""
    placeholders = sql.replace("%%", "").count("%s")
    return sql % tuple(f"${number}" for number in range(1, placeholders + 1))
