"""Querysets that are compiled to SQL once, for statements that every call of an API executes.

Building and compiling a queryset takes several times as long as executing it.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Model, QuerySet, Value
from django.db.models.query import get_related_populators
from django.db.models.sql.compiler import SQLCompiler

M = TypeVar("M", bound=Model)


class Parameter(Value):
    """A value that is given at each execution, by its name. Stands in a queryset where a value could.

    The database adapter takes the value as it is: bytes, datetime, float, str or UUID.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)

    def as_sql(self, _compiler: Any, _connection: Any) -> tuple[str, Any]:
        return "%s", (self,)


class CompiledQuery(Generic[M]):
    """The queryset that `build` returns, with Parameters. Compiled at its first use, and then shared by all threads.

    `select_related` is supported, annotations and `prefetch_related` are not.
    """

    def __init__(self, build: Callable[[], QuerySet[M]]) -> None:
        self._build = build

    def all(self, **values: Any) -> list[M]:
        """The objects that the query finds with these values of its parameters."""
        compiler, sql, parameters = self._compiled
        with connection.cursor() as cursor:
            cursor.execute(sql, [values[each.value] if isinstance(each, Parameter) else each for each in parameters])
            rows = cursor.fetchall()
        start, stop, names, populators = self._columns
        found = []
        for row in compiler.results_iter([rows]):
            item = compiler.klass_info["model"].from_db(DEFAULT_DB_ALIAS, names, row[start:stop])
            for populator in populators:
                populator.populate(row, item)
            found.append(item)
        return found

    def first(self, **values: Any) -> M | None:
        """The first object, or None. `build` limits the query to one row."""
        return next(iter(self.all(**values)), None)

    @cached_property
    def _compiled(self) -> tuple[SQLCompiler, str, tuple[Any, ...]]:
        compiler = self._build().query.get_compiler(using=DEFAULT_DB_ALIAS)
        sql, parameters = compiler.as_sql()
        return compiler, sql, parameters

    @cached_property
    def _columns(self) -> tuple[int, int, list[str], list[Any]]:
        """Where the model's own columns start and stop in a row, their names, and what reads the other columns.

        As `django.db.models.query.ModelIterable` finds them.
        """
        compiler, _sql, _parameters = self._compiled
        info = compiler.klass_info
        start, stop = info["select_fields"][0], info["select_fields"][-1] + 1
        names = [column.target.attname for column, *_rest in compiler.select[start:stop]]
        # The stubs are those of Django 6, which has one parameter more.
        populators = get_related_populators(info, compiler.select, DEFAULT_DB_ALIAS)  # type: ignore[call-arg]
        return start, stop, names, populators
