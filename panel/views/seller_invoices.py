"""A seller's invoices: the list, uploading one, the page of one, and linking it to an order."""

from collections.abc import Iterator
from typing import Any

from django.contrib import messages
from django.db.models import prefetch_related_objects
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from common import clock, csv_files, formats
from common.actors import actor
from common.heavy import heavy
from common.http_requests import is_cut_short
from common.replica import may_be_old
from integration import nfe
from integration.actions import invoices
from integration.actions.invoices import Doubt, DoubtCode
from integration.errors import AccountSuspended, IntegrationError, InvalidInvoice, InvoiceMissing, InvoiceTooLarge
from integration.models import Invoice, Order
from panel.filters import InvoiceFilter, all_rows, find_orders, listed
from panel.views.base import SellerView

_LONGEST_KEY = 19  # a bigint has at most 19 digits
_LONGEST_WORDS = 255
_MOST_FOUND = 20  # orders that a search on the page of an invoice shows


class Invoices(SellerView):
    """The list, and the upload of an invoice by hand: the action and the messages of the API."""

    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponse:
        shown = listed(InvoiceFilter, request.GET, self.invoices, without=["raw"], scope=self.scope)
        prefetch_related_objects(shown["rows"], "references", "links__order__invoice_links")
        return self.page("panel/seller_invoices.html", **shown)

    @heavy
    def post(self, request: HttpRequest) -> HttpResponse:
        stored = keep_uploaded(request, self)
        if stored is None:
            return redirect(self.url("seller_invoices"))
        return redirect(self.url("seller_invoice", stored.pk))


# What is said of an invoice that is kept. Pages show a different value themselves, see `Invoice.differs`.
_DOUBTS = {
    DoubtCode.OTHER_INVOICE_STORED: gettext_noop(
        "There is an invoice with this access key and another content. This one was not saved."
    ),
    DoubtCode.FOREIGN_ISSUER: gettext_noop("The issuer, %(about)s, is none of this seller's companies."),
    DoubtCode.CONSUMER_INVOICE: gettext_noop(
        "This is an NFC-e (model 65), which does not accompany goods. An NF-e (model 55) does."
    ),
    DoubtCode.VOID_INVOICE: gettext_noop(
        "The tax office has denied or cancelled this invoice, so no order is linked to it."
    ),
    DoubtCode.UNMATCHED_REFERENCE: gettext_noop(
        "The invoice names order %(about)s, which does not exist yet. It is linked to it when it arrives."
    ),
}


def keep_uploaded(request: HttpRequest, page: SellerView, *, order: Order | None = None) -> Invoice | None:
    """Keep the invoice of the form, and say what became of it. None if it was refused. Raises AccountSuspended.

    `order`: on whose page it was uploaded, see `invoices.receive`.
    """
    doubts: list[Doubt] = []
    try:
        raw = _uploaded(request)
        stored = invoices.receive(
            seller=page.seller,
            environment=page.environment,
            raw=raw,
            by=actor(request),
            at=clock.now(),
            order=order,
            on_doubts=doubts.extend,
        )
    except AccountSuspended:
        raise
    except IntegrationError as error:
        messages.error(request, str(error))
        return None
    for doubt in doubts:
        if doubt.code in _DOUBTS:
            about = formats.document(doubt.about)
            messages.warning(request, _(_DOUBTS[doubt.code]) % {"about": about})
    if not any(doubt.code is DoubtCode.OTHER_INVOICE_STORED for doubt in doubts):
        text = _("The invoice is saved and linked.") if stored.links.exists() else _("The invoice is saved.")
        messages.success(request, text)
    return stored


def _uploaded(request: HttpRequest) -> bytes:
    """The bytes of the one file. Raises InvoiceMissing or InvoiceTooLarge."""
    if is_cut_short(request, field="nfe", most=nfe.MAX_BYTES):
        raise InvoiceTooLarge
    files = request.FILES.getlist("nfe")
    if len(files) != 1:
        raise InvoiceMissing
    if (files[0].size or 0) > nfe.MAX_BYTES:
        raise InvoiceTooLarge
    raw: bytes = files[0].read()
    return raw


