"""A page on which staff confirm an action on rows of the admin before it is performed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.forms import Form
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django_stubs_ext import StrOrPromise

from common.admin_base import ModelAdmin


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
    """`Row.agreed` of a row as the page showed it; empty if it did not show the row."""
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
        "notes": notes,
        "form": form,
        "is_final": is_final,
        "action": request.POST.get("action", ""),
        "row_page": _row_page(model_admin, request),
    }
    return TemplateResponse(request, "admin/confirm.html", context)


def back(model_admin: ModelAdmin, request: HttpRequest) -> HttpResponse | None:
    """Where an action ends that was started on the page of a row; None for one of the list, which stays there."""
    page = _row_page(model_admin, request)
    return HttpResponseRedirect(page) if page else None


def _row_page(model_admin: ModelAdmin, request: HttpRequest) -> str:
    """The page of the row on which the action was started; empty for an action of the list."""
    chosen = request.POST.getlist("_selected_action")
    if request.POST.get("from_page") != "yes" or len(chosen) != 1:
        return ""
    opts = model_admin.opts
    return reverse(f"admin:{opts.app_label}_{opts.model_name}_change", args=chosen)
