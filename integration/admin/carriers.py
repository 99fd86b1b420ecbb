"""Carriers, their keys, and the rules by which orders are assigned to them."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext
from unfold.widgets import UnfoldAdminSelectWidget

from common import clock
from common.actors import actor, actor_name
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
    effect,
    pill,
)
from common.brazil.formats import moment
from integration.actions import carriers
from integration.actions.keys import MOST_VALID
from integration.errors import CarrierInactive, TooManyKeys
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
    actions = ["revoke"]

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

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show refusals to issue a key as messages. The errors' own messages are the API's and Portuguese."""
        try:
            return super().changeform_view(request, *args, **kwargs)
        except CarrierInactive:
            self.message_user(request, _("The carrier is not active: no key is issued to it."), messages.ERROR)
        except TooManyKeys:
            text = _("The carrier has %(most)s valid keys, the most it may have; revoke one first.")
            self.message_user(request, text % {"most": MOST_VALID}, messages.ERROR)
        return HttpResponseRedirect(request.get_full_path())

    def save_model(self, request: HttpRequest, obj: CarrierKey, form: Any, change: bool) -> None:
        key, clear_text = carriers.issue_key(carrier=obj.carrier, by=actor(request), at=clock.now())
        # The admin passes `obj` on to `response_add`, so it becomes the issued key, with its clear text.
        obj.__dict__.update(key.__dict__, shown_once=clear_text)

    def response_add(self, request: HttpRequest, obj: CarrierKey, post_url_continue: str | None = None) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": _("New key"),
            "key": obj,
            "clear_text": vars(obj)["shown_once"],
            "opts": self.opts,
        }
        return TemplateResponse(request, "admin/integration/carrier_key_issued.html", context)

    @effect(_("Calls with them are refused from this moment on. This cannot be undone."))
    @admin.action(description=_("Revoke now"), permissions=["add"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[CarrierKey]) -> None:
        for key in queryset:
            if carriers.revoke_key(key=key, by=actor(request), at=clock.now()):
                self.log_change(request, key, _("Revoked."))
        self.message_user(request, _("Revoked. They are refused from this moment on."))


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
