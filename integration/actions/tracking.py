"""Finding orders of a seller."""

from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.fields import ArrayField
from django.db.models import BigIntegerField, F, Func, Prefetch, QuerySet, TextField, Value
from django.db.models.functions import Cast, NullIf

from common.compiled_queries import CompiledQuery, Parameter
from common.fields import any_of
from integration.errors import OrderNotFound
from integration.models import InvoiceLink, Order, SearchCode, Seller, StatusLog, compact_document
from integration.models.order import compact_code

MOST_RESULTS = 10


@dataclass(frozen=True)
class TrackedOrder:
    """`status_log`: oldest entry first. Its first is written with the order, so that it is never empty."""

    tracking_code: str
    status_log: list[StatusLog]


def find(seller: Seller, *, value: str, by_document: bool, document: str = "") -> list[TrackedOrder]:
    """At most MOST_RESULTS orders of the seller, newest first.

    `value` is compared with the receiver's document if `by_document`, otherwise with every search code: first those
    that are equal, then those that are equal without regard to case, spaces, dots and dashes. An order must also have
    the receiver's document `document`, unless that is empty. Masks of documents are ignored.
    """
    if "\0" in value + document:
        return []  # PostgreSQL refuses NUL in a query, and no stored text holds it
    rows = _status_logs(seller.pk, value, by_document=by_document, document=document)
    found = [list(entries) for _key, entries in groupby(rows, key=lambda entry: entry.order_id)]
    return [TrackedOrder(entries[0].tracking_code, entries) for entries in found[:MOST_RESULTS]]


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


def _status_logs(seller_id: int, value: str, *, by_document: bool, document: str) -> list[Any]:
    """The entries, each with the `tracking_code` of its order."""
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
    return _with_code(SearchCode.objects.filter(seller=seller), value)


def by_document(seller: Any, document: Any) -> QuerySet[StatusLog]:
    orders = _newest(Order.objects.filter(seller=seller, receiver_document=document).order_by("-pk").values("pk"))
    return _status_logs_of(any_of("order", orders)).order_by("-order_id", "pk")


def by_both(seller: Any, value: Any, document: Any) -> QuerySet[StatusLog]:
    return _with_code(SearchCode.objects.filter(seller=seller, order__receiver_document=document), value)


def _with_code(codes: QuerySet[SearchCode], value: Any) -> QuerySet[StatusLog]:
    """The status logs of MOST_RESULTS orders with the code and of as many that have it in another form.

    `value` is an expression.
    """
    # A value of nothing but spaces, dots and dashes is compared as it is only.
    compact = NullIf(compact_code(Cast(value, TextField())), Value(""))
    same, alike = codes.filter(value=value), codes.alias(compact=compact_code("value")).filter(compact=compact)
    equal, similar = (_newest(found.order_by("-order_id").distinct().values("order_id")) for found in (same, alike))
    either: Func = Func(equal, similar, function="ARRAY_CAT", output_field=ArrayField(BigIntegerField()))
    rows = _status_logs_of(any_of("order", either)).annotate(is_equal=any_of("order", equal))
    return rows.order_by("-is_equal", "-order_id", "pk")


def _newest(orders: QuerySet[Any, Any]) -> ArraySubquery:
    return ArraySubquery(orders[:MOST_RESULTS])


def _status_logs_of(condition: Any) -> QuerySet[StatusLog]:
    shown = StatusLog.objects.only("order", "status", "company", "via_api", "created_at", "updated_at")
    return shown.filter(condition).annotate(tracking_code=F("order__tracking_code"))


_BY_CODE = CompiledQuery(lambda: by_code(Parameter("seller"), Parameter("value")))
_BY_DOCUMENT = CompiledQuery(lambda: by_document(Parameter("seller"), Parameter("document")))
_BY_BOTH = CompiledQuery(lambda: by_both(Parameter("seller"), Parameter("value"), Parameter("document")))
