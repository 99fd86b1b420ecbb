"""The admin's side of `common.postgresql.row_history`: who changed a row, on its page and in a list."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import pghistory
from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy, ngettext
from unfold.views import ChangeList
from unfold.widgets import UnfoldAdminTextInputWidget

from common.actors import DATABASE, actor, actor_name
from common.admin.base import LargeTable, ModelAdmin, Unchangeable, column
from common.measures import MeasuredDecimal, MeasuredInteger
from common.postgresql.row_history import compare

_MOST_SHOWN = 50  # on the page of a row
_MOST_PEOPLE = 100  # in the filter


class RecordedAdmin(ModelAdmin):
    """Base of the screens of a model with a `history_of` it (`common.postgresql.row_history`); figures have units."""

    change_form_after_template = "admin/row_history.html"

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """A figure is typed as `23,90` or `23.90`, with its unit inside the field."""
        if isinstance(db_field, MeasuredDecimal | MeasuredInteger):
            unit = db_field.unit
            # Unfold writes the unit over the field: the classes leave room for it.
            room = "rota-unit-before" if unit.prefix else "rota-unit-after" if unit.suffix else ""
            attributes = {"inputmode": "decimal", "autocomplete": "off", "class": room}
            attributes |= {"prefix": unit.prefix} if unit.prefix else {"suffix": unit.suffix}
            return db_field.formfield(widget=UnfoldAdminTextInputWidget(attributes))
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: bool) -> None:
        with pghistory.context(by=actor(request)):
            super().save_model(request, obj, form, change)

    def delete_model(self, request: HttpRequest, obj: Model) -> None:
        with pghistory.context(by=actor(request)):
            super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        with pghistory.context(by=actor(request)):
            super().delete_queryset(request, queryset)

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> Any:
        history: Any = self.model
        row = self.get_object(request, unquote(object_id))  # None for what is no key
        found = history.pgh_event_model.objects.filter(pgh_obj_id=row.pk if row else None)
        changes = list(found.order_by("-pgh_id")[:_MOST_SHOWN])
        compare(changes)
        extra = {"row_history": changes, **(kwargs.pop("extra_context", None) or {})}
        return super().change_view(request, object_id, *args, extra_context=extra, **kwargs)


class ActorFilter(admin.SimpleListFilter):
    """By who made the change. A small table, so that reading all of it for the names is fast enough."""

    title = gettext_lazy("by")
    parameter_name = "by"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        actors = model_admin.model.objects.order_by("pgh_context__by").values_list("pgh_context__by", flat=True)
        return [(each or DATABASE, actor_name(each or DATABASE)) for each in actors.distinct()[:_MOST_PEOPLE]]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if not self.value():
            return queryset
        if self.value() == DATABASE:
            return queryset.filter(pgh_context__isnull=True)
        return queryset.filter(pgh_context__by=self.value())


class _ChangesByTransaction(ChangeList):
    """Of the changes that were made together, such as by an import, only the newest, unless the list is filtered."""

    def get_queryset(self, request: HttpRequest, *args: Any, **kwargs: Any) -> QuerySet[Any]:
        found: QuerySet[Any] = super().get_queryset(request, *args, **kwargs)
        if self.get_filters_params():
            return found
        return found.order_by("-pgh_created_at", "pgh_context", "-pgh_id").distinct("pgh_created_at", "pgh_context")

    def get_results(self, request: HttpRequest) -> None:
        """Adds to each row its columns before the change, and how many changes it stands for."""
        super().get_results(request)
        changes: list[Any] = list(self.result_list)  # type: ignore[has-type]  # unfold ships no types
        compare(changes)
        if not self.get_filters_params():
            moments = [change.pgh_created_at for change in changes]
            rows = self.model._default_manager.filter(pgh_created_at__in=moments)
            made = Counter(rows.values_list("pgh_created_at", "pgh_context__by"))
            for change in changes:
                change.made_together = made[change.pgh_created_at, (change.pgh_context or {}).get("by")]
        self.result_list = changes


class RowChangeAdmin(Unchangeable, LargeTable, ModelAdmin):
    """The list of all changes, newest first."""

    list_display = ["pgh_created_at", "label", "changes", column("made_by", gettext_lazy("by"), actor_name)]
    fields = list(list_display)
    readonly_fields = list(list_display)
    list_filter = ["pgh_label", ActorFilter]
    ordering = ["-pgh_id"]
    actions = None

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return _ChangesByTransaction

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        change = super().get_object(request, object_id, from_field)
        compare([change] if change else [])
        return change

    @admin.display(description=gettext_lazy("row"))
    def label(self, change: Any) -> str:
        count = getattr(change, "made_together", 1)
        if count == 1:
            return str(change.row)
        text = ngettext("%(count)s row at once", "%(count)s rows at once", count) % {"count": count}
        query = urlencode({"pgh_created_at": change.pgh_created_at.isoformat(), "by": change.made_by})
        return format_html('<a class="rota-link" href="?{}">{}</a>', query, text)

    @admin.display(description=gettext_lazy("change"))
    def changes(self, change: Any) -> str:
        count = getattr(change, "made_together", 1)
        context = {"change": change, "label": change.row if count > 1 else "", "others": count - 1}
        return render_to_string("admin/row_change.html", context)
