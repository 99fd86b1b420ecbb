"""A seller's invoices: the list, uploading one, the page of one, and linking it to an order."""

from collections.abc import Iterator
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import prefetch_related_objects
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _

from common import clock
from common.actors import actor
from common.api.heavy import heavy
from common.files import table_files
from common.postgresql.replica import may_be_old
from integration.columns import INVOICE
from integration.errors import InvalidInvoice, VoidInvoice
from integration.invoices import actions as invoices
from integration.invoices import nfe
from integration.invoices.actions import DoubtCode
from integration.invoices.models import Invoice
from integration.models import Order
from panel.base import SellerView
from panel.filters import InvoiceFilter, all_rows, find_orders, listed
from panel.sellers.invoice_uploads import DOUBTS, keep_uploaded

_MAY_MARK_VOID = "integration.change_invoice"
_LONGEST_KEY = 19  # a bigint has at most 19 digits
_LONGEST_WORDS = 255
_MOST_FOUND = 20  # orders that a search on the page of an invoice shows


class Invoices(SellerView):
    """The list, and the upload of an invoice by hand: the action and the messages of the API."""

    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponse:
        shown = listed(InvoiceFilter, request.GET, self.invoices, without=["raw"], **self.list_options)
        prefetch_related_objects(shown["rows"], "references", "links__order__invoice_links")
        return self.page("panel/seller_invoices.html", in_zone_of=self.seller, **shown)

    @heavy
    def post(self, request: HttpRequest) -> HttpResponse:
        stored = keep_uploaded(request, self)
        if len(stored) != 1:
            return redirect(self.url("seller_invoices"))
        return redirect(self.url("seller_invoice", stored[0].pk))


class InvoicesExport(SellerView):
    """The list with the same filters."""

    @heavy
    @may_be_old
    def get(self, request: HttpRequest) -> Any:
        return table_files.response(
            request, self.file_name("invoices"), columns=table_files.of_rows(INVOICE), rows=self._rows()
        )

    def _rows(self) -> Iterator[Invoice]:
        portions = all_rows(InvoiceFilter, self.request.GET, self.invoices, without=["raw"], **self.list_options)
        for found, _searched_until in portions:
            prefetch_related_objects(found, "references", "links__order")
            yield from found


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
            in_zone_of=self.seller,
            invoice=found,
            items=_items(found),
            references=references,
            is_foreign=found.is_foreign(set(self.seller.companies.values_list("document", flat=True))),
            links=linked,
            words=words,
            orders=self._found(words, linked) if words or linked else invoices.uncertain_orders(found),
            most=_MOST_FOUND,
            changes=found.changes.select_related("order"),
            may_mark_void=request.user.has_perm(_MAY_MARK_VOID) and not found.is_void,
        )

    def post(self, request: HttpRequest, invoice: int) -> HttpResponse:
        """Link an order of the same seller."""
        self.seller.check_active()
        found = get_object_or_404(self.invoices, pk=invoice)
        order = _order(self)
        if order is None:
            raise Http404
        try:
            invoices.link_by_hand(invoice=found, order=order, by=actor(request), at=clock.now())
        except VoidInvoice:
            messages.error(request, _(DOUBTS[DoubtCode.VOID_INVOICE]))
        else:
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
        return nfe.read(bytes(invoice.raw), access_key=invoice.access_key).items
    except InvalidInvoice:
        return None


def _order(page: SellerView) -> Order | None:
    """The order that a form names, of the page's seller."""
    key = page.request.POST.get("order", "")
    is_key = key.isascii() and key.isdigit() and len(key) <= _LONGEST_KEY
    return page.orders.filter(pk=key).first() if is_key else None


def _reason(request: HttpRequest) -> str:
    """What the person wrote, with characters that can be stored."""
    return request.POST.get("reason", "").replace("\0", "").strip()[:_LONGEST_WORDS]


class UnlinkInvoice(SellerView):
    """Removes the link of an order, with a reason if the person gives one."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest, invoice: int) -> HttpResponse:
        self.seller.check_active()
        found = get_object_or_404(self.invoices.defer("raw"), pk=invoice)
        if not request.POST.get("order"):
            messages.error(request, _("Choose the order whose link is to be removed."))
            return redirect(self.url("seller_invoice", found.pk))
        order = _order(self)
        if order is None:
            raise Http404
        invoices.unlink_by_hand(invoice=found, order=order, text=_reason(request), by=actor(request), at=clock.now())
        messages.success(request, _("The invoice is no longer linked to order %(order)s.") % {"order": order.code})
        return redirect(self.url("seller_invoice", found.pk))


class MarkInvoiceVoid(SellerView):
    """For staff: an invoice whose cancellation came by no file."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest, invoice: int) -> HttpResponse:
        if not request.user.has_perm(_MAY_MARK_VOID):
            raise PermissionDenied
        found = get_object_or_404(self.invoices.defer("raw"), pk=invoice)
        text = _reason(request)
        if text:
            invoices.mark_void(invoice=found, text=text, by=actor(request), at=clock.now())
            messages.success(request, _("The invoice is void, and linked to no order."))
        else:
            messages.error(request, _("Say why the invoice is void."))
        return redirect(self.url("seller_invoice", found.pk))


class InvoiceFile(SellerView):
    """The original bytes as a download, never displayed by the browser, because they are untrusted markup."""

    def get(self, request: HttpRequest, invoice: int) -> HttpResponse:
        found = get_object_or_404(self.invoices, pk=invoice, forgotten_at=None)
        return HttpResponse(
            bytes(found.raw),
            content_type="application/octet-stream",
            headers={"Content-Disposition": f'attachment; filename="{found.access_key}.xml"'},
        )
