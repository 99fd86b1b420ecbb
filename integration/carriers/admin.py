"""Carriers, their keys, and the rules by which orders are assigned to them."""

from datetime import datetime
from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext, pgettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget

from common.actors import actor_name
from common.admin.base import (
    CREATED_BY,
    LAST_USED,
    REVOKED_BY,
    LargeTable,
    ModelAdmin,
    OneTimeSecretAdmin,
    ReadOnlyInline,
    Unchangeable,
    column,
    pill,
)
from common.brazil.formats import moment
from common.errors import DomainError
from integration.accounts.keys import MOST_VALID
from integration.carriers import actions as carriers
from integration.errors import TooManyKeys
from integration.models import Assignment, Carrier, CarrierKey, CarrierRule, RefusedCarrierCall


class CarrierKeyInline(ReadOnlyInline):
    model = CarrierKey
    fields = ["hint", "created_at", CREATED_BY, LAST_USED, "revoked_at"]


class CarrierRuleInline(ReadOnlyInline):
    model = CarrierRule
    fields = ["state", "region", "service"]


@admin.register(Carrier)
class CarrierAdmin(ModelAdmin):
    list_display = ["name", "active", "created_at"]
    list_filter = ["active"]
    search_fields = ["name__composed"]
    nothing_yet = _("No carrier yet.")
    inlines = [CarrierRuleInline, CarrierKeyInline]
    fieldsets = [
        (None, {"fields": ["name", "active"]}),
        (_("Limits"), {"classes": ["collapse"], "fields": ["rate_limit_per_second", "rate_limit_per_hour"]}),
    ]

    def get_inlines(self, request: HttpRequest, obj: Carrier | None) -> Any:
        return self.inlines if obj else []

    def has_delete_permission(self, request: HttpRequest, obj: Carrier | None = None) -> bool:
        return False  # orders refer to it


@admin.register(CarrierKey)
class CarrierKeyAdmin(OneTimeSecretAdmin):
    """Issues and revokes keys. The text of a key is shown once, in the response to its issue."""

    list_display = ["hint", "state", "carrier", LAST_USED, "created_at", CREATED_BY]
    add_title = _("Issue a carrier key")
    add_submit = _("Issue")
    nothing_yet = _("No carrier key yet.")
    list_filter = ["carrier", ("revoked_at", admin.EmptyFieldListFilter)]
    list_select_related = ["carrier"]
    search_fields = ["carrier__name__composed", "hint"]
    autocomplete_fields = ["carrier"]
    issued_template = "admin/integration/carrier_key_issued.html"

    @admin.display(description=_("status"))
    def state(self, key: CarrierKey) -> str:
        if key.revoked_at:
            return pill(pgettext("key", "Revoked"), title=moment(key.revoked_at))
        if not key.carrier.active:
            return pill(pgettext("key", "Suspended"), "bad")
        return pill(pgettext("key", "Valid"), "good")

    def get_fields(self, request: HttpRequest, obj: CarrierKey | None = None) -> Any:
        shown = ["hint", "created_at", CREATED_BY, LAST_USED, "revoked_at", REVOKED_BY]
        return ["carrier", *shown] if obj else ["carrier"]

    def told(self, error: DomainError) -> str:
        """Not the error's own message, which is the API's and Portuguese."""
        if isinstance(error, TooManyKeys):
            text = gettext("The carrier has %(most)s valid keys, the most it may have; revoke one first.")
            return text % {"most": MOST_VALID}
        return gettext("The carrier is not active: no key is issued to it.")

    def issue(self, row: CarrierKey, *, by: str, at: datetime) -> tuple[CarrierKey, str]:
        return carriers.issue_key(carrier=row.carrier, by=by, at=at)

    def withdraw(self, row: CarrierKey, *, by: str, at: datetime) -> bool:
        return carriers.revoke_key(key=row, by=by, at=at)


@admin.register(CarrierRule)
class CarrierRuleAdmin(ModelAdmin):
    list_display = ["__str__", "state", "region", "service", "carrier"]
    list_filter = ["carrier"]
    list_select_related = ["carrier"]
    autocomplete_fields = ["carrier"]
    nothing_yet = _("No rule yet: new orders are assigned by hand.")


@admin.register(RefusedCarrierCall)
class RefusedCarrierCallAdmin(LargeTable, Unchangeable, ModelAdmin):
    """Calls with a carrier key that were refused, of the last seven days."""

    list_display = ["created_at", "carrier", "status", "code", "path", "credential", "request_id"]
    list_filter = ["carrier"]
    list_select_related = ["carrier"]
    nothing_yet = _("No refused call.")
    fields = [
        "created_at", "carrier", "credential", "method", "path", "status", "code", "request_id", "query",
        "content_type", "size", "body", "answer",
    ]  # fmt: skip  # a list of names


class AssignmentInline(ReadOnlyInline):
    model = Assignment
    fields = ["carrier", "assigned_at", column("assigned_by", _("assigned by"), actor_name)]
    verbose_name_plural = _("Assignments to carriers")


class CarrierForm(forms.Form):
    """The carrier that orders are assigned to."""

    carrier = forms.ModelChoiceField(
        label=_("Carrier"),
        queryset=Carrier.objects.filter(active=True),
        required=False,
        empty_label=_("No carrier"),
        widget=UnfoldAdminSelectWidget,
    )
