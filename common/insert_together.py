"""Inserts of several tables in one statement, for what every call of an API writes."""

from functools import cache
from itertools import groupby
from typing import Any

from django.db import connection
from django.db.models import AutoField, Field, Model

from common.postgresql import prepared

# For each table its model, whether the rows have the keys that the database would generate, and how many rows.
Shape = tuple[tuple[type[Model], bool, int], ...]


def insert_together(*rows: Model) -> None:
    """Insert new rows, all of them or none, in one round trip. Rows of one model stand together.

    Keys that the database generates stay None unless they are given. Signals are not sent, and nothing may depend on
    the order of the inserts: foreign keys are checked later, and the tables' triggers do not see each other's rows.
    """
    kinds = groupby((type(row), row.pk is not None) for row in rows)
    shape = tuple((model, has_key, len(list(group))) for (model, has_key), group in kinds)
    values = [
        field.get_db_prep_save(field.pre_save(row, add=True), connection)
        for row in rows
        for field in _fields(type(row), row.pk is not None)
    ]
    prepared.execute(_sql(shape), values)
    for row in rows:
        row._state.adding = False  # noqa: SLF001  # as Model.save does
        row._state.db = connection.alias  # noqa: SLF001


@cache
def _fields(model: type[Model], has_key: bool) -> list["Field[Any, Any]"]:
    return [field for field in model._meta.concrete_fields if has_key or not isinstance(field, AutoField)]


@cache
def _sql(shape: Shape) -> str:
    *first, last = (_insert(*kind) for kind in shape)
    parts = ", ".join(f"part_{number} AS ({insert})" for number, insert in enumerate(first))
    return f"WITH {parts} {last}" if parts else last


def _insert(model: type[Model], has_key: bool, count: int) -> str:
    quote = connection.ops.quote_name
    fields = _fields(model, has_key)
    columns = ", ".join(quote(field.column) for field in fields if field.column)
    row = f"({', '.join(['%s'] * len(fields))})"
    return f"INSERT INTO {quote(model._meta.db_table)} ({columns}) VALUES {', '.join([row] * count)}"  # noqa: S608  # nosec B608  # names of our models
