"""Statements that PostgreSQL parses and plans once for each connection.

For statements that every call of an API executes. Django's own are parsed and planned anew each time.
"""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, Self, cast

import psycopg
from django.db import connection
from django.db.backends.utils import CursorWrapper


class PreparedCursor(psycopg.Cursor[Any]):
    def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
        super().execute(query, params, **{**options, "prepare": True})
        # What Django logs: the text without its parameters.
        self._query = SimpleNamespace(query=str(query).encode())  # type: ignore[assignment]
        return self


def execute(sql: str, parameters: Sequence[Any]) -> CursorWrapper:
    """Execute a statement that is prepared, unless DATABASE_PREPARE=0 has switched that off.

    The rows have to be fetched before the next statement. The text must not depend on the parameters: each text
    occupies memory of the connection.
    """
    cursor: CursorWrapper = cast("Any", connection).prepared_cursor()
    cursor.execute(sql, parameters)
    return cursor
