"""What the admin of both areas shares: base classes, columns as the panel writes them, pages that confirm an action."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.admin.actions import delete_selected
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.paginator import Paginator
from django.db.models import Model, QuerySet
from django.forms import Form, Media
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django_stubs_ext import StrOrPromise
from unfold.admin import ModelAdmin as UnfoldModelAdmin
from unfold.admin import TabularInline as UnfoldTabularInline
from unfold.templatetags import unfold_list

from common import clock
from common.actors import actor, actor_name
from common.brazil import formats
from common.brazil.zones import Place
from common.columns import ADMIN, Code, Column, State, shown
from common.errors import DomainError
from common.refusals import refusal

# As in the panel. An element of its own, so that style sheets can hide empty values.
NOTHING = format_html('<span class="rota-none">{}</span>', "\N{EN DASH}")
_EXACT_COUNT = 10_000  # reading as many index entries takes a few milliseconds
_MOST_NAMED = 20  # rows on a page that asks about many
# What fills a slug from a title, which no form here has: 173 kB.
_UNUSED_SCRIPTS = ("/urlify.js", "/prepopulate.js", "/xregexp.js", "/xregexp.min.js")
# Unfold writes 22 classes into each cell of a list, about 3 kB a row. Our style sheet says it once (`.data-row`).
unfold_list.ROW_CLASSES[:] = []
unfold_list.CHECKBOX_CLASSES[:] = ["action-checkbox"]
# Fields of a confirmation page, or of the bar of actions, which `ask` does not repeat as they are.
_OF_THE_FORM = {
    "csrfmiddlewaretoken", "action", "_selected_action", "select_across", "index", "confirmed", "from_page"
}  # fmt: skip  # a list of names


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


class ModelAdmin(UnfoldModelAdmin):
    """Unfold's, but an action of the list is performed only after a page has said what it does, to how many rows.

    An action on the rows of all pages of a list is never intended.
    """

    list_disable_select_all = True
    list_per_page = 50

    @property
    def media(self) -> Media:
        found = super().media
        scripts = [path for path in found._js if not str(path).endswith(_UNUSED_SCRIPTS)]  # noqa: SLF001  # no other way
        return Media(css=found._css, js=scripts)  # noqa: SLF001

    @admin.display(description="")
    def action_checkbox(self, obj: Model) -> SafeString:
        """Without Unfold's 30 classes in each row."""
        return format_html(
            '<input type="checkbox" name="{}" value="{}" class="action-select" aria-label="{}">',
            ACTION_CHECKBOX_NAME,
            obj.pk,
            _("Select record"),
        )

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        found = super().get_actions(request)
        return {name: (_confirmed(act), *rest) for name, (act, *rest) in found.items()}


def asks(act: Any) -> Any:
    """Mark an action that shows a confirmation page of its own, as `delete_selected` of Django does."""
    act.asks = True
    return act


def effect(text: StrOrPromise) -> Callable[[Any], Any]:
    """What the confirmation page of an action says about its consequence."""

    def marked(act: Any) -> Any:
        act.effect = text
        return act

    return marked


