"""Invariants: what is true of the rows at every moment, each with the query that finds what breaks it.

`of_schema` finds what is missing after a restore that was interrupted or done with triggers switched off.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pgtrigger
from django.db import OperationalError, connection, models, transaction
from django.db.models import AutoField, ForeignKey
from psycopg import errors

_OURS = "pg_namespace ns ON ns.oid = c.relnamespace AND ns.nspname = current_schema()"


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
    """The finding of an invariant with `holds`, which judges each distinct text. There are few, however many rows."""
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


def of_schema(every: Iterable[type[models.Model]]) -> list[Invariant]:
    """The invariants of the schema: the tables of these models, with their constraints, indexes and triggers."""
    tables = [model for model in every if model._meta.managed and not model._meta.proxy]
    return [
        Invariant(
            "nothing_is_orphaned",
            "rows that a foreign key names exist",
            "pg_constraint WHERE contype = 'f'",
            _union(_orphans(model, field) for model in tables for field in model._meta.concrete_fields),
        ),
        Invariant(
            "keys_are_ahead",
            "sequences of keys are not behind the keys",
            f"pg_class c JOIN {_OURS} WHERE c.relkind = 'S'",
            _union(_sequence_behind(model) for model in tables),
        ),
        Invariant(
            "constraints_are_validated",
            "constraints hold for the rows that were there before them",
            "pg_constraint",
            "SELECT conname AS id FROM pg_constraint WHERE NOT convalidated",
        ),
        Invariant(
            "indexes_are_valid",
            "indexes are complete",
            "pg_index",
            "SELECT indexrelid::regclass::text AS id FROM pg_index WHERE NOT indisvalid",
        ),
        Invariant(
            "triggers_are_enabled",
            "triggers are there and switched on",
            f"(VALUES {', '.join(_triggers())}) AS wanted",
            f"""
            SELECT wanted.name AS id FROM (VALUES {", ".join(_triggers())}) AS wanted (name)
            WHERE NOT EXISTS (SELECT FROM pg_trigger t WHERE t.tgname = wanted.name AND t.tgenabled IN ('O', 'A'))
            """,  # noqa: S608  # nosec B608  # names of triggers
        ),
    ]


def _orphans(model: type[models.Model], field: "models.Field[object, object]") -> str:
    if not isinstance(field, ForeignKey):
        return ""
    table, column = model._meta.db_table, field.column
    parent, key = field.related_model._meta.db_table, field.target_field.column
    return f"""
        SELECT '{table}.{column}=' || child."{column}" AS id FROM "{table}" child
        WHERE child."{column}" IS NOT NULL
          AND NOT EXISTS (SELECT FROM "{parent}" parent WHERE parent."{key}" = child."{column}")
    """  # noqa: S608  # nosec B608  # names of tables and columns


def _sequence_behind(model: type[models.Model]) -> str:
    key = model._meta.pk
    if not isinstance(key, AutoField):  # BigAutoField too
        return ""
    # The sequence's current value is read by pg_sequence_last_value, null before the first use.
    return f"""
        SELECT '{model._meta.db_table}' AS id
        WHERE coalesce(pg_sequence_last_value(
                pg_get_serial_sequence('"{model._meta.db_table}"', '{key.column}')::regclass), 0)
            < (SELECT max("{key.column}") FROM "{model._meta.db_table}")
    """  # noqa: S608  # nosec B608  # names of tables and columns


def _triggers() -> list[str]:
    return [f"('{trigger.get_pgid(model)}')" for model, trigger in pgtrigger.registered()]


def _union(parts: Iterable[str]) -> str:
    return " UNION ALL ".join(part for part in parts if part)
