"""Sellers, their companies and keys."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.defaultfilters import filesizeformat
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextInputWidget

from common.actors import actor
from common.admin_base import ModelAdmin, ReadOnlyInline, TabularInline
from common.suspension import InvalidReason, SuspensionActionForm
from integration.actions import keys, sellers
from integration.errors import AccountSuspended, TooManyKeys
from integration.models import ApiKey, Company, Seller, compact_document

_LIMITS = ["rate_limit_per_second", "rate_limit_per_hour", "invoice_quota_mb", "invoices_per_day"]


class DocumentField(forms.CharField):
    """A document with or without its mask. The value has no mask and is in upper case, as the model requires."""

    def to_python(self, value: Any) -> str:
        return compact_document(super().to_python(value) or "")


class CompanyForm(forms.ModelForm[Company]):
    document = DocumentField(
        max_length=20,
        label=_("document"),
        help_text=_("CNPJ or CPF, with or without mask."),
        widget=UnfoldAdminTextInputWidget({"aria-label": _("document")}),
    )

    class Meta:
        model = Company
        fields = ["seller", "document", "name"]


class CompanyInline(TabularInline):
    model = Company
    form = CompanyForm
    extra = 0
    can_delete = False


class KeyInline(ReadOnlyInline):
    model = ApiKey
    fields = ["hint", "created_at", "created_by", "last_used_at", "revoked_at"]


@admin.register(Seller)
class SellerAdmin(ModelAdmin):
    list_display = ["name", "reference", "id", "suspended_at", "created_at"]
    list_filter = [("suspended_at", admin.EmptyFieldListFilter)]
    search_fields = ["name", "=reference"]
    autocomplete_fields = ["members"]
    readonly_fields = [
        "reference", "id", "space_taken", "created_at", "suspended_at", "suspended_by", "suspension_reason",
    ]  # fmt: skip  # a list of names
    inlines = [CompanyInline, KeyInline]
    action_form = SuspensionActionForm
    actions = ["suspend", "lift_suspension"]

    def get_fields(self, request: HttpRequest, obj: Seller | None = None) -> Any:
        suspension = ["suspended_at", "suspended_by", "suspension_reason"] if obj and obj.suspended_at else []
        return ["name", "reference", "id", *suspension, "members", *_LIMITS, "space_taken", "created_at"]

    @admin.display(description=_("taken by invoices"))
    def space_taken(self, seller: Seller) -> str:
        return filesizeformat(seller.invoice_bytes)

    def save_model(self, request: HttpRequest, obj: Seller, form: Any, change: bool) -> None:
        # Not the other columns, which a suspension or an invoice may have changed since the row was read.
        obj.save(update_fields=["name", *_LIMITS] if change else None)

    def has_delete_permission(self, request: HttpRequest, obj: Seller | None = None) -> bool:
        return False  # orders refer to it

    @admin.action(description=_("Suspend: its keys are refused, orders go on"), permissions=["change"])
    def suspend(self, request: HttpRequest, queryset: QuerySet[Seller]) -> None:
        reason = request.POST.get("reason", "")
        for seller in queryset:
            try:
                suspended = sellers.suspend(seller=seller, reason=reason, by=actor(request), at=timezone.now())
            except InvalidReason as error:
                self.message_user(request, str(error), messages.ERROR)
                return
            if suspended:
                self.log_change(request, seller, _("Suspended: %(reason)s") % {"reason": reason.strip()})
        self.message_user(request, _("Suspended. Their keys are refused from this moment on."))

    @admin.action(description=_("Lift the suspension: its keys work again"), permissions=["change"])
    def lift_suspension(self, request: HttpRequest, queryset: QuerySet[Seller]) -> None:
        for seller in queryset:
            if sellers.lift_suspension(seller=seller, by=actor(request)):
                self.log_change(request, seller, _("Suspension lifted."))
        self.message_user(request, _("No longer suspended. Their keys work again."))


@admin.register(Company)
class CompanyAdmin(ModelAdmin):
    form = CompanyForm
    list_display = ["document", "name", "seller"]
    list_select_related = ["seller"]
    search_fields = ["document", "name", "seller__name"]
    autocomplete_fields = ["seller"]

    def get_readonly_fields(self, request: HttpRequest, obj: Company | None = None) -> list[str]:
        return ["seller"] if obj else []  # its orders would still belong to the old seller


@admin.register(ApiKey)
class ApiKeyAdmin(ModelAdmin):
    """Issues and revokes keys. The text of a key is shown once, in the response to its issue."""

    list_display = ["hint", "seller", "created_at", "created_by", "last_used_at", "revoked_at"]
    list_filter = [("revoked_at", admin.EmptyFieldListFilter)]
    list_select_related = ["seller"]
    search_fields = ["seller__name", "=seller__reference", "hint"]
    autocomplete_fields = ["seller"]
    actions = ["revoke"]

    def get_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> Any:
        shown = ["hint", "created_at", "created_by", "last_used_at", "revoked_at", "revoked_by"]
        return ["seller", *shown] if obj else ["seller"]

    def has_change_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return False

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Show refusals to issue a key as messages. The errors' own messages are the API's and Portuguese."""
        try:
            return super().changeform_view(request, *args, **kwargs)
        except AccountSuspended:
            self.message_user(request, _("The seller is suspended: no key is issued to it."), messages.ERROR)
        except TooManyKeys:
            text = _("The seller has %(most)s valid keys, the most it may have; revoke one first.")
            self.message_user(request, text % {"most": keys.MOST_VALID}, messages.ERROR)
        return HttpResponseRedirect(request.get_full_path())

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        issued = keys.issue(seller=obj.seller, by=actor(request), at=timezone.now())
        # The admin passes `obj` on to `response_add`, so it becomes the issued key, with its clear text.
        obj.__dict__.update(issued.key.__dict__, shown_once=issued.clear_text)

    def response_add(self, request: HttpRequest, obj: ApiKey, post_url_continue: str | None = None) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": _("New key"),
            "key": obj,
            "clear_text": vars(obj)["shown_once"],
            "opts": self.opts,
        }
        return TemplateResponse(request, "admin/integration/key_issued.html", context)

    @admin.action(description=_("Revoke now"), permissions=["add"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        for key in queryset:
            if keys.revoke(key=key, by=actor(request), at=timezone.now()):
                self.log_change(request, key, _("Revoked."))
        self.message_user(request, _("Revoked. They are refused from this moment on."))
