"""Statements that every call of an API executes: querysets compiled to SQL once, inserts and updates of whole rows.

Building and compiling a queryset takes several times as long as executing it.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property
from itertools import groupby
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.models import AutoField, CharField, Field, Func, JSONField, Model, QuerySet, TextField, Value
from django.db.models.base import ModelState
from django.db.models.query import get_related_populators
from django.db.transaction import TransactionManagementError
from psycopg.sql import Literal

from common.postgresql import prepared

M = TypeVar("M", bound=Model)
# For each table its model, whether the rows have the keys that the database would generate, and how many rows.
Shape = tuple[tuple[type[Model], bool, int], ...]
_TEXT = (CharField, TextField)


class Parameter(Value):
    """A value that is given at each execution, by its name. Stands in a queryset where a value could.

    The database adapter takes the value as it is: bytes, datetime, timedelta, float, int, str, UUID, or a list of
    one of them.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)

    def as_sql(self, _compiler: Any, _connection: Any) -> tuple[str, Any]:
        return "%s", (self,)


class CompiledQuery(Generic[M]):
    """The queryset that `build` returns, with Parameters. Compiled at its first use, and then shared by all threads.

    `select_related`, `only`, `select_for_update` and annotations are supported, `prefetch_related` is not; see `row_of`
    for that. Each column takes time: `only` those that every call needs.
    """

    def __init__(self, build: Callable[[], QuerySet[M]]) -> None:
        self._build = build

    def all(self, **values: Any) -> list[M]:
        """The objects that the query finds with these values of its parameters."""
        return self._run(values)

    def first(self, **values: Any) -> M | None:
        """The first object, or None. `build` limits the query to one row."""
        return next(iter(self.all(**values)), None)

    @cached_property
    def _run(self) -> Callable[[dict[str, Any]], list[M]]:
        """Compiles the queryset. What it returns reads rows as `django.db.models.query.ModelIterable` does.

        Signals of new objects are not sent.
        """
        query = self._build().query
        locks, compiler = query.select_for_update, query.get_compiler(using=DEFAULT_DB_ALIAS)
        sql, parameters = _with_literals(*compiler.as_sql())
        info, select = compiler.klass_info, compiler.select
        model, start, stop = info["model"], info["select_fields"][0], info["select_fields"][-1] + 1
        names = [column.target.attname for column, *_rest in select[start:stop]]
        converters = compiler.get_converters([column for column, *_rest in select])
        # The stubs are those of Django 6, which has one parameter more.
        populators = get_related_populators(info, select, DEFAULT_DB_ALIAS)  # type: ignore[call-arg]
        annotations = list((compiler.annotation_col_map or {}).items())

        def run(values: dict[str, Any]) -> list[M]:
            if locks and connection.get_autocommit():  # the compiler has looked at the first execution only
                raise TransactionManagementError("Rows are locked in a transaction only.")
            rows: Iterable[Any] = prepared.execute(sql, {name: values[name] for name in parameters}).fetchall()
            if converters:
                rows = compiler.apply_converters(rows, converters)
            found = []
            for row in rows:
                item = loaded(model, names, row[start:stop])
                for populator in populators:
                    populator.populate(row, item)
                for name, column in annotations:
                    setattr(item, name, row[column])
                found.append(item)
            return found

        return run


def _with_literals(sql: str, parameters: Sequence[Any]) -> tuple[str, list[str]]:
    """The statement with its constants in the text, and the names of its Parameters.

    So that a plan for all values of the parameters can use a partial index whose condition the constants fulfil.
    """
    left, found = iter(parameters), dict[str, None]()

    def written(match: re.Match[str]) -> str:
        if match[0] != "%s":
            return match[0]
        value = next(left)
        if isinstance(value, Parameter):
            found[value.value] = None
            return f"%({value.value})s"
        return Literal(value).as_string(connection.connection).replace("%", "%%")

    return re.sub("%[%s]", written, sql), [*found]


