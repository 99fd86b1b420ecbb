"""History of a table's rows, written by a trigger: every change is recorded, whatever made it."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

import pgtrigger
from django.apps import apps
from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection, models, transaction
from django.utils.formats import localize
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from common.measures import rise

NOTHING = "\N{EN DASH}"
_FUNCTION = """
IF TG_OP = 'UPDATE' AND OLD IS NOT DISTINCT FROM NEW THEN
    RETURN NULL;
END IF;
INSERT INTO {history} (table_name, row_key, kind, before, after, made_by, made_at) VALUES (
    TG_TABLE_NAME,
    coalesce(NEW.id, OLD.id)::text,
    CASE TG_OP WHEN 'INSERT' THEN 'added' WHEN 'UPDATE' THEN 'changed' ELSE 'deleted' END,
    CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END,
    CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END,
    coalesce(nullif(current_setting('rota.actor', true), ''), 'database role ' || current_user),
    transaction_timestamp()
);
RETURN NULL;
"""


def recorded_in(history: str) -> pgtrigger.Trigger:
    """The trigger of a table whose changes go to the table `history` of a `RowChange`."""
    return pgtrigger.Trigger(
        name="recorded_in_history",
        when=pgtrigger.After,
        operation=pgtrigger.Insert | pgtrigger.Update | pgtrigger.Delete,
        func=_FUNCTION.format(history=history),
    )


def append_only() -> pgtrigger.Trigger:
    """The trigger of a `RowChange`'s own table."""
    return pgtrigger.Protect(name="history_append_only", operation=pgtrigger.Update | pgtrigger.Delete)


@contextmanager
def recorded_by(by: str) -> Iterator[None]:
    """A transaction whose changes of rows are recorded as made by `by`. Without it they are by the database's role."""
    with transaction.atomic():
        record_actor(by)
        yield


def record_actor(by: str) -> None:
    """As `recorded_by`, until the end of the caller's transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('rota.actor', %s, true)", [by])


class _ExactNumbers(json.JSONDecoder):
    """Reads numbers with a fraction as `Decimal`, so that 9.90 stays 9.90."""

    def __init__(self) -> None:
        super().__init__(parse_float=Decimal)


class RowField(models.JSONField):
    """A row's columns as JSON, read with exact numbers. A migration has a plain JSONField."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "null": True, "encoder": DjangoJSONEncoder, "decoder": _ExactNumbers})

    def deconstruct(self) -> Any:
        name, _path, args, kwargs = super().deconstruct()
        del kwargs["encoder"], kwargs["decoder"]
        return name, "django.db.models.JSONField", args, kwargs


@dataclass(frozen=True)
class Difference:
    """A column's values in the reader's language. `rise`: by how many percent a price has risen, else None."""

    name: str
    old: str
    new: str
    rise: int | None = None


class RowChange(models.Model):
    """One change of one row of a table. `before` and `after` are the row's columns; None before it was and after."""

    class Kind(models.TextChoices):
        ADDED = "added", gettext_lazy("Added")
        CHANGED = "changed", gettext_lazy("Changed")
        DELETED = "deleted", gettext_lazy("Deleted")

    table_name = models.CharField(gettext_lazy("table"), max_length=63)
    row_key = models.CharField(gettext_lazy("row"), max_length=40)
    kind = models.CharField(gettext_lazy("change"), max_length=7, choices=Kind)
    before = RowField(gettext_lazy("before"))
    after = RowField(gettext_lazy("after"))
    made_by = models.CharField(gettext_lazy("by"), max_length=200)
    made_at = models.DateTimeField(gettext_lazy("when"))

    # Columns that say nothing about the row.
    _HIDDEN: ClassVar[frozenset[str]] = frozenset({"id"})

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.row_key}"

    @property
    def model(self) -> type[models.Model]:
        """The model of the row."""
        return next(each for each in apps.get_models() if each._meta.db_table == self.table_name)

    @property
    def row(self) -> Any:
        """The row as it was after the change, or before its deletion. Not saved, and not to be."""
        columns = self.after or self.before or {}
        fields = self.model._meta.concrete_fields
        values = {each.attname: each.to_python(columns.get(each.column)) for each in fields if each.column in columns}
        return self.model(**values)

    @property
    def differences(self) -> list[Difference]:
        """The columns whose value differs."""
        before, after = self.before or {}, self.after or {}
        return [
            _difference(each, before.get(each.column), after.get(each.column))
            for each in self.model._meta.concrete_fields
            if each.column not in self._HIDDEN and before.get(each.column) != after.get(each.column)
        ]

    @property
    def figures(self) -> list[tuple[str, str]]:
        """Name and value of each figure of a row that was added or deleted, but for those that are 0."""
        columns = self.after or self.before or {}
        fields = [each for each in self.model._meta.concrete_fields if hasattr(each, "unit") and columns[each.column]]
        return [(str(each.verbose_name), _shown(each, columns[each.column])) for each in fields]


def _difference(field: Any, old: Any, new: Any) -> Difference:
    is_price = hasattr(field, "unit") and field.unit.is_money
    percent = rise(old, new) if is_price else None
    return Difference(str(field.verbose_name), _shown(field, old), _shown(field, new), percent)


def _shown(field: Any, value: Any) -> str:
    """A column's value in the reader's language."""
    if value is None:
        return NOTHING
    if hasattr(field, "unit"):
        return str(field.unit.write(value))
    if isinstance(value, list):
        return ", ".join(map(str, value)) or NOTHING
    if isinstance(value, bool):
        return _("Yes") if value else _("No")
    if field.choices:
        return str(dict(field.flatchoices).get(value, value))
    return str(localize(value))
