"""What the admin screens of both areas share."""

import json
from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.http import HttpRequest
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.text import capfirst
from unfold.admin import ModelAdmin
from unfold.admin import TabularInline as UnfoldTabularInline

_COUNTED = 10_000  # reading as many index entries takes a few milliseconds


class EstimatingPaginator(Paginator):  # type: ignore[type-arg]  # generic for the checker only
    """Counts a small result exactly and tells the planner's estimate of a large one, which nobody pages through."""

    template_name = "admin/estimated_pages.html"

    @cached_property
    def count(self) -> int:
        rows = self.object_list.order_by().values("pk")  # type: ignore[attr-defined]  # always a QuerySet here
        counted: int = rows[: _COUNTED + 1].count()
        if counted <= _COUNTED:
            return counted
        (plan,) = json.loads(rows.explain(format="json"))
        return max(plan["Plan"]["Plan Rows"], counted)

    @property
    def is_estimated(self) -> bool:
        return self.count > _COUNTED


class LargeTable:
    """Mixin for a list of any size: nothing it offers reads the whole table.

    Whatever is searched, filtered or sorted by needs an index; so sorting by click is offered for none but those
    columns that the screen names itself.
    """

    paginator = EstimatingPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    sortable_by: list[str] = []
    list_disable_select_all = True  # nobody means to act on a million rows
    list_per_page = 50


def pretty(value: Any) -> str:
    """JSON to be read. Unfold's own way colours it with inline styles, which the content security policy forbids."""
    return format_html('<pre class="rota-code">{}</pre>', json.dumps(value, indent=2, ensure_ascii=False))


class Unchangeable:
    """Mixin: looked at, never added, edited or deleted by hand."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class TabularInline(UnfoldTabularInline):
    """Rows of another table. Each field says what it is, since the head of its column is no label of it."""

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None:
            field.widget.attrs.setdefault("aria-label", capfirst(str(field.label)))
        return field


class ReadOnlyInline(Unchangeable, TabularInline):
    """Rows of another table, to be looked at."""

    extra = 0
    hide_title = True

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.fields or ()


__all__ = [
    "EstimatingPaginator",
    "LargeTable",
    "ModelAdmin",
    "ReadOnlyInline",
    "TabularInline",
    "Unchangeable",
    "pretty",
]
