"""Sellers, their companies and keys."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextInputWidget

from integration.actions import keys
from integration.admin.base import ModelAdmin, ReadOnlyInline, TabularInline, actor
from integration.models import ApiKey, Company, Seller, compact_document


class DocumentField(forms.CharField):
    """A document as people write it; kept without its mask, in upper case, which is what the model judges."""

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
    list_display = ["name", "reference", "id", "created_at"]
    search_fields = ["name", "=reference"]
    fields = ["name", "reference", "id", "members", "created_at"]
    autocomplete_fields = ["members"]
    readonly_fields = ["reference", "id", "created_at"]
    inlines = [CompanyInline, KeyInline]

    def has_delete_permission(self, request: HttpRequest, obj: Seller | None = None) -> bool:
        return False  # its orders are its customers' history


@admin.register(Company)
class CompanyAdmin(ModelAdmin):
    form = CompanyForm
    list_display = ["document", "name", "seller"]
    list_select_related = ["seller"]
    search_fields = ["document", "name", "seller__name"]
    autocomplete_fields = ["seller"]

    def get_readonly_fields(self, request: HttpRequest, obj: Company | None = None) -> list[str]:
        return ["seller"] if obj else []  # its orders would stay behind with the old one


@admin.register(ApiKey)
class ApiKeyAdmin(ModelAdmin):
    """Issue and revoke. The text of a key is shown on the page that answers, and nowhere again."""

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

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        issued = keys.issue(seller=obj.seller, by=actor(request), at=timezone.now())
        # The admin goes on with `obj`: let it be the key that was made, and carry its text to the answer.
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
            keys.revoke(key=key, by=actor(request), at=timezone.now())
            self.log_change(request, key, _("Revoked."))
        self.message_user(request, _("Revoked. They are refused from this moment on."))
