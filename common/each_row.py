"""Work on several rows in which an error of one does not stop the rest."""

import logging
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from django.db import InterfaceError, OperationalError

_log = logging.getLogger(__name__)
Row = TypeVar("Row")
Result = TypeVar("Result")


def each(rows: Iterable[Row], work: Callable[[Row], Result], *, doing: str) -> list[Result]:
    """What `work` returns for each row. An error of one is logged with its key, and the rest go on.

    `work` has a transaction of its own. Raises OperationalError and InterfaceError: without the database no row
    succeeds. `doing` says in the log what was to be done, such as "expire the offer of delivery".
    """
    return [result for row in rows for result in _one(row, work, doing)]


def together_or_each(rows: list[Row], work: Callable[[list[Row]], None], *, doing: str) -> list[Row]:
    """Do `work` for all rows at once, or, if that fails, for each by itself, as `each` does.

    Returns the rows that it was done for.
    """

    def alone(row: Row) -> Row:
        work([row])
        return row

    try:
        work(rows)
    except (OperationalError, InterfaceError):
        raise
    except Exception:  # noqa: BLE001  # `each` finds and logs the row that caused it
        _log.warning("Cannot %s for %s rows together; each is tried by itself", doing, len(rows))
        return each(rows, alone, doing=doing)
    return rows


def _one(row: Row, work: Callable[[Row], Result], doing: str) -> list[Result]:
    try:
        return [work(row)]
    except (OperationalError, InterfaceError):
        raise
    except Exception:  # noqa: BLE001  # logged with its traceback
        key: Any = getattr(row, "pk", row)
        _log.exception("Cannot %s %s", doing, key)
        return []
