"""Invariants: what is true of the rows at every moment, each with the query that finds what breaks it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.db import OperationalError, connection, transaction
from psycopg import errors


@dataclass(frozen=True)
class Invariant:
    """`broken` selects the `id` of each row that breaks it; `table` is what is examined, as it stands after FROM.

    With `holds`, `broken` selects `id` and a text `facts` of every row instead, and `holds` says of each distinct text
    whether it may be.
    """

    name: str
    what: str
    table: str
    broken: str
    holds: Callable[[str], bool] | None = None


@dataclass(frozen=True)
class Finding:
    """How many rows were examined and how many break the invariant, with some of their ids.

    Without an answer in time both numbers are None.
    """

    name: str
    what: str
    examined: int | None
    broken: int | None
    ids: list[str]

    @property
    def holds(self) -> bool:
        return self.broken == 0


def examine(invariants: Iterable[Invariant], *, most_ids: int) -> list[Finding]:
    """Examine each, in this transaction if there is one. A statement that is cancelled by its deadline is a finding."""
    return [_examined(invariant, most_ids) for invariant in invariants]


def _examined(invariant: Invariant, most_ids: int) -> Finding:
    find = _judged if invariant.holds else _selected
    try:
        with transaction.atomic():  # a savepoint, so that the others can be examined after a deadline
            broken, ids = find(invariant, most_ids)
            ((examined,),) = _rows(f"SELECT count(*) FROM {invariant.table}")  # noqa: S608  # nosec B608  # constants
    except OperationalError as error:
        if not isinstance(error.__cause__, errors.QueryCanceled):
            raise
        return Finding(invariant.name, invariant.what, None, None, [])
    return Finding(invariant.name, invariant.what, examined, broken, ids)


def _selected(invariant: Invariant, most_ids: int) -> tuple[int, list[str]]:
    statement = f"""
        WITH broken AS MATERIALIZED ({invariant.broken})
        SELECT (SELECT count(*) FROM broken), ARRAY(SELECT id::text FROM broken ORDER BY id LIMIT {most_ids:d})
    """  # noqa: S608  # nosec B608  # constants and a number
    ((broken, ids),) = _rows(statement)
    return broken, ids


def _judged(invariant: Invariant, most_ids: int) -> tuple[int, list[str]]:
    """The same where each distinct text is judged. There are few of them, however many rows."""
    assert invariant.holds is not None  # noqa: S101  # nosec B101  # by `_examined`
    statement = f"""
        SELECT facts, count(*), (array_agg(id))[1:{most_ids:d}]::text[]
        FROM ({invariant.broken}) AS found GROUP BY facts
    """  # noqa: S608  # nosec B608  # constants and a number
    broken = [(count, ids) for facts, count, ids in _rows(statement) if not invariant.holds(facts)]
    return sum(count for count, _ids in broken), sorted(key for _count, ids in broken for key in ids)[:most_ids]


def _rows(statement: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found
