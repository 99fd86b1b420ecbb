"""Histories of rows, written by triggers of django-pghistory: every change is recorded, whatever made it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import pghistory
from django.db import models
from django.db.models import OuterRef, Subquery
from django.utils.formats import localize
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pghistory.models import Event

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
    previous: Self | None = None  # the change of the same row before this one, set by `compare`

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.get_pgh_label_display()}: {self.row}"

    @property
    def made_by(self) -> str:
        """The `by` of the `pghistory.context` in which the change was made."""
        context: dict[str, str] = self.pgh_context or {}  # type: ignore[attr-defined]  # pghistory adds the field
        return context.get("by", DATABASE)

    @property
    def row(self) -> str:
        """The name of the row as it was then."""
        model: Any = self.pgh_tracked_model
        return str(model.__str__(self))  # the columns of both models have the same names

    @property
    def differences(self) -> list[Difference]:
        return differences(self._columns, self.previous, self)

    @property
    def figures(self) -> list[tuple[str, str]]:
        """Name and value of each figure of the row, but for those that are 0."""
        values = [(each, getattr(self, each.attname)) for each in self._columns if hasattr(each, "unit")]
        return [(str(each.verbose_name), _shown(each, value)) for each, value in values if value]

    @property
    def _columns(self) -> list[Any]:
        return [each for each in self.pgh_tracked_model._meta.concrete_fields if not each.primary_key]  # type: ignore[attr-defined]  # set by pghistory


def differences(columns: Sequence[Any], before: Any, after: Any) -> list[Difference]:
    """The columns in which two states of a row differ."""
    found = []
    for each in columns:
        old, new = getattr(before, each.attname, None), getattr(after, each.attname)
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


def compare(changes: Sequence[Any]) -> None:
    """Sets `previous` of changes of one model, by two queries."""
    if not changes:
        return
    rows = type(changes[0]).objects.order_by("-pgh_id")
    before = rows.filter(pgh_obj_id=OuterRef("pgh_obj_id"), pgh_id__lt=OuterRef("pgh_id")).values("pk")[:1]
    keys = dict(rows.filter(pk__in=[change.pk for change in changes]).values_list("pk", Subquery(before)))
    found = rows.in_bulk([key for key in keys.values() if key])
    for change in changes:
        change.previous = found.get(keys[change.pk])


def _shown(field: Any, value: Any) -> str:
    """A column's value in the reader's language. A field whose values are long has a `summary` of one."""
    if value is None:
        return NOTHING
    if hasattr(field, "unit"):
        return str(field.unit.write(value))
    if hasattr(field, "summary"):
        return str(field.summary(value))
    if isinstance(value, list):
        return ", ".join(map(str, value)) or NOTHING
    if isinstance(value, bool):
        return _("Yes") if value else _("No")
    if field.choices:
        return str(dict(field.flatchoices).get(value, value))
    return str(localize(value))
