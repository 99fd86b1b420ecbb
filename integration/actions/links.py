"""Links between invoices and the orders they cover.

Finding what to link, for a new invoice as for a new order, needs the seller's lock (`Seller.locked`): an order and an
invoice that are written at the same time would not be linked otherwise, because neither transaction sees the other's
rows.
"""

from collections.abc import Collection, Iterable
from datetime import datetime
from enum import StrEnum

from django.db.models import Q

from integration.models import Invoice, InvoiceLink, Order, SearchCode
from integration.models.order import CUT_REFERENCE


def compact_key(text: str) -> str:
    """An access key as an order may write it, reduced to its 44 characters: no spaces, no prefix `NFe`."""
    return "".join(text.split()).upper().removeprefix("NFE")


def link(pairs: Iterable[tuple[Invoice, Order]], *, by: str, at: datetime) -> None:
    """Link each pair, and let tracking find its order by the invoice's access key and number. Idempotent."""
    pairs = list(pairs)
    if not pairs:
        return
    kind = SearchCode.Kind
    InvoiceLink.objects.bulk_create(
        [InvoiceLink(invoice=invoice, order=order, linked_by=by, linked_at=at) for invoice, order in pairs],
        ignore_conflicts=True,
    )
    SearchCode.objects.bulk_create(
        [
            SearchCode(seller_id=order.seller_id, order=order, kind=which, value=value)
            for invoice, order in pairs
            for which, value in ((kind.INVOICE_KEY, invoice.access_key), (kind.INVOICE_NUMBER, invoice.number))
            if value
        ],
        ignore_conflicts=True,
    )


def link_new_invoice(invoice: Invoice, *, references: Collection[str], by: str, at: datetime) -> None:
    """Link the seller's orders that the invoice names in `references`, and those that name its access key.

    A reference of CUT_REFERENCE characters that is no order's whole code also names the order whose code begins with
    it, if there is exactly one. `new_order.facts` finds by the same rules for a new order.
    """
    orders = Order.objects.filter(seller=invoice.seller_id)
    exact = orders.filter(Q(code__in=references) | Q(invoice_key=invoice.access_key))
    cut = [value for value in references if len(value) == CUT_REFERENCE]
    found = {order.pk: order for order in (*exact, *Order.objects.all().cut_to(cut, seller_id=invoice.seller_id))}
    link([(invoice, order) for order in found.values()], by=by, at=at)


class Reason(StrEnum):
    """Why an invoice is linked to an order."""

    REFERENCE = "reference"  # the invoice names the order's `orderId`
    CUT_REFERENCE = "cut_reference"  # it names the first characters, as many as its layout allows
    ACCESS_KEY = "access_key"  # the order names the invoice's access key
    BY_HAND = "by_hand"


def reason(link: InvoiceLink, *, invoice: Invoice, references: Collection[str]) -> Reason:
    """Why the link exists, as far as its order and its invoice show it; otherwise somebody has made it."""
    order = link.order
    if order.code in references:
        return Reason.REFERENCE
    if order.invoice_key and order.invoice_key == invoice.access_key:
        return Reason.ACCESS_KEY
    if order.code[:CUT_REFERENCE] in references:
        return Reason.CUT_REFERENCE
    return Reason.BY_HAND
