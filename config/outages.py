"""Errors that say that PostgreSQL is unavailable."""

from django.db import InterfaceError, OperationalError

# Classes of PostgreSQL's error codes: a connection failed; connections, memory or space on the disk are used up; the
# server stops or starts.
_UNAVAILABLE = ("08", "53", "57P")


def is_unavailable(error: BaseException | None) -> bool:
    """Whether PostgreSQL cannot be reached, starts, stops, or lacks connections, memory or space on its disk.

    An error without a code is of the connection.
    """
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    state = getattr(error.__cause__, "sqlstate", None)
    return state is None or state.startswith(_UNAVAILABLE)
