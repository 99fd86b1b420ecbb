"""Invariants of every database, which a restore that was interrupted or done with triggers switched off can break."""

from collections.abc import Iterable

import pgtrigger
from django.db import models
from django.db.models import AutoField, ForeignKey

from common.invariants import Invariant

_OURS = "pg_namespace ns ON ns.oid = c.relnamespace AND ns.nspname = current_schema()"


def of_schema(every: Iterable[type[models.Model]]) -> list[Invariant]:
    """Those of the tables of these models."""
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
