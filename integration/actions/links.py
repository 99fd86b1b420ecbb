"""Which invoices cover which orders, whichever of the two comes first."""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import Q

from integration.models import Invoice, InvoiceLink, InvoiceReference, Order, SearchCode, Seller

# The field xPed holds 15 characters, so longer order ids of marketplaces arrive cut to that.
_CUT = 15


def lock(seller: Seller) -> None:
    """Make this seller's order creations and invoices wait for each other until the transaction ends."""
    Seller.objects.select_for_update(no_key=True).get(pk=seller.pk)


def compact_key(text: str) -> str:
    """An access key as orders write it, without spaces and the prefix of the XML's Id."""
    return "".join(text.split()).upper().removeprefix("NFE")


def link(*, invoice: Invoice, order: Order, by: str, at: datetime) -> None:
    """Link the two, and find the order by the invoice's key and number from now on. Again: nothing happens."""
    InvoiceLink.objects.bulk_create(
        [InvoiceLink(invoice=invoice, order=order, linked_by=by, linked_at=at)], ignore_conflicts=True
    )
    kind = SearchCode.Kind
    SearchCode.objects.bulk_create(
        [
            SearchCode(seller_id=order.seller_id, order=order, kind=which, value=value)
            for which, value in ((kind.INVOICE_KEY, invoice.access_key), (kind.INVOICE_NUMBER, invoice.number))
            if value
        ],
        ignore_conflicts=True,
    )


def link_orders(*, invoice: Invoice, by: str, at: datetime) -> None:
    """Link every order of the seller that the invoice names or that names the invoice."""
    for order in matching_orders(invoice, [reference.value for reference in invoice.references.all()]):
        link(invoice=invoice, order=order, by=by, at=at)


def link_waiting(*, order: Order, by: str, at: datetime) -> None:
    """Link the invoices that came before this order."""
    values = {order.code, order.code[:_CUT]}
    named = InvoiceReference.objects.filter(seller=order.seller_id, value__in=values)
    found = Q(pk__in=named.values("invoice"))
    if order.invoice_key:
        found |= Q(access_key=order.invoice_key)
    for invoice in Invoice.objects.filter(found, seller=order.seller_id).defer("raw"):
        references = [reference.value for reference in invoice.references.filter(value__in=values)]
        if any(match.pk == order.pk for match in matching_orders(invoice, references)):
            link(invoice=invoice, order=order, by=by, at=at)


def matching_orders(invoice: Invoice, references: Iterable[str]) -> list[Order]:
    """Orders of the invoice's seller by its access key and by these references."""
    orders = Order.objects.filter(seller=invoice.seller_id)
    values = list(references)
    found = {order.pk: order for order in orders.filter(invoice_key=invoice.access_key)}
    exact = {order.code: order for order in orders.filter(code__in=values)}
    found.update({order.pk: order for order in exact.values()})
    for value in values:
        if len(value) == _CUT and value not in exact:
            longer = orders.filter(code__startswith=value)[:2]
            if len(longer) == 1:  # two would be a guess
                found[longer[0].pk] = longer[0]
    return list(found.values())