class InvoicesExport(SellerView):
    """The list with the same filters."""

    @heavy
    @may_be_old
    def get(self, request: HttpRequest) -> Any:
        header = [
            _("access key"), _("number"), _("series"), _("issuer"), _("value"), _("issued at"), _("received at"),
            _("order references"), _("linked orders"),
        ]  # fmt: skip  # a list of names
        return csv_files.response(self.file_name("invoices"), header=header, rows=self._rows())

    def _rows(self) -> Iterator[list[csv_files.Cell]]:
        portions = all_rows(InvoiceFilter, self.request.GET, self.invoices, without=["raw"], scope=self.scope)
        for found, _searched_until in portions:
            prefetch_related_objects(found, "references", "links__order")
            yield from map(_row, found)


def _row(invoice: Invoice) -> list[csv_files.Cell]:
    references = " ".join(reference.value for reference in invoice.references.all())
    linked = " ".join(link.order.code for link in invoice.links.all())
    return [
        invoice.access_key, invoice.number, invoice.series, invoice.issuer_document, invoice.value, invoice.issued_at,
        invoice.received_at, references, linked,
    ]  # fmt: skip  # in the order of the header


class InvoicePage(SellerView):
    """What was read from an invoice, what was linked and why, and a search for an order to link."""

    def get(self, request: HttpRequest, invoice: int) -> HttpResponse:
        found = get_object_or_404(self.invoices, pk=invoice)
        words = request.GET.get("q", "").strip()
        prefetch_related_objects([found], "links__order__invoice_links")
        linked = list(found.links.all())
        references = [reference.value for reference in found.references.all()]
        return self.page(
            "panel/seller_invoice.html",
            invoice=found,
            items=_items(found),
            references=references,
            is_foreign=found.is_foreign(set(self.seller.companies.values_list("document", flat=True))),
            links=[(link, invoices.reason(link, invoice=found, references=references)) for link in linked],
            words=words,
            orders=self._found(words, linked),
            most=_MOST_FOUND,
        )

    def post(self, request: HttpRequest, invoice: int) -> HttpResponse:
        """Link an order of the same seller."""
        self.seller.check_active()
        found = get_object_or_404(self.invoices, pk=invoice)
        key = request.POST.get("order", "")
        order = (
            self.orders.filter(pk=key).first() if key.isascii() and key.isdigit() and len(key) <= _LONGEST_KEY else None
        )
        if order is None or found.is_void:
            raise Http404
        invoices.link_by_hand(invoice=found, order=order, by=actor(request), at=clock.now())
        messages.success(request, _("The invoice is linked to order %(order)s.") % {"order": order.code})
        if "from_order" in request.POST:
            return redirect(self.url("seller_order", order.pk))
        return redirect(self.url("seller_invoice", found.pk))

    def _found(self, words: str, linked: list[Any]) -> list[Order]:
        """The newest orders that fit the words, without those that are linked already."""
        if not words or "\0" in words:
            return []
        orders = find_orders(self.orders, self.scope, words[:_LONGEST_WORDS])
        fitting = orders.exclude(pk__in=[link.order_id for link in linked])
        return list(fitting.order_by("-created_at", "-pk")[:_MOST_FOUND])


def _items(invoice: Invoice) -> int | None:
    """How many items the invoice has. None for one that was taken by rules of an earlier version."""
    try:
        return nfe.read(bytes(invoice.raw)).items
    except InvalidInvoice:
        return None


class InvoiceFile(SellerView):
    """The original bytes as a download, never displayed by the browser, because they are untrusted markup."""

    def get(self, request: HttpRequest, invoice: int) -> HttpResponse:
        found = get_object_or_404(self.invoices, pk=invoice, forgotten_at=None)
        return HttpResponse(
            bytes(found.raw),
            content_type="application/octet-stream",
            headers={"Content-Disposition": f'attachment; filename="{found.access_key}.xml"'},
        )
