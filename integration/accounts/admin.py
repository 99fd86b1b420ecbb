"""Sellers, their companies and keys."""

from collections.abc import Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Count, Max, QuerySet
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext, ngettext, pgettext
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise
from unfold.widgets import UnfoldAdminTextInputWidget

from common import clock
from common.accounts import Environment
from common.actors import actor
from common.admin.accounts import AccountAdmin, named
from common.admin.base import (
    CREATED_BY,
    LAST_USED,
    REVOKED_BY,
    ModelAdmin,
    OneTimeSecretAdmin,
    ReadOnlyInline,
    TabularInline,
    ago_or_never,
    column,
    copyable,
    pill,
)
from common.brazil.formats import document, moment, postcode
from common.brazil.states import LONGEST_POSTCODE, postcode_of
from common.errors import DomainError
from integration.accounts import keys, sellers
from integration.errors import TooManyKeys
from integration.models import ApiKey, Company, Seller, compact_document, is_document

_REFERENCE = column("reference", _("reference"), copyable)
SELLER = column("seller", _("seller"), attrgetter("name"), is_long=True)
_LIMITS = {
    "rate_limit_per_second": "RATE_LIMIT_PER_SECOND",
    "rate_limit_per_hour": "RATE_LIMIT_PER_HOUR",
    "invoice_quota_mb": "INVOICE_QUOTA_MB",
    "invoices_per_day": "INVOICES_PER_DAY",
}


class DocumentField(forms.CharField):
    """A document with or without its mask. The value has no mask and is in upper case, as the model requires."""

    def to_python(self, value: Any) -> str:
        return compact_document(super().to_python(value) or "")


class PostcodeField(forms.CharField):
    """A CEP, however it is written. The value is its digits, as the model requires, or else what was typed."""

    def to_python(self, value: Any) -> str:
        text = super().to_python(value) or ""
        return postcode_of(text) or text

    def prepare_value(self, value: Any) -> Any:
        return postcode(value) if isinstance(value, str) else value


class CompanyForm(forms.ModelForm[Company]):
    document = DocumentField(
        max_length=20,
        label=_("document"),
        help_text=_("CNPJ or CPF, with or without mask."),
        widget=UnfoldAdminTextInputWidget({"aria-label": _("document")}),
    )
    postcode = PostcodeField(
        max_length=LONGEST_POSTCODE,
        required=False,
        label=_("origin CEP"),
        help_text=Company._meta.get_field("postcode").help_text,
        widget=UnfoldAdminTextInputWidget({"aria-label": _("origin CEP"), "inputmode": "numeric"}),
    )

    class Meta:
        model = Company
        fields = ["seller", "document", "name", "postcode"]


class CompanyInline(TabularInline):
    model = Company
    form = CompanyForm
    extra = 0
    can_delete = False


class KeyInline(ReadOnlyInline):
    model = ApiKey
    fields = ["hint", "environment", "created_at", CREATED_BY, LAST_USED, "revoked_at"]


