"""The admin's side of `common.row_history`: who changed a row, on its page and in a list."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.db.models import Exists, Model, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy, ngettext
from unfold.views import ChangeList

from common.actors import actor, actor_name
from common.admin_base import LargeTable, ModelAdmin, Unchangeable
from common.admin_columns import column
from common.measure_admin import MeasureAdmin
from common.row_history import RowChange, record_actor, recorded_by

_MOST_SHOWN = 50  # on the page of a row
_MOST_PEOPLE = 100  # in the filter


class RecordedAdmin(MeasureAdmin):
    """Base of the screens of a table whose changes are recorded in `history`."""

    history: type[RowChange]
    change_form_after_template = "admin/row_history.html"

    def record_actor(self, by: str) -> None:
        record_actor(by)

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: bool) -> None:
        with recorded_by(actor(request)):
            super().save_model(request, obj, form, change)

    def delete_model(self, request: HttpRequest, obj: Model) -> None:
        with recorded_by(actor(request)):
            super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        with recorded_by(actor(request)):
            super().delete_queryset(request, queryset)

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> Any:
        changes = self.history._default_manager.filter(table_name=self.opts.db_table, row_key=object_id)
        extra = {"row_history": changes.order_by("-pk")[:_MOST_SHOWN], **(kwargs.pop("extra_context", None) or {})}
        return super().change_view(request, object_id, *args, extra_context=extra, **kwargs)


class ActorFilter(admin.SimpleListFilter):
    """By who made the change. A small table, so that reading all of it for the names is fast enough."""

    title = gettext_lazy("by")
    parameter_name = "by"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        actors = model_admin.model._default_manager.order_by("made_by").values_list("made_by", flat=True).distinct()
        return [(each, actor_name(each)) for each in actors[:_MOST_PEOPLE]]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(made_by=self.value()) if self.value() else queryset


def column_filter(name: str, label: Any, values: list[tuple[str, Any]]) -> type[admin.SimpleListFilter]:
    """A filter of changes by a column of the row, before or after the change."""

    class ColumnFilter(admin.SimpleListFilter):
        title = label
        parameter_name = name

        def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, Any]]:
            return values

        def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
            value = self.value()
            return (
                queryset.filter(Q(**{f"after__{name}": value}) | Q(**{f"before__{name}": value})) if value else queryset
            )

    return ColumnFilter


class _ChangesByTransaction(ChangeList):
    """Of the changes that were made together, such as by an import, only the newest, unless the list is filtered."""

    def get_queryset(self, request: HttpRequest, *args: Any, **kwargs: Any) -> QuerySet[Any]:
        found: QuerySet[Any] = super().get_queryset(request, *args, **kwargs)
        if self.get_filters_params():
            return found
        together = self.model._default_manager.filter(made_at=OuterRef("made_at"), made_by=OuterRef("made_by"))
        return found.filter(~Exists(together.filter(pk__gt=OuterRef("pk"))))

    def get_results(self, request: HttpRequest) -> None:
        """Adds to each row how many changes it stands for, by one query."""
        super().get_results(request)
        if not self.get_filters_params():
            moments = [change.made_at for change in self.result_list]
            made = list(self.model._default_manager.filter(made_at__in=moments).values_list("made_at", "made_by"))
            for change in self.result_list:
                change.made_together = made.count((change.made_at, change.made_by))


class RowChangeAdmin(Unchangeable, LargeTable, ModelAdmin):
    """The list of all changes, newest first."""

    list_display = ["made_at", "label", "changes", column("made_by", gettext_lazy("by"), actor_name)]
    fields = list(list_display)
    readonly_fields = list(list_display)
    list_filter = ["kind", ActorFilter]
    ordering = ["-pk"]
    actions = None

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return _ChangesByTransaction

    @admin.display(description=gettext_lazy("row"))
    def label(self, change: RowChange) -> str:
        count = getattr(change, "made_together", 1)
        if count == 1:
            return self.label_of(change)
        text = ngettext("%(count)s row at once", "%(count)s rows at once", count) % {"count": count}
        query = urlencode({"made_at": change.made_at.isoformat(), "made_by": change.made_by})
        return format_html('<a class="rota-link" href="?{}">{}</a>', query, text)

    def label_of(self, change: RowChange) -> str:
        """The row's name. Overridden where it needs related rows."""
        return str(change.row)

    @admin.display(description=gettext_lazy("change"))
    def changes(self, change: RowChange) -> str:
        count = getattr(change, "made_together", 1)
        context = {"change": change, "label": self.label_of(change) if count > 1 else "", "others": count - 1}
        return render_to_string("admin/row_change.html", context)
