"""Statements that PostgreSQL parses and plans once for each connection.

For statements that every call of an API executes. Django's own are parsed and planned anew each time.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, Self

import psycopg
from django.db import connection
from django.db.backends.utils import CursorWrapper


class _PreparedCursor(psycopg.Cursor[Any]):
    def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
        super().execute(query, params, **{**options, "prepare": True})
        # What Django logs: the text without its parameters.
        self._query = SimpleNamespace(query=str(query).encode())  # type: ignore[assignment]
        return self


@contextmanager
def cursor() -> Iterator[CursorWrapper]:
    """A cursor whose statements are prepared, unless DATABASE_PREPARE=0 has switched that off.

    The text of a statement must not depend on its parameters: each text occupies memory of the connection.
    """
    with connection.cursor() as wrapper:  # opens and checks the connection, and logs statements in tests
        wrapper.cursor = _PreparedCursor(connection.connection)
        yield wrapper