def _confirmed(act: Any) -> Any:
    if getattr(act, "asks", False) or act is delete_selected:
        return act

    @wraps(act)
    def acting(model_admin: ModelAdmin, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        if is_confirmed(request):
            return act(model_admin, request, queryset) or back(model_admin, request)
        rows = [Row(row.pk, str(row), ()) for row in queryset]
        notes = [act.effect] if hasattr(act, "effect") else []
        return ask_about(model_admin, request, what=act.short_description, rows=rows, notes=notes)

    return acting


class LargeTable:
    """Mixin for lists of large tables: no feature reads the whole table.

    Search, filters and sorting need an index, so only columns in `sortable_by` can be sorted by.
    """

    paginator = EstimatingPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    sortable_by: list[str] = []


def pretty(value: Any) -> str:
    """Indented JSON. Unfold's own formatter uses inline styles, which the Content-Security-Policy forbids."""
    return format_html('<pre class="body">{}</pre>', json.dumps(value, indent=2, ensure_ascii=False))


class AddedOnly:
    """Mixin for rows that are added, and neither changed nor deleted."""

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ChangedOnly:
    """Mixin for rows that are changed, and neither added nor deleted."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def rendered_in(response: HttpResponse, place: Place) -> HttpResponse:
    """The page of a form or a row, with moments by the clocks of a place."""
    with timezone.override(place.zone):
        return response.render() if isinstance(response, TemplateResponse) else response


class RefusalsAsMessages:
    """Mixin: a refusal raised while a form is saved becomes a message on the form's page; nothing is saved."""

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return super().changeform_view(request, *args, **kwargs)  # type: ignore[misc]  # a ModelAdmin follows
        except DomainError as error:
            messages.error(request, self.told(error))
            return HttpResponseRedirect(request.get_full_path())

    def told(self, error: DomainError) -> str:
        """The refusal in the reader's language."""
        return refusal(error)


class OneTimeSecretAdmin(RefusalsAsMessages, AddedOnly, ModelAdmin):
    """Base of the screens of credentials, which are issued by a short form and shown once, on the page after it.

    Subclasses define what raises NotImplementedError.
    """

    actions = ["revoke"]
    issued_template: str
    add_form_template = "admin/issue_form.html"
    add_title: StrOrPromise
    add_submit: StrOrPromise

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        context = {**(extra_context or {}), "title": self.add_title, "submit": self.add_submit}
        return super().add_view(request, form_url, context)

    def issue(self, row: Any, *, by: str, at: datetime) -> tuple[Any, str]:
        """Issue what the form says. The issued row, and its clear text."""
        raise NotImplementedError

    def withdraw(self, row: Any, *, by: str, at: datetime) -> bool:
        """Revoke it. False if it is revoked already."""
        raise NotImplementedError

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        issued, clear_text = self.issue(obj, by=actor(request), at=clock.now())
        # The admin passes `obj` on to `response_add`, so it becomes the issued row, with its clear text.
        obj.__dict__.update(issued.__dict__, shown_once=clear_text)

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: str | None = None) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": _("New key"),
            "key": obj,
            "clear_text": vars(obj)["shown_once"],
            "opts": self.opts,
        }
        return TemplateResponse(request, self.issued_template, context)

    @effect(gettext_lazy("Calls with them are refused from this moment on. This cannot be undone."))
    @admin.action(description=gettext_lazy("Revoke now"), permissions=["add"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for row in queryset:
            if self.withdraw(row, by=actor(request), at=clock.now()):
                self.log_change(request, row, _("Revoked."))
        self.message_user(request, _("Revoked. They are refused from this moment on."))


class Unchangeable(AddedOnly):
    """Mixin for read-only screens and inlines."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class OneRow(ChangedOnly):
    """Mixin for a table of one row; its list leads to its form."""

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponseBase:
        screen: Any = self
        row = screen.get_queryset(request).first() if screen.has_view_permission(request) else None
        if row is None:
            response: HttpResponseBase = super().changelist_view(request, extra_context)  # type: ignore[misc]  # a ModelAdmin follows
            return response
        return HttpResponseRedirect(page_of(row))


class TabularInline(UnfoldTabularInline):
    """Inline whose fields have an aria-label each: the heading of a column does not label its fields."""

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None:
            field.widget.attrs.setdefault("aria-label", capfirst(str(field.label)))
        return field


class ReadOnlyInline(Unchangeable, TabularInline):
    extra = 0
    hide_title = True

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.fields or ()


def column(field: str, title: Any, write: Callable[[Any], Any], *, is_long: bool = False) -> Callable[[Any], Any]:
    """The attribute `field` of a row, written by `write`; a dash where it is empty. For lists, forms and inlines.

    Its text stays in one line unless it `is_long`.
    """
    return display(Column(title, field, write), is_long=is_long)


def display(of: Column, *, is_long: bool = True) -> Callable[[Any], Any]:
    """A column of a kind of row, as `column` has it."""

    @admin.display(description=of.label, ordering=of.name)
    def cell(row: Any) -> Any:
        text = _markup(of.text(row))
        if text is None:
            return NOTHING
        if is_long:
            return text
        return format_html('<span class="nowrap">{}</span>', text)

    cell.__name__ = of.name
    return cell


def facts(columns: Iterable[Column]) -> list[Callable[[Any], Any]]:
    """Those of a kind of row that stand in the admin, as fields of its page."""
    return [display(each) for each in shown(columns, ADMIN)]


def _markup(value: Any) -> Any:
    match value:
        case State():
            return pill_of(value)
        case Code():
            return copyable(value)
        case Model():
            return format_html('<a href="{}">{}</a>', page_of(value), value)
    return value


def short(value: UUID | str) -> SafeString:
    """The end of an id with a button that copies all of it."""
    return format_html(
        '<span class="rota-id"><code title="{value}">{end}</code>{button}</span>',
        value=value,
        end=formats.short_id(value),
        button=_copy(value),
    )


def pill(text: Any, colour: str = "", *, title: Any = "") -> SafeString:
    """A state as the panel's badges show it. `colour`: good, info, warn, bad; empty for grey."""
    return format_html('<span class="badge {}" title="{}">{}</span>', colour, title, text)


def pill_of(state: State) -> SafeString:
    """A status with the API's code as its title."""
    return pill(state.name, state.colour, title=state.code)


def copyable(value: str) -> SafeString:
    """A code that people compare in full, such as an access key, with a button that copies it."""
    return format_html('<span class="rota-id"><code>{}</code>{}</span>', value, _copy(value))


def copy_button(value: str, text: Any) -> SafeString:
    return format_html('<button type="button" class="button" data-copy="{}">{}</button>', value, text)


def named(row: Model, name: str) -> SafeString:
    """A row's name as a link to the row's page, and the end of its id with a button that copies all of it."""
    return format_html('<a href="{}">{}</a> {}', page_of(row), name, short(row.pk))


def page_of(row: Model) -> str:
    """The address of the row's page."""
    opts = row._meta
    return reverse(f"admin:{opts.app_label}_{opts.model_name}_change", args=[row.pk])


def linked(row: Model) -> SafeString:
    """The end of a row's id as a link to the row's page, with a button that copies the id."""
    return format_html(
        '<span class="rota-id"><a href="{url}" title="{pk}">{end}</a>{button}</span>',
        url=page_of(row),
        pk=row.pk,
        end=formats.short_id(row.pk),
        button=_copy(row.pk),
    )


def _copy(value: UUID | str) -> SafeString:
    # The symbol is drawn by admin.css: as text it would become part of what is copied with the cell.
    label = _("Copy %(value)s") % {"value": formats.short_id(value)}
    return format_html('<button type="button" class="rota-copy" data-copy="{}" aria-label="{}"></button>', value, label)


# Columns of credentials.
CREATED_BY = column("created_by", gettext_lazy("created by"), actor_name)


def ago_or_never(value: datetime | None) -> str:
    """How long ago, in a column whose heading says what."""
    return formats.ago(value) if value else _("never")


@admin.display(description=gettext_lazy("last used"), ordering="last_used_at")
def LAST_USED(row: Any) -> str:  # noqa: N802  # a column, as the others
    return ago_or_never(row.last_used_at)


REVOKED_BY = column("revoked_by", gettext_lazy("revoked by"), actor_name)


@dataclass(frozen=True)
class Row:
    """A chosen row: its id, its name and what the action means for it.

    `agreed` is sent back with the confirmation. The action compares it with the row's state of then.
    """

    pk: Any
    name: str
    facts: Sequence[StrOrPromise]
    agreed: str = ""


def is_confirmed(request: HttpRequest) -> bool:
    """Whether the request was sent by the page that `ask` shows."""
    return request.POST.get("confirmed") == "yes"


def agreed(request: HttpRequest, pk: Any) -> str:
    """The `Row.agreed` that the confirmation page showed for this row; empty if it did not show the row."""
    return request.POST.get(f"agreed-{pk}", "")


def ask(
    model_admin: ModelAdmin,
    request: HttpRequest,
    *,
    title: StrOrPromise,
    submit: StrOrPromise,
    rows: Sequence[Row],
    notes: Sequence[StrOrPromise] = (),
    form: Form | None = None,
    is_final: bool = True,
) -> TemplateResponse:
    """The page. Its form repeats the request with the fields of `form`, so that the same view performs the action.

    `notes` are about all rows. `is_final` colours the button red.
    """
    context = {
        **model_admin.admin_site.each_context(request),
        "title": title,
        "opts": model_admin.opts,
        "submit": submit,
        "rows": rows,
        "most_named": _MOST_NAMED,
        "others": max(len(rows) - _MOST_NAMED, 0),
        "kept": _kept(request, form),
        "notes": notes,
        "form": form,
        "is_final": is_final,
        "action": request.POST.get("action", ""),
        "row_page": _row_page(model_admin, request),
    }
    return TemplateResponse(request, "admin/confirm.html", context)


def ask_about(
    model_admin: ModelAdmin,
    request: HttpRequest,
    *,
    what: StrOrPromise,
    rows: Sequence[Row],
    notes: Sequence[StrOrPromise] = (),
    form: Form | None = None,
    is_final: bool = False,
) -> TemplateResponse:
    """The page of `ask`, named for what is done and to how many rows."""
    values = {"what": what, "count": len(rows)}
    title = ngettext("%(what)s?", "%(what)s: %(count)s rows?", len(rows)) % values
    return ask(
        model_admin, request, title=title, submit=_("Confirm"), rows=rows, notes=notes, form=form, is_final=is_final
    )


def _kept(request: HttpRequest, form: Form | None) -> list[tuple[str, str]]:
    """What else was sent with the request, such as a driver who was chosen for an action."""
    asked = set(form.fields) if form else set()
    return [
        (name, value)
        for name, values in request.POST.lists()
        if name not in _OF_THE_FORM | asked and not name.startswith("agreed-")
        for value in values
    ]


def back(model_admin: ModelAdmin, request: HttpRequest) -> HttpResponse | None:
    """The response after an action: a redirect to the page of the row where it was started; None on the list."""
    page = _row_page(model_admin, request)
    return HttpResponseRedirect(page) if page else None


def _row_page(model_admin: ModelAdmin, request: HttpRequest) -> str:
    """The page of the row on which the action was started; empty for an action of the list."""
    chosen = request.POST.getlist("_selected_action")
    if request.POST.get("from_page") != "yes" or len(chosen) != 1:
        return ""
    opts = model_admin.opts
    return reverse(f"admin:{opts.app_label}_{opts.model_name}_change", args=chosen)
