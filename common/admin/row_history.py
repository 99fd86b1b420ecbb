"""One list of who changed which row, and the forms that lead to it. See `common.postgresql.row_history`."""

from collections.abc import Iterable
from copy import copy
from datetime import datetime
from typing import Any, cast

import pghistory
from django.apps import apps
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.loader import render_to_string
from django.urls import URLPattern, reverse
from django.utils.http import urlencode
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy
from pghistory.models import Events
from unfold.views import ChangeList
from unfold.widgets import UnfoldAdminTextInputWidget

from common.actors import actor, actor_name
from common.admin.base import ModelAdmin, Unchangeable
from common.measures import MeasuredDecimal, MeasuredInteger
from common.postgresql.row_history import RowChange, changes, made_by


class RecordedAdmin(ModelAdmin):
    """Base of the screens of a model with a `history_of` it (`common.postgresql.row_history`); figures have units."""

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

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        row = {"pgh_obj_model": self.opts.label, "pgh_obj_id": object_id}
        return HttpResponseRedirect(f"{reverse('admin:pghistory_events_changelist')}?{urlencode(row)}")


def _histories(request: HttpRequest) -> list[type[RowChange]]:
    """Those that this user may view."""
    found = [model for model in apps.get_models() if issubclass(model, RowChange)]
    return [each for each in found if request.user.has_perm(f"{each._meta.app_label}.view_{each._meta.model_name}")]


class TableFilter(admin.SimpleListFilter):
    title = gettext_lazy("of")
    parameter_name = "pgh_obj_model"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Iterable[tuple[str, str]]:
        tracked = [cast("type[Model]", each.pgh_tracked_model)._meta for each in _histories(request)]
        return [(each.label, capfirst(str(each.verbose_name_plural))) for each in tracked]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(pgh_obj_model=self.value()) if self.value() else queryset


class _WithChanges(ChangeList):
    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.opts = self.model_admin.opts
        events: list[Any] = list(self.result_list)  # type: ignore[has-type]  # unfold ships no types
        for event, change in zip(events, changes(events), strict=True):
            event.change = change
        self.result_list = events


@admin.register(Events)
class HistoryAdmin(Unchangeable, ModelAdmin):
    """All changes, newest first."""

    list_display = ["moment", "row", "change", "by"]
    list_filter = [TableFilter]
    search_fields = ["pgh_context__by"]
    search_help_text = gettext_lazy("Who made the change")
    ordering = ["-pgh_created_at", "-pgh_id"]
    actions = None
    sortable_by: list[str] = []

    def __init__(self, model: type[Events], site: admin.AdminSite) -> None:
        super().__init__(model, site)
        self.opts: Any = copy(model._meta)  # with names for people: the package's are English
        self.opts.verbose_name = gettext_lazy("change")
        self.opts.verbose_name_plural = gettext_lazy("changes of prices and rules")

    def get_urls(self) -> list[URLPattern]:
        return [url for url in super().get_urls() if str(url.name).endswith("_changelist")]  # a change has no page

    def get_queryset(self, request: HttpRequest) -> QuerySet[Events]:
        return Events.objects.across(*_histories(request))  # type: ignore[no-untyped-call]  # of pghistory

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return _WithChanges

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(_histories(request))

    @admin.display(description=gettext_lazy("when"), ordering="pgh_created_at")
    def moment(self, event: Any) -> datetime:
        return event.pgh_created_at

    @admin.display(description=gettext_lazy("row"))
    def row(self, event: Any) -> str:
        return f"{capfirst(event.change.row._meta.verbose_name)}: {event.change.row}"

    @admin.display(description=gettext_lazy("change"))
    def change(self, event: Any) -> str:
        return render_to_string("admin/row_change.html", {"change": event.change})

    @admin.display(description=gettext_lazy("by"))
    def by(self, event: Any) -> str:
        return actor_name(made_by(event))
