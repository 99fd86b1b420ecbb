"""Filters of a seller's orders and invoices. Whole values are found by indexes, parts of them among the newest rows."""

from typing import Any

import django_filters
from django import forms
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from common.expressions import Folded, any_of, folded
from integration import words
from integration.models import Invoice, InvoiceLink, InvoiceReference, Order, SearchCode, Seller, compact_document
from panel.period_filter import PeriodFilter

# Among as many of the newest rows parts of texts and unlinked invoices are looked for: no index finds them.
NEWEST = 10_000
_LONGEST_TEXT = 255


def find_orders(orders: QuerySet[Order], seller: Seller, text: str) -> QuerySet[Order]:
    """Those of a seller's orders that have `text` as a search code, or else as the receiver's document.

    If there are none, those of the newest whose `orderId`, tracking code or receiver's name contains it, in any case
    and with or without accents.
    """
    text = text.strip()
    codes = SearchCode.objects.filter(seller=seller, value=text)
    if codes.exists():
        return orders.filter(any_of("pk", ArraySubquery(codes.order_by().values("order_id"))))
    document = compact_document(text)
    if document and Order.objects.filter(seller=seller, receiver_document=document).exists():
        return orders.filter(receiver_document=document)
    contains = Q(receiver_plain__contains=folded(text)) | Q(code__icontains=text) | Q(tracking_code__icontains=text)
    newest: QuerySet[Order] = _among_newest(orders, "created_at")
    return newest.alias(receiver_plain=Folded("receiver_name")).filter(contains)


def _among_newest(rows: QuerySet[Any], moment: str) -> QuerySet[Any]:
    newest = rows.order_by(F(moment).desc(), F("pk").desc()).values("pk")[:NEWEST]
    return rows.filter(any_of("pk", ArraySubquery(newest)))


class _OfSeller(PeriodFilter):
    """Filters that look something up among the rows of one seller."""

    def __init__(self, *args: Any, seller: Seller, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._seller = seller


class OrderFilter(_OfSeller):
    q = django_filters.CharFilter(
        label=_("Order, receiver, tracking code"),
        method="filter_q",
        max_length=_LONGEST_TEXT,
        widget=forms.TextInput({"type": "search", "placeholder": _("Also part of it, or a document")}),
    )
    status = django_filters.ChoiceFilter(label=_("Status"), choices=list(words.STATUSES.items()), empty_label=_("All"))

    class Meta:
        model = Order
        fields: list[str] = []

    def filter_q(self, orders: QuerySet[Order], _name: str, value: str) -> QuerySet[Order]:
        return find_orders(orders, self._seller, value)


class InvoiceFilter(_OfSeller):
    moment = "received_at"
    q = django_filters.CharFilter(label=_("Access key, number or order"), method="filter_q", max_length=_LONGEST_TEXT)
    linked = django_filters.ChoiceFilter(
        label=_("Status"),
        choices=[("yes", _("Linked")), ("no", _("Not linked"))],
        empty_label=_("All"),
        method="filter_linked",
    )

    class Meta:
        model = Invoice
        fields: list[str] = []

    def filter_q(self, invoices: QuerySet[Invoice], _name: str, value: str) -> QuerySet[Invoice]:
        """Whole values, each of which an index finds."""
        text = value.strip()
        own = Invoice.objects.filter(seller=self._seller)
        key = "".join(text.split())
        found = own.filter(access_key=key).values("pk").order_by()
        found = found.union(
            own.filter(number=text).values("pk").order_by(),
            InvoiceReference.objects.filter(seller=self._seller, value=text).values("invoice").order_by(),
            InvoiceLink.objects.filter(order__seller=self._seller, order__code=text).values("invoice").order_by(),
        )
        return invoices.filter(any_of("pk", ArraySubquery(found)))

    def filter_linked(self, invoices: QuerySet[Invoice], _name: str, value: str) -> QuerySet[Invoice]:
        links = Exists(InvoiceLink.objects.filter(invoice=OuterRef("pk")))
        newest = _among_newest(invoices, "received_at")
        return newest.filter(links if value == "yes" else ~links)
