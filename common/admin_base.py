"""Base classes of the admin screens of both areas."""

import json
from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.text import capfirst
from django_stubs_ext import StrOrPromise
from unfold.admin import ModelAdmin
from unfold.admin import TabularInline as UnfoldTabularInline

_EXACT_COUNT = 10_000  # reading as many index entries takes a few milliseconds


class EstimatingPaginator(Paginator):  # type: ignore[type-arg]  # generic for the checker only
    """Counts up to 10,000 rows exactly, and takes the planner's estimate for more."""

    template_name = "admin/estimated_pages.html"

    @cached_property
    def count(self) -> int:
        rows = self.object_list.order_by().values("pk")  # type: ignore[attr-defined]  # always a QuerySet here
        counted: int = rows[: _EXACT_COUNT + 1].count()
        if counted <= _EXACT_COUNT:
            return counted
        (plan,) = json.loads(rows.explain(format="json"))
        return max(plan["Plan"]["Plan Rows"], counted)

    @property
    def is_estimated(self) -> bool:
        return self.count > _EXACT_COUNT


class LargeTable:
    """Mixin for lists of large tables: no feature reads the whole table.

    Search, filters and sorting need an index, so only columns in `sortable_by` can be sorted by.
    """

    paginator = EstimatingPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    sortable_by: list[str] = []
    list_disable_select_all = True  # an action on all rows is never intended
    list_per_page = 50


def pretty(value: Any) -> str:
    """Indented JSON. Unfold's own formatter uses inline styles, which the Content-Security-Policy forbids."""
    return format_html('<pre class="rota-code">{}</pre>', json.dumps(value, indent=2, ensure_ascii=False))


class OneTimeSecretAdmin(ModelAdmin):
    """Base of the screens of credentials, which are issued by a short form and shown once, on the page after it."""

    add_form_template = "admin/issue_form.html"
    add_title: StrOrPromise
    add_submit: StrOrPromise

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        context = {**(extra_context or {}), "title": self.add_title, "submit": self.add_submit}
        return super().add_view(request, form_url, context)


class Unchangeable:
    """Mixin for read-only screens and inlines."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class TabularInline(UnfoldTabularInline):
    """Inline whose fields have an aria-label each: the heading of a column does not label its fields."""

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None:
            field.widget.attrs.setdefault("aria-label", capfirst(str(field.label)))
        return field


class ReadOnlyInline(Unchangeable, TabularInline):
    """Read-only inline."""

    extra = 0
    hide_title = True

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.fields or ()


__all__ = [
    "EstimatingPaginator",
    "LargeTable",
    "ModelAdmin",
    "OneTimeSecretAdmin",
    "ReadOnlyInline",
    "TabularInline",
    "Unchangeable",
    "pretty",
]
