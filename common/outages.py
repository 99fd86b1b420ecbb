"""Errors that say that PostgreSQL is unavailable."""

import psycopg
from django.db import OperationalError

# Classes of PostgreSQL's error codes: a connection failed; connections, memory or space on the disk are used up; the
# server stops or starts.
_UNAVAILABLE = ("08", "53", "57P")


def is_unavailable(error: BaseException | None) -> bool:
    """Whether PostgreSQL cannot be reached, starts, stops, or lacks connections, memory or space on its disk.

    An OperationalError of psycopg without a code is of the connection, but for one: a statement with more than 65,535
    parameters, which libpq refuses with a text only. An InterfaceError is a wrong use of psycopg.
    """
    cause = error.__cause__ if isinstance(error, OperationalError) else None
    if not isinstance(cause, psycopg.OperationalError):
        return False
    return cause.sqlstate is None or cause.sqlstate.startswith(_UNAVAILABLE)
