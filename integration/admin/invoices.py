"""Invoices: read-only, except that staff can link an order by hand."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextInputWidget

from common import clock
from common.actors import actor, actor_name
from common.admin.base import LargeTable, ModelAdmin, ReadOnlyInline, column, facts, short
from common.admin.filters import LookUpFilter
from common.brazil.formats import document, money
from common.fields import any_of, spellings
from integration.accounts.admin import SELLER
from integration.columns import INVOICE
from integration.errors import OrderNotFound
from integration.invoices import actions as invoices
from integration.invoices.models import Invoice, InvoiceChange, InvoiceLink, InvoiceReference
from integration.models import Order

_ISSUER = column("issuer_document", _("issuer"), document)
_VALUE = column("value", _("value"), money)


class ReferenceInline(ReadOnlyInline):
    model = InvoiceReference
    fields = ["value"]


class LinkInline(ReadOnlyInline):
    model = InvoiceLink
    fields = ["order", "reason", column("linked_by", _("linked by"), actor_name), "linked_at"]


class ChangeInline(ReadOnlyInline):
    model = InvoiceChange
    fields = ["kind", "order", "reason", "text", column("by", _("by"), actor_name), "at"]


class InvoiceForm(forms.ModelForm[Invoice]):
    """The order to link. The invoice's own fields cannot be changed."""

    link_order = forms.CharField(
        label=_("link to orderId"),
        required=False,
        help_text=_("An orderId of the same seller, whole."),
        widget=UnfoldAdminTextInputWidget,
    )

    class Meta:
        model = Invoice
        fields: list[str] = []

    def clean_link_order(self) -> Order | None:
        code = self.cleaned_data["link_order"]
        if not code:
            return None
        if self.instance.is_void:
            raise forms.ValidationError(_("This invoice was denied or cancelled, so no order is linked to it."))
        try:
            return Order.objects.by_code(self.instance.seller, self.instance.environment, code)
        except OrderNotFound as error:
            raise forms.ValidationError(_("This seller has no such order.")) from error


@admin.register(Invoice)
class InvoiceAdmin(LargeTable, ModelAdmin):
    form = InvoiceForm
    list_display = [
        "number_and_series", "environment", SELLER, _VALUE, "received_at", _ISSUER, "issued_at",
        column("access_key", _("access key"), short, is_long=True),
    ]  # fmt: skip  # a list of names
    nothing_yet = _("No invoice yet. They come by the API or the seller's pages.")
    list_filter = ["environment", ("seller", LookUpFilter)]
    list_filter_submit = True
    list_select_related = ["seller"]
    search_fields = ["access_key", "number", "references__value"]
    search_help_text = _("Access key, number or order, whole")
    readonly_fields = [*facts(INVOICE), "file"]
    fieldsets = [
        (None, {"classes": ["rota-facts"], "fields": readonly_fields}),
        (_("Order"), {"fields": ["link_order"]}),
    ]
    inlines = [ReferenceInline, LinkInline, ChangeInline]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Invoice | None = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Invoice]:
        return super().get_queryset(request).defer("raw")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Invoice], search_term: str
    ) -> tuple[QuerySet[Invoice], bool]:
        """Exact matches only, each of which an index finds."""
        term = search_term.strip()
        if not term:
            return queryset, False
        found = Invoice.objects.filter(access_key=invoices.compact_key(term)).values("pk").order_by()
        found = found.union(
            Invoice.objects.filter(number=term).values("pk").order_by(),
            InvoiceReference.objects.filter(value__in=spellings(term)).values("invoice").order_by(),
        )
        return queryset.filter(any_of("pk", ArraySubquery(found))), False

    def save_model(self, request: HttpRequest, obj: Invoice, form: Any, change: bool) -> None:
        order = form.cleaned_data["link_order"]
        if order is not None:
            invoices.link_by_hand(invoice=obj, order=order, by=actor(request), at=clock.now())

    @admin.display(description=_("number / series"))
    def number_and_series(self, invoice: Invoice) -> str:
        return str(invoice)

    @admin.display(description=_("file"))
    def file(self, invoice: Invoice) -> str:
        if invoice.forgotten_at is not None:
            return self.get_empty_value_display()
        return format_html('<a href="{}">XML</a>', reverse("admin:integration_invoice_file", args=[invoice.pk]))

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.file_view)
        return [path("<int:pk>/file/", view, name="integration_invoice_file"), *super().get_urls()]

    def file_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """The original bytes as a download, never displayed by the browser, because they are untrusted markup."""
        invoice = self.get_object(request, str(pk))
        if invoice is None or not self.has_view_permission(request, invoice) or invoice.forgotten_at is not None:
            raise Http404
        return HttpResponse(
            bytes(invoice.raw),
            content_type="application/octet-stream",
            headers={
                "Content-Disposition": f'attachment; filename="{invoice.access_key}.xml"',
                "X-Content-Type-Options": "nosniff",
            },
        )
