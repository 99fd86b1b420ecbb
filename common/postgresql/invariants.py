"""What is true of several rows together, and no constraint holds, with the queries that find what breaks it.

`of_schema` finds what is missing after a restore that was interrupted.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import pgtrigger
from django.db import connection, models
from django.db.models import AutoField, ForeignKey

_MOST_IDS = 10


@dataclass(frozen=True)
class Invariant:
    """`broken` selects the `id` of each row that breaks it.

    With `holds`, it selects `id` and a text `facts` of every row instead, and `holds` says of each distinct text
    whether it may be.
    """

    name: str
    what: str
    broken: str
    holds: Callable[[str], bool] | None = None


@dataclass(frozen=True)
class Finding:
    """How many rows break an invariant, with some of their ids."""

    name: str
    what: str
    rows: int
    ids: list[str]


def find_broken(invariants: Iterable[Invariant]) -> list[Finding]:
    """What breaks these invariants, in this transaction if there is one."""
    return [finding for invariant in invariants if (finding := _examined(invariant)).rows]


def _examined(invariant: Invariant) -> Finding:
    # Texts that differ are few, however many rows there are.
    statement = f"""
        SELECT {"facts" if invariant.holds else "''"}, count(*), (array_agg(id ORDER BY id))[1:{_MOST_IDS}]::text[]
        FROM ({invariant.broken}) AS found GROUP BY 1 ORDER BY 1
    """  # noqa: S608  # nosec B608  # constants
    with connection.cursor() as cursor:
        cursor.execute(statement)
        groups = cursor.fetchall()
    found = [group for group in groups if invariant.holds is None or not invariant.holds(group[0])]
    ids = [key for _facts, _count, keys in found for key in keys][:_MOST_IDS]
    return Finding(invariant.name, invariant.what, sum(count for _facts, count, _keys in found), ids)


def of_schema(every: Iterable[type[models.Model]]) -> tuple[Invariant, ...]:
    """The invariants of the schema: the tables of these models, with their constraints, indexes and triggers."""
    tables = [model for model in every if model._meta.managed and not model._meta.proxy]
    return (
        Invariant(
            "keys_are_ahead",
            "sequences of keys are not behind the keys",
            " UNION ALL ".join(part for model in tables if (part := _sequence_behind(model))),
        ),
        Invariant(
            "constraints_are_there",
            "constraints of the models are there",
            f"""
            SELECT wanted.id FROM (VALUES {_quoted(_constraints(tables))}) AS wanted (id)
            WHERE NOT EXISTS (SELECT FROM pg_constraint WHERE conname = wanted.id)
              AND to_regclass(quote_ident(wanted.id)) IS NULL""",  # noqa: S608  # nosec B608  # names of constraints
        ),
        Invariant(
            "foreign_keys_are_there",
            "columns that name a row of another table have their foreign key",
            f"""
            SELECT wanted.id FROM (VALUES {_quoted(_foreign_keys(tables))}) AS wanted (id)
            WHERE NOT EXISTS (
                SELECT FROM pg_constraint f JOIN pg_attribute c ON c.attrelid = f.conrelid AND c.attnum = f.conkey[1]
                WHERE f.contype = 'f' AND f.conrelid::regclass || '.' || c.attname = wanted.id)""",  # noqa: S608  # nosec B608  # names of columns
        ),
        Invariant(
            "constraints_are_validated",
            "constraints hold for the rows that were there before them",
            "SELECT conname AS id FROM pg_constraint WHERE NOT convalidated",
        ),
        Invariant(
            "indexes_are_valid",
            "indexes are complete",
            "SELECT indexrelid::regclass::text AS id FROM pg_index WHERE NOT indisvalid",
        ),
        Invariant(
            "triggers_are_enabled",
            "triggers are there and switched on",
            f"""
            SELECT wanted.id FROM (VALUES {_quoted(trigger.get_pgid(of) for of, trigger in pgtrigger.registered())})
                AS wanted (id)
            WHERE NOT EXISTS (SELECT FROM pg_trigger t WHERE t.tgname = wanted.id AND t.tgenabled IN ('O', 'A'))""",  # noqa: S608  # nosec B608  # names of triggers
        ),
    )


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


def _constraints(tables: Iterable[type[models.Model]]) -> Iterator[str]:
    return (constraint.name for model in tables for constraint in model._meta.constraints)


def _foreign_keys(tables: Iterable[type[models.Model]]) -> Iterator[str]:
    for model in tables:
        for field in model._meta.concrete_fields:
            if isinstance(field, ForeignKey) and field.db_constraint:  # type: ignore[attr-defined]  # django-stubs lacks it
                yield f"{model._meta.db_table}.{field.column}"


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"('{name}')" for name in names)