def loaded(model: type[M], names: Iterable[str], values: Iterable[Any]) -> M:
    """The object with these columns, as it is in the database.

    As `Model.from_db` makes it, without the signals and the check of every field, which take most of its time.
    """
    state = ModelState()
    state.adding, state.db = False, DEFAULT_DB_ALIAS
    item = model.__new__(model)
    item.__dict__.update(zip(names, values, strict=True), _state=state)
    return item


def row_of(names: Sequence[str]) -> Func:
    """The columns of a subquery's row as one value, to read related rows in the same statement.

    The values are those of JSON: a moment is a text. `loaded` makes an object of them.
    """
    return Func(*names, function="jsonb_build_array", output_field=JSONField())


def insert_together(*rows: Model) -> None:
    """Insert new rows, all of them or none, in one round trip. Rows of one model stand together.

    Keys that the database generates stay None unless they are given. Signals are not sent, and nothing may depend on
    the order of the inserts: foreign keys are checked later, and the tables' triggers do not see each other's rows.
    """
    kinds = groupby((type(row), row.pk is not None) for row in rows)
    shape = tuple((model, has_key, len(list(group))) for (model, has_key), group in kinds)
    prepared.execute(_sql(shape), _values(*rows, add=True))
    for row in rows:
        _set_saved(row)


def insert_unless_there(row: Model) -> bool:
    """Insert a row, unless a unique constraint has one like it; waits for one that is inserted at the same time.

    Returns whether it was inserted. Signals are not sent.
    """
    sql = f"{_sql(((type(row), row.pk is not None, 1),))} ON CONFLICT DO NOTHING"
    if is_new := bool(prepared.execute(sql, _values(row, add=True)).rowcount):
        _set_saved(row)
    return is_new


def update_row(row: Model) -> None:
    """Write every column of a row that exists. Signals are not sent."""
    prepared.execute(_update(type(row)), [*_values(row, add=False), row.pk])


def _values(*rows: Model, add: bool) -> list[Any]:
    database = connections[DEFAULT_DB_ALIAS]  # `connection` looks it up for each field
    return [
        # Most values of a new row are None, which is NULL in each field, or text, which fields of text leave as it is.
        value
        if (value := field.pre_save(row, add)) is None or (type(value) is str and isinstance(field, _TEXT))
        else field.get_db_prep_save(value, database)
        for row in rows
        for field in _fields(type(row), row.pk is not None)
    ]


def _set_saved(row: Model) -> None:
    row._state.adding = False  # noqa: SLF001  # as Model.save does
    row._state.db = DEFAULT_DB_ALIAS  # noqa: SLF001


@cache
def _fields(model: type[Model], has_key: bool) -> list["Field[Any, Any]"]:
    return [field for field in model._meta.concrete_fields if has_key or not isinstance(field, AutoField)]


@cache
def _sql(shape: Shape) -> str:
    *first, last = (_insert(*kind) for kind in shape)
    parts = ", ".join(f"part_{number} AS ({insert})" for number, insert in enumerate(first))
    return f"WITH {parts} {last}" if parts else last


@cache
def _update(model: type[Model]) -> str:
    quote: Callable[[Any], str] = connection.ops.quote_name
    columns = ", ".join(f"{quote(field.column)} = %s" for field in _fields(model, has_key=True))
    return f"UPDATE {quote(model._meta.db_table)} SET {columns} WHERE {quote(model._meta.pk.column)} = %s"  # noqa: S608  # nosec B608  # names of our models


def _insert(model: type[Model], has_key: bool, count: int) -> str:
    quote = connection.ops.quote_name
    fields = _fields(model, has_key)
    columns = ", ".join(quote(field.column) for field in fields if field.column)
    row = f"({', '.join(['%s'] * len(fields))})"
    return f"INSERT INTO {quote(model._meta.db_table)} ({columns}) VALUES {', '.join([row] * count)}"  # noqa: S608  # nosec B608  # names of our models
