"""Finding a seller's orders."""

from integration.models import Order, Seller

MOST_RESULTS = 10


def find(seller: Seller, *, value: str, by_document: bool, document: str = "") -> list[Order]:
    """At most ten orders of the seller, newest first, with their logs: by the receiver's document, or else by any code.

    `document`, where given, must be the receiver's too.
    """
    if "\0" in value + document:
        return []  # no text in PostgreSQL holds it
    orders = Order.objects.all()
    found = orders.with_document(value, seller=seller) if by_document else orders.with_code(value, seller=seller)
    if document.strip():
        found &= orders.with_document(document, seller=seller)
    return list(found.order_by("-id").prefetch_related("status_log")[:MOST_RESULTS])
