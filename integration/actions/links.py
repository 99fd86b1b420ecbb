"""Which invoices cover which orders, whichever of the two comes first."""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import Q

from integration.models import Invoice, InvoiceLink, InvoiceReference, Order, SearchCode, Seller
from integration.models.order import CUT_REFERENCE


def lock(seller: Seller) -> Seller:
    """Make this seller's order creations and invoices wait for each other until the transaction ends.

    Returns the row as it is under the lock.
    """
    return Seller.objects.select_for_update(no_key=True).get(pk=seller.pk)


def compact_key(text: str) -> str:
    """An access key as orders write it, without spaces and the prefix of the XML's Id."""
    return "".join(text.split()).upper().removeprefix("NFE")


def link(pairs: Iterable[tuple[Invoice, Order]], *, by: str, at: datetime) -> None:
    """Link each pair, and find its order by the invoice's key and number from now on. Again: nothing happens."""
    pairs = list(pairs)
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


def link_orders(*, invoice: Invoice, by: str, at: datetime) -> None:
    """Link every order of the seller that the invoice names or that names the invoice."""
    orders = Order.objects.filter(seller=invoice.seller_id)
    references = [reference.value for reference in invoice.references.all()]
    exact = list(orders.filter(Q(code__in=references) | Q(invoice_key=invoice.access_key)))
    codes = {order.code for order in exact}
    cut = [value for value in references if len(value) == CUT_REFERENCE and value not in codes]
    found = {order.pk: order for order in (*exact, *orders.cut_to(cut))}
    link([(invoice, order) for order in found.values()], by=by, at=at)


def link_waiting(*, order: Order, by: str, at: datetime) -> None:
    """Link the invoices that came before this order."""
    orders = Order.objects.filter(seller=order.seller_id)
    names = {order.code}
    cut = order.code[:CUT_REFERENCE]
    # The cut reference is another order's whole code, or begins several: then it is not this order's.
    if not orders.filter(code=cut).exists() and orders.cut_to([cut]).filter(pk=order.pk).exists():
        names.add(cut)
    named = InvoiceReference.objects.filter(seller=order.seller_id, value__in=names)
    found = Q(pk__in=named.values("invoice"))
    if order.invoice_key:
        found |= Q(access_key=order.invoice_key)
    invoices = Invoice.objects.filter(found, seller=order.seller_id).defer("raw")
    link([(invoice, order) for invoice in invoices], by=by, at=at)
