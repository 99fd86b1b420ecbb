"""Finding orders of a seller."""

from django.db.models import Prefetch

from integration.errors import OrderNotFound
from integration.models import InvoiceLink, Order, Seller

MOST_RESULTS = 10


def find(seller: Seller, *, value: str, by_document: bool, document: str = "") -> list[Order]:
    """At most MOST_RESULTS orders of the seller, newest first, with `status_log` prefetched.

    `value` is compared with the receiver's document if `by_document`, otherwise with every search code. An order must
    also have the receiver's document `document`, unless that is empty.
    """
    if "\0" in value + document:
        return []  # PostgreSQL refuses NUL in a query, and no stored text holds it
    orders = Order.objects.all()
    found = orders.with_document(value, seller=seller) if by_document else orders.with_code(value, seller=seller)
    if document:
        found &= orders.with_document(document, seller=seller)
    return list(found.order_by("-id").prefetch_related("status_log")[:MOST_RESULTS])


def get(seller: Seller, *, code: str) -> Order:
    """The seller's order with this `orderId`, with its company, status log and linked invoices without their files.

    Raises OrderNotFound.
    """
    links = InvoiceLink.objects.select_related("invoice").defer("invoice__raw")
    orders = Order.objects.all().of(seller).select_related("company")
    found = orders.prefetch_related("status_log", Prefetch("invoice_links", links)).filter(code=code)
    order = None if "\0" in code else found.first()  # PostgreSQL refuses NUL in a query
    if order is None:
        raise OrderNotFound
    return order