@admin.register(Seller)
class SellerAdmin(AccountAdmin):
    list_display = [named, _REFERENCE, "last_call", "people", "created_at"]
    add_page = "panel:seller_new"
    nothing_yet = _("No seller yet.")
    limits = _LIMITS
    search_fields = ["name__composed", "=reference"]
    readonly_fields = [_REFERENCE, "team", "space_taken", "created_at"]
    inlines = [CompanyInline, KeyInline]

    def get_fieldsets(self, request: HttpRequest, obj: Seller | None = None) -> Any:
        return [
            (None, {"fields": ["name", "team", _REFERENCE, "created_at", "mails_receivers"]}),
            (_("Limits"), {"classes": ["collapse"], "fields": [*_LIMITS, "space_taken"]}),
        ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Seller]:
        called, members = Max("keys__last_used_at"), Count("members", distinct=True)
        return super().get_queryset(request).annotate(called_at=called, member_count=members)

    @admin.display(description=_("last call"), ordering="called_at")
    def last_call(self, seller: Seller) -> str:
        return ago_or_never(vars(seller)["called_at"])

    @admin.display(description=_("team"), ordering="member_count")
    def people(self, seller: Seller) -> str:
        count = vars(seller)["member_count"]
        return ngettext("%(count)s person", "%(count)s people", count) % {"count": count}

    @admin.display(description=_("taken by invoices"))
    def space_taken(self, seller: Seller) -> str:
        sizes = [f"{each.label}: {filesizeformat(seller.bytes_in(each))}" for each in Environment]
        return " · ".join(sizes)

    def save_model(self, request: HttpRequest, obj: Seller, form: Any, change: bool) -> None:
        # Not the other columns, which a suspension or an invoice may have changed since the row was read.
        obj.save(update_fields=["name", *_LIMITS])
        are_on = form.cleaned_data["mails_receivers"]
        sellers.set_receiver_mails(seller=obj, are_on=are_on, by=actor(request), at=clock.now())

    @admin.display(description=_("team"))
    def team(self, obj: Seller) -> str:
        """The people, with a link to the page where they are invited, changed and removed."""
        people = ", ".join(user.get_username() for user in obj.members.order_by("username")) or _("Nobody yet")
        page = reverse("panel:seller_team", args=[obj.pk, Environment.LIVE])
        return format_html('{}<br><a href="{}">{}</a>', people, page, _("Invite or remove people"))

    def has_delete_permission(self, request: HttpRequest, obj: Seller | None = None) -> bool:
        return False  # orders refer to it

    def suspension_facts(self, accounts: Sequence[Any], *, at: datetime) -> dict[Any, list[StrOrPromise]]:
        valid_keys = ApiKey.objects.filter(seller__in=accounts, revoked_at=None)
        valid = dict(valid_keys.order_by().values_list("seller").annotate(count=Count("*")))
        return {
            account.pk: [
                ngettext(
                    "%(count)s valid key is refused from this moment on, and none is issued.",
                    "%(count)s valid keys are refused from this moment on, and none is issued.",
                    valid.get(account.pk, 0),
                )
                % {"count": valid.get(account.pk, 0)},
                _("Orders under way go on."),
            ]
            for account in accounts
        }

    def write_suspension(self, account: Seller, *, reason: str, by: str, at: datetime) -> bool:
        return sellers.suspend(seller=account, reason=reason, by=by, at=at)

    def clear_suspension(self, account: Seller, *, by: str, at: datetime) -> bool:
        return sellers.lift_suspension(seller=account, by=by)


@admin.register(Company)
class CompanyAdmin(ModelAdmin):
    form = CompanyForm
    list_display = [
        column("document", _("document"), document), "name", column("postcode", _("origin CEP"), postcode), "seller",
    ]  # fmt: skip  # a list of names
    list_select_related = ["seller"]
    search_fields = ["document", "name__composed", "seller__name__composed"]
    autocomplete_fields = ["seller"]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Company], search_term: str
    ) -> tuple[QuerySet[Company], bool]:
        """A document also with its mask."""
        document = compact_document(search_term[:100])
        return super().get_search_results(request, queryset, document if is_document(document) else search_term)

    def get_readonly_fields(self, request: HttpRequest, obj: Company | None = None) -> list[str]:
        return ["seller"] if obj else []  # its orders would still belong to the old seller


@admin.register(ApiKey)
class ApiKeyAdmin(OneTimeSecretAdmin):
    """Issues and revokes keys. The text of a key is shown once, in the response to its issue."""

    list_display = ["hint", "state", "environment", "name", SELLER, LAST_USED, "created_at", CREATED_BY]
    add_title = _("Issue an API key")
    add_submit = _("Issue")
    nothing_yet = _("No API key yet.")
    list_filter = ["environment", ("revoked_at", admin.EmptyFieldListFilter)]
    list_select_related = ["seller"]
    search_fields = ["seller__name__composed", "=seller__reference", "hint", "name__composed"]
    autocomplete_fields = ["seller"]
    issued_template = "admin/integration/key_issued.html"

    @admin.display(description=_("status"))
    def state(self, key: ApiKey) -> str:
        if key.revoked_at:
            return pill(pgettext("key", "Revoked"), title=moment(key.revoked_at))
        if key.seller.is_suspended:
            return pill(pgettext("key", "Suspended"), "bad")
        return pill(pgettext("key", "Valid"), "good")

    def get_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> Any:
        shown = ["environment", "name", "hint", "created_at", CREATED_BY, LAST_USED, "revoked_at", REVOKED_BY]
        return ["seller", *shown] if obj else ["seller", "environment", "name"]

    def told(self, error: DomainError) -> str:
        """Not the error's own message, which is the API's and Portuguese."""
        if isinstance(error, TooManyKeys):
            text = gettext("The seller has %(most)s valid keys, the most it may have; revoke one first.")
            return text % {"most": keys.MOST_VALID}
        return gettext("The seller is suspended: no key is issued to it.")

    def issue(self, row: ApiKey, *, by: str, at: datetime) -> tuple[ApiKey, str]:
        issued = keys.issue(seller=row.seller, environment=Environment(row.environment), name=row.name, by=by, at=at)
        return issued.key, issued.clear_text

    def withdraw(self, row: ApiKey, *, by: str, at: datetime) -> bool:
        return keys.revoke(key=row, by=by, at=at)
