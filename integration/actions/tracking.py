"""Finding orders of a seller."""

from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Prefetch, QuerySet

from common.compiled_queries import CompiledQuery, Parameter
from common.fields import any_of
from integration.errors import OrderNotFound
from integration.models import InvoiceLink, Order, SearchCode, Seller, StatusLog, compact_document

MOST_RESULTS = 10


@dataclass(frozen=True)
class TrackedOrder:
    """`status_log`: oldest entry first. Its first is written with the order, so that it is never empty."""

    tracking_code: str
    status_log: list[StatusLog]


def find(seller: Seller, *, value: str, by_document: bool, document: str = "") -> list[TrackedOrder]:
    """At most MOST_RESULTS orders of the seller, newest first.

    `value` is compared with the receiver's document if `by_document`, otherwise with every search code. An order must
    also have the receiver's document `document`, unless that is empty. Masks of documents are ignored.
    """
    if "\0" in value + document:
        return []  # PostgreSQL refuses NUL in a query, and no stored text holds it
    rows = _status_logs(seller.pk, value, by_document=by_document, document=document)
    found = [list(entries) for _key, entries in groupby(rows, key=lambda entry: entry.order_id)]
    return [TrackedOrder(entries[0].order.tracking_code, entries) for entries in found]


def get(seller: Seller, *, code: str) -> Order:
    """The seller's order with this `orderId`, with its company, status log and linked invoices without their files.

    Raises OrderNotFound.
    """
    links = InvoiceLink.objects.select_related("invoice").defer("invoice__raw")
    orders = seller.orders.select_related("company")
    found = orders.prefetch_related("status_log", Prefetch("invoice_links", links)).filter(code=code)
    # Not by `first`, which sorts: PostgreSQL might then read sorted orders until one has the code.
    order = None if "\0" in code else next(iter(found.order_by()), None)  # PostgreSQL refuses NUL in a query
    if order is None:
        raise OrderNotFound
    return order


def _status_logs(seller_id: int, value: str, *, by_document: bool, document: str) -> list[StatusLog]:
    if not by_document and not document:
        return _BY_CODE.all(seller=seller_id, value=value)
    wanted = {compact_document(text) for text in ([value] if by_document else []) + ([document] if document else [])}
    compact = wanted.pop()
    if wanted or not compact:
        return []  # two documents, or one without a digit
    if by_document:
        return _BY_DOCUMENT.all(seller=seller_id, document=compact)
    return _BY_BOTH.all(seller=seller_id, value=value, document=compact)


def by_code(seller: Any, value: Any) -> QuerySet[StatusLog]:
    codes = SearchCode.objects.filter(seller=seller, value=value)
    return _of_newest(codes.order_by("-order_id").distinct().values("order_id"))


def by_document(seller: Any, document: Any) -> QuerySet[StatusLog]:
    return _of_newest(Order.objects.filter(seller=seller, receiver_document=document).order_by("-pk").values("pk"))


def by_both(seller: Any, value: Any, document: Any) -> QuerySet[StatusLog]:
    codes = SearchCode.objects.filter(seller=seller, value=value, order__receiver_document=document)
    return _of_newest(codes.order_by("-order_id").distinct().values("order_id"))


def _of_newest(orders: QuerySet[Any, Any]) -> QuerySet[StatusLog]:
    """The status logs of the first MOST_RESULTS orders."""
    rows = StatusLog.objects.filter(any_of("order", ArraySubquery(orders[:MOST_RESULTS])))
    return rows.select_related("order").order_by("-order_id", "pk")


_BY_CODE = CompiledQuery(lambda: by_code(Parameter("seller"), Parameter("value")))
_BY_DOCUMENT = CompiledQuery(lambda: by_document(Parameter("seller"), Parameter("document")))
_BY_BOTH = CompiledQuery(lambda: by_both(Parameter("seller"), Parameter("value"), Parameter("document")))
