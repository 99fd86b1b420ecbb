"""Histories of rows, written by triggers of django-pghistory: every change is recorded, whatever made it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pghistory
from django.apps import apps
from django.db import models
from django.utils.formats import localize
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pghistory.models import Event, Events

from common.actors import DATABASE
from common.measures import rise

NOTHING = "\N{EN DASH}"


@dataclass(frozen=True)
class Difference:
    """A column's values in the reader's language. `rise`: by how many percent a price has risen, else None.

    `old` is None in an import's preview of a new row.
    """

    name: str
    old: str | None
    new: str
    rise: int | None = None


class RowChange(Event):
    """Base of the histories that `history_of` makes: the row as it was after a change, or before its deletion."""

    class Kind(models.TextChoices):
        ADDED = "added", gettext_lazy("Added")
        CHANGED = "changed", gettext_lazy("Changed")
        DELETED = "deleted", gettext_lazy("Deleted")

    pgh_created_at = models.DateTimeField(gettext_lazy("when"), auto_now_add=True)
    pgh_label = models.TextField(gettext_lazy("change"), choices=Kind)

    class Meta:
        abstract = True


@dataclass(frozen=True)
class Change:
    """What people read of one of `pghistory.models.Events`.

    `row` is its row as it was after the change, or before its deletion. `kind` is one of `RowChange.Kind`.
    """

    row: models.Model
    kind: str
    differences: Sequence[Difference]

    @property
    def figures(self) -> list[tuple[str, str]]:
        """Name and value of each figure of the row, but for those that are 0."""
        values = [(each, getattr(self.row, each.attname)) for each in _columns(type(self.row)) if hasattr(each, "unit")]
        return [(str(each.verbose_name), _shown(each, value)) for each, value in values if value]


def made_by(event: Events) -> str:
    """The `by` of the `pghistory.context` in which the change was made."""
    return str((event.pgh_context or {}).get("by", DATABASE))


def changes(events: Sequence[Events]) -> list[Change]:
    """With one query for each table that the rows name."""
    rows: dict[type[models.Model], list[models.Model]] = {}
    found = []
    for event in events:
        model = apps.get_model(event.pgh_obj_model)
        row = _row(model, event.pgh_data)
        before = {column: old for column, (old, _new) in (event.pgh_diff or {}).items()}
        previous = _row(model, {**event.pgh_data, **before})
        found.append(Change(row, event.pgh_label, differences(previous, row)))
        rows.setdefault(model, []).append(row)
    for model, group in rows.items():
        names = [each.name for each in model._meta.concrete_fields if each.is_relation]
        models.prefetch_related_objects(group, *names)
    return found


def _row(model: type[models.Model], data: dict[str, Any]) -> models.Model:
    """JSON has no decimal numbers: those of PostgreSQL arrive as a `float`, whose text is the number."""
    values = {
        each.attname: each.to_python(str(value) if isinstance(value, float) else value)
        for each in model._meta.concrete_fields
        if (value := data.get(str(each.column))) is not None
    }
    return model(**values)


def _columns(model: type[models.Model]) -> list[Any]:
    return [each for each in model._meta.concrete_fields if not each.primary_key]


def differences(before: models.Model, after: models.Model) -> list[Difference]:
    """The columns in which two states of a row differ."""
    found = []
    for each in _columns(type(after)):
        old, new = getattr(before, each.attname), getattr(after, each.attname)
        if old != new:
            percent = rise(old, new) if hasattr(each, "unit") and each.unit.is_money else None
            found.append(Difference(str(each.verbose_name), _shown(each, old), _shown(each, new), percent))
    return found


def history_of(tracked: type[models.Model], name: str, **names: Any) -> Any:
    """The model `name` of the changes of this model's rows, append-only. `names`: options of its Meta.

    Who makes a change is said by `with pghistory.context(by=…)` around it.
    """
    return pghistory.create_event_model(
        tracked,
        pghistory.InsertEvent(RowChange.Kind.ADDED.value),
        pghistory.UpdateEvent(RowChange.Kind.CHANGED.value),
        pghistory.DeleteEvent(RowChange.Kind.DELETED.value),
        model_name=name,
        base_model=RowChange,
        abstract=False,
        append_only=True,
        context_field=pghistory.ContextJSONField(),
        context_id_field=None,  # type: ignore[arg-type]  # as its documentation says
        meta={
            "ordering": ["-pgh_id"],
            "indexes": [models.Index(fields=["pgh_created_at"], name=f"{name.lower()}_at")],
            **names,
        },
    )


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
