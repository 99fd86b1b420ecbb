"""Accounts of both areas in the admin: suspension beside the name; limits that replace the installation's."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django_stubs_ext import StrOrPromise
from unfold.widgets import UnfoldAdminTextInputWidget

from common import clock
from common.accounts import LONGEST_REASON, InvalidReason, Suspendable
from common.actors import actor
from common.admin import base as admin_base
from common.admin.base import ModelAdmin, asks, effect, pill
from common.brazil.formats import day_and_month


class ReasonForm(forms.Form):
    """Why an account is suspended."""

    reason = forms.CharField(
        max_length=LONGEST_REASON,
        label=gettext_lazy("Reason"),
        help_text=gettext_lazy("The account's people read it on every page."),
        widget=UnfoldAdminTextInputWidget,
    )


@admin.display(description=gettext_lazy("name"), ordering="name")
def named(account: Any) -> SafeString:
    """The column of the name, with the state of a suspended account."""
    if not account.is_suspended:
        return format_html("{}", account.name)
    text = f"{account.suspended_word} · {day_and_month(timezone.localdate(account.suspended_at))}"
    return format_html("{} {}", account.name, pill(text, "bad", title=account.suspension_reason))


class AccountAdmin(ModelAdmin):
    """Base of the screens of accounts, which can be suspended. Subclasses define what raises NotImplementedError.

    `limits` maps the names of fields to the settings whose values they replace. `add_page` is the page of the panel on
    which an account is opened.
    """

    limits: dict[str, str]
    add_page: str
    actions = ["suspend", "lift_suspension"]
    ordering = ["name"]  # subclasses count by account, for which Django drops the order of the model
    list_filter = [("suspended_at", admin.EmptyFieldListFilter)]
    change_form_template = "admin/suspension/change_form.html"

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        return redirect(self.add_page)

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None and db_field.name in self.limits:
            value = getattr(settings, self.limits[db_field.name])
            text = number_format(value, force_grouping=True) if value else _("no limit")
            field.widget.attrs["placeholder"] = _("default: %(value)s") % {"value": text}
            field.help_text = _("0: no limit.")
        return field

    def suspension_facts(self, accounts: Sequence[Any], *, at: datetime) -> dict[Any, list[StrOrPromise]]:
        """What a suspension means for each account, by its id."""
        raise NotImplementedError

    def write_suspension(self, account: Any, *, reason: str, by: str, at: datetime) -> bool:
        """Suspend the account. False if it is suspended already. Raises InvalidReason."""
        raise NotImplementedError

    def clear_suspension(self, account: Any, *, by: str, at: datetime) -> bool:
        """Lift the suspension. False if the account is not suspended."""
        raise NotImplementedError

    @asks
    @admin.action(description=gettext_lazy("Suspend"), permissions=["change"])
    def suspend(self, request: HttpRequest, queryset: QuerySet[Suspendable]) -> HttpResponse | None:
        accounts, now, reason = list(queryset), clock.now(), request.POST.get("reason", "")
        if not admin_base.is_confirmed(request):
            return self._ask(request, accounts, at=now)
        for account in accounts:
            try:
                suspended = self.write_suspension(account, reason=reason, by=actor(request), at=now)
            except InvalidReason as error:
                self.message_user(request, str(error), messages.ERROR)
                return self._ask(request, accounts, at=now)
            if suspended:
                self.log_change(request, account, _("Suspended: %(reason)s") % {"reason": reason.strip()})
                self.message_user(request, _("%(account)s is suspended.") % {"account": account}, messages.SUCCESS)
        return admin_base.back(self, request)

    @effect(gettext_lazy("Its calls are answered again from this moment on."))
    @admin.action(description=gettext_lazy("Resume"), permissions=["change"])
    def lift_suspension(self, request: HttpRequest, queryset: QuerySet[Suspendable]) -> None:
        for account in queryset:
            if self.clear_suspension(account, by=actor(request), at=clock.now()):
                self.log_change(request, account, _("Suspension lifted."))
                text = _("%(account)s is no longer suspended.") % {"account": account}
                self.message_user(request, text, messages.SUCCESS)

    def _ask(self, request: HttpRequest, accounts: Sequence[Any], *, at: datetime) -> HttpResponse:
        facts = self.suspension_facts(accounts, at=at)
        rows = [admin_base.Row(account.pk, account.name, facts[account.pk]) for account in accounts]
        names = ", ".join(account.name for account in accounts)
        return admin_base.ask(
            self,
            request,
            title=_("Suspend %(names)s?") % {"names": names},
            submit=_("Suspend"),
            rows=rows,
            form=ReasonForm(initial={"reason": request.POST.get("reason", "")}),
        )
