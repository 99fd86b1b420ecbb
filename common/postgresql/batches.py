"""Work of workers on many rows: each by itself, claimed under a lease, or deleted in batches."""

import logging
import math
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.db import InterfaceError, OperationalError, connection, models, transaction
from django.db.models import QuerySet
from psycopg import sql

_log = logging.getLogger(__name__)
Row = TypeVar("Row")
Result = TypeVar("Result")


def each(rows: Iterable[Row], work: Callable[[Row], Result], *, doing: str, most: float = math.inf) -> list[Result]:
    """What `work` returns for each row. An error of one is logged with its key, and the rest go on.

    `work` has a transaction of its own. Raises OperationalError and InterfaceError: without the database no row
    succeeds. `doing` says in the log what was to be done, such as "expire the offer of delivery". Ends once `most` rows
    have succeeded: those that fail each time would take the places of others.
    """
    results: list[Result] = []
    for row in rows:
        if len(results) >= most:
            break
        try:
            results.append(work(row))
        except (OperationalError, InterfaceError):
            raise
        except Exception:  # noqa: BLE001  # logged with its traceback
            _log.exception("Cannot %s %s", doing, _key(row))
    return results


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


def work_on(
    due: QuerySet[Any], work: Callable[[list[Any]], None], *, most: int, failed: set[Any] | None = None, doing: str
) -> int:
    """Do `work` for the first `most` rows that are due, as `together_or_each` does. Returns for how many it was done.

    Rows whose keys are in `failed` are left out, and those that fail are added: called again with the same set, it
    takes the rows behind them. Nothing is left to be done once 0 is returned and `failed` has not grown.
    """
    failed = set() if failed is None else failed
    rows = list(due.exclude(pk__in=failed)[:most])
    done = together_or_each(rows, work, doing=doing) if rows else []
    failed |= {_key(row) for row in rows}.difference(map(_key, done))
    return len(done)


def _key(row: Any) -> Any:
    return getattr(row, "pk", row)


def claim(waiting: QuerySet[Any], *, at: datetime, lease: timedelta, most: int) -> list[Any]:
    """Claim the rows that have been due longest, for this worker alone until the lease ends. Counts a try of each."""
    due = waiting.filter(due_at__lte=at)
    # Most often there are none, and this costs a third of a transaction.
    return _claim(due, until=at + lease, most=most) if due.exists() else []


@transaction.atomic
def _claim(due: QuerySet[Any], *, until: datetime, most: int) -> list[Any]:
    locked = due.order_by("due_at").select_for_update(skip_locked=True, no_key=True, of=("self",))
    rows = list(locked[:most])
    for row in rows:
        row.tries += 1
        row.due_at = until
    due.model._default_manager.bulk_update(rows, ["tries", "due_at"])
    return rows


def still_claimed(row: Any) -> QuerySet[Any]:
    """A queryset of the row while this claim holds; empty once another worker has claimed or settled the row."""
    found: QuerySet[Any] = type(row)._default_manager.filter(pk=row.pk, state=row.state, tries=row.tries)
    return found


def next_try(row: Any, pauses: Sequence[timedelta], *, at: datetime) -> datetime | None:
    """When the row is due again after a failure; None after the last try."""
    return None if row.tries > len(pauses) else at + pauses[row.tries - 1]


_BATCH = 5000  # rows that one transaction deletes; small, so that none is long

_PRUNE = sql.SQL("DELETE FROM {table} WHERE {key} IN (SELECT {key} FROM {table} WHERE {column} < %s LIMIT %s)")


def prune(model: type[models.Model], column: str, *, before: Any) -> int:
    """Delete the rows whose `column` is less than `before`, in batches that are committed one by one.

    Returns how many rows there were. Must not be called within a transaction, which would hold all of them.
    """
    names = {"table": model._meta.db_table, "key": str(model._meta.pk.column), "column": column}
    statement = _PRUNE.format(**{part: sql.Identifier(name) for part, name in names.items()})
    deleted = 0
    while True:
        with connection.cursor() as cursor:
            cursor.execute(statement, [before, _BATCH])
            count: int = cursor.rowcount
        deleted += count
        if count < _BATCH:
            return deleted
