"""Moments of rows after all clocks were ahead and have been put right.

What has happened lies ahead of now then, and what falls due lies too far ahead: positions would be refused as older
than the one before, retries wait for hours, lists begin with what is past. `pull_back` corrects the rows.
"""

import logging
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pgtrigger
from django.db import connection, transaction
from django.db.models import DateTimeField, Model

from common.clock import LARGEST_DIFFERENCE
from common.models import LatestMoment
from common.postgresql.batches import each

_log = logging.getLogger(__name__)
# The clocks of two machines differ by less.
TOLERANCE = 2 * LARGEST_DIFFERENCE + timedelta(seconds=4)
# Rows that one transaction changes.
_BATCH = 1000
# What is ahead of now is put before it, within TOLERANCE and in its order, by which some rows are found.
_BEFORE_NOW = "{now} - {tolerance} / (1 + (EXTRACT(EPOCH FROM {column}) - EXTRACT(EPOCH FROM {now}))::float8 / 3600)"


@dataclass(frozen=True)
class Table:
    """A model, and how far ahead of now its moments may lie: not at all, but for those that `ahead` names.

    `ahead`: by the name of the field, a duration; or SQL of one, in which {now} is the moment; or None for a moment
    that somebody has chosen or that comes from elsewhere, which is left as it is. `waiting`: SQL of the rows that can
    fall due, where not all can: the condition of an index, because they are looked through often.
    """

    model: type[Model]
    ahead: Mapping[str, timedelta | str | None] = field(default_factory=dict)
    waiting: str = "TRUE"

    def __str__(self) -> str:
        return self.model._meta.label

    @property
    def passed(self) -> list[str]:
        """The names of the moments that have passed."""
        fields = self.model._meta.local_concrete_fields
        return [each.name for each in fields if isinstance(each, DateTimeField) and each.name not in self.ahead]


def pull_back(tables: Collection[Table], *, at: datetime) -> int:
    """Correct what lies ahead of `at`, which PostgreSQL's clock confirms. Returns how many rows were changed.

    All tables are read if something falls due too late, or if this was called at a later moment before; and again
    each time until nothing is wrong, because other processes count on from the wrong moment for some seconds.
    """
    latest = LatestMoment.objects.first()
    if _falls_due_too_late(tables, at) or (latest is not None and latest.moment > at + TOLERANCE):
        passed = _since(at)
        changed = sum(each(tables, lambda table: correct(table, at=passed()), doing="correct the moments of"))
        _log.warning("The clocks were put back; moments of %s rows were ahead and are corrected", changed)
        if changed:
            return changed
    LatestMoment.objects.bulk_create(
        [LatestMoment(moment=at)], update_conflicts=True, unique_fields=["id"], update_fields=["moment"]
    )
    return 0


def correct(table: Table, *, at: datetime, rows: str = "TRUE") -> int:
    """Correct the moments of a table, of the rows that this SQL selects. Returns how many rows were changed."""
    fields = [*_due(table), *_passed(table)]
    return _execute(table, _update(table, fields, rows), at) if fields else 0


def _falls_due_too_late(tables: Iterable[Table], at: datetime) -> bool:
    every = [f"EXISTS ({_select('1', table, fields)})" for table in tables if (fields := _due(table))]
    with connection.cursor() as cursor:
        cursor.execute(_at(f"SELECT {' OR '.join(every)}", at))
        (is_any,) = cursor.fetchone()
    return bool(is_any)


@dataclass(frozen=True)
class _Field:
    """A column of `rows`; how far ahead it may lie, and its right moment if it lies further ahead, all as SQL."""

    column: str
    most: str
    right: str
    rows: str = "TRUE"

    @property
    def is_wrong(self) -> str:
        # The first comparison can use an index.
        later = f"{self.column} > {{now}} + {{tolerance}}"
        return f"({self.rows} AND {later} AND {later} + {self.most})"

    @property
    def change(self) -> str:
        return (
            f"{self.column} = CASE WHEN {self.column} > {{now}} + {self.most} THEN {self.right} ELSE {self.column} END"
        )


def _due(table: Table) -> list[_Field]:
    limits = {name: _duration(most) for name, most in table.ahead.items() if most is not None}
    return [_Field(_column(table, name), most, f"{{now}} + {most}", table.waiting) for name, most in limits.items()]


def _passed(table: Table) -> list[_Field]:
    columns = [_column(table, name) for name in table.passed]
    return [_Field(column, "interval '0'", _BEFORE_NOW.replace("{column}", column)) for column in columns]


def _column(table: Table, name: str) -> str:
    options: Any = table.model._meta
    return connection.ops.quote_name(options.get_field(name).column)


def _duration(most: timedelta | str) -> str:
    return f"({most})" if isinstance(most, str) else _interval(most)


def _interval(duration: timedelta) -> str:
    return f"interval '{duration.total_seconds()} s'"


def _at(statement: str, at: datetime) -> str:
    moment = f"'{at.isoformat()}'::timestamptz"
    return statement.replace("{now}", moment).replace("{tolerance}", _interval(TOLERANCE))


def _select(what: str, table: Table, fields: Sequence[_Field], rows: str = "TRUE") -> str:
    name = connection.ops.quote_name(table.model._meta.db_table)
    return f"SELECT {what} FROM {name} WHERE {rows} AND ({' OR '.join(one.is_wrong for one in fields)})"  # noqa: S608  # nosec B608  # names and constants


def _update(table: Table, fields: Sequence[_Field], rows: str) -> str:
    options, quote = table.model._meta, connection.ops.quote_name
    key = quote(str(options.pk.column))
    wrong = f"{_select(key, table, fields, rows)} LIMIT {_BATCH} FOR NO KEY UPDATE SKIP LOCKED"
    changes = ", ".join(one.change for one in fields)
    return f"UPDATE {quote(options.db_table)} SET {changes} WHERE {key} = ANY(ARRAY({wrong}))"  # noqa: S608  # nosec B608  # names and constants


def _since(at: datetime) -> Callable[[], datetime]:
    """A clock that goes on from `at`: what is written while large tables are read is not ahead."""
    started = time.monotonic()
    return lambda: at + timedelta(seconds=time.monotonic() - started)


def _execute(table: Table, statement: str, at: datetime) -> int:
    """Execute it, in transactions, until it finds nothing more. Returns how many rows were changed.

    Without the triggers of the table, which refuse changes of what has happened.
    """
    now = _since(at)
    triggers = getattr(table.model._meta, "triggers", [])
    uris = [f"{table.model._meta.label}:{trigger.name}" for trigger in triggers]
    changed = 0
    while True:
        with transaction.atomic(), pgtrigger.ignore(*uris) if uris else nullcontext(), connection.cursor() as cursor:
            cursor.execute(_at(statement, now()))
            count: int = cursor.rowcount
        changed += count
        if count < _BATCH:
            return changed
