"""Finding orders of a seller."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.fields import ArrayField
from django.db.models import BigIntegerField, Exists, F, Func, OuterRef, Prefetch, QuerySet

from common.fields import any_of, spellings
from common.postgresql.compiled_queries import CompiledQuery, Parameter
from integration.errors import OrderNotFound
from integration.models import Invoice, InvoiceLink, Order, SearchCode, Seller, StatusLog, compact_document
from integration.models.order import SearchCodeQuerySet, only_alike

MOST_RESULTS = 10


@dataclass(frozen=True)
class TrackedOrder:
    """`status_log`: oldest entry first. Its first is written with the order, so that it is never empty."""

    tracking_code: str
    status_log: list[StatusLog]


def find(seller: Seller, environment: str, *, value: str, by_document: bool, document: str = "") -> list[TrackedOrder]:
    """At most MOST_RESULTS orders of the seller in the environment, newest first.

    `value` is compared with the receiver's document if `by_document`, otherwise with every search code: first those
    that are equal, then those that are equal without regard to case, spaces, dots and dashes. An order must also have
    the receiver's document `document`, unless that is empty. Masks of documents are ignored.
    """
    if "\0" in value + document:
        return []  # PostgreSQL refuses NUL in a query, and no stored text holds it
    rows = _status_logs(
        {"seller": seller.pk, "environment": environment}, value, by_document=by_document, document=document
    )
    found = [list(entries) for _key, entries in groupby(rows, key=lambda entry: entry.order_id)]
    return [TrackedOrder(entries[0].tracking_code, entries) for entries in found[:MOST_RESULTS]]


def get(seller: Seller, environment: str, *, code: str, details: bool = False) -> Order:
    """The seller's order with this `orderId`; if there is none, the only one whose `orderId` is alike.

    `details`: with its company, carrier, status log and linked invoices, which are without their files. Raises
    OrderNotFound.
    """
    return _found(seller, environment, [code], _with_details() if details else Order.objects.all())[0]


def _with_details() -> QuerySet[Order]:
    links = InvoiceLink.objects.select_related("invoice").defer("invoice__raw")
    orders = Order.objects.select_related("company", "carrier")
    return orders.prefetch_related("status_log", Prefetch("invoice_links", links))


def several(seller: Seller, environment: str, *, codes: Sequence[str]) -> list[Order]:
    """The seller's orders with these `orderId`s, as `get` finds them, each once, with what their labels say.

    Raises OrderNotFound, which names the first one that there is not.
    """
    found = _found(seller, environment, codes, with_labels(Order.objects.all()))
    return [*{order.pk: order for order in found}.values()]


def _found(seller: Seller, environment: str, codes: Sequence[str], orders: QuerySet[Order]) -> list[Order]:
    """The order of each code. Two statements more if one has no such code. Raises OrderNotFound."""
    if any("\0" in code for code in codes):
        raise OrderNotFound  # PostgreSQL refuses NUL in a query
    own = orders.filter(seller=seller, environment=environment).order_by()
    # Of one code not by IN, nor sorted: PostgreSQL might then read sorted orders until one has the code.
    wanted = [spelling for code in codes for spelling in spellings(code)]
    exact = own.filter(code__in=wanted) if len(wanted) > 1 else own.filter(code=wanted[0])
    by_code = {order.code: order for order in exact}
    # The code as it was sent comes last, so that it goes before its other spellings.
    found = {code: by_code[each] for code in codes for each in reversed(spellings(code)) if each in by_code}
    if missing := [code for code in codes if code not in found]:
        keys = only_alike(seller.pk, environment, missing)
        alike = own.in_bulk(keys.values()) if keys else {}
        found |= {code: alike[key] for code, key in keys.items()}
    missing = [code for code in codes if code not in found]
    if missing:
        raise OrderNotFound if len(codes) == 1 else OrderNotFound(f"{OrderNotFound.message}: '{missing[0]}'")
    return [found[code] for code in codes]


def with_labels(orders: QuerySet[Order]) -> QuerySet[Order]:
    """The orders with what their labels say."""
    links = InvoiceLink.objects.select_related("invoice").defer("invoice__raw")
    own = Invoice.objects.of(OuterRef("seller"), OuterRef("environment")).filter(access_key=OuterRef("invoice_key"))
    found = orders.annotate(names_unprintable=Exists(own.exclude(Invoice.PRINTABLE)))
    return found.select_related("company__seller", "carrier").prefetch_related(Prefetch("invoice_links", links))


def _status_logs(owner: dict[str, Any], value: str, *, by_document: bool, document: str) -> list[Any]:
    """The entries, each with the `tracking_code` of its order."""
    if not by_document and not document:
        return _BY_CODE.all(**owner, value=value)
    wanted = {compact_document(text) for text in ([value] if by_document else []) + ([document] if document else [])}
    compact = wanted.pop()
    if wanted or not compact:
        return []  # two documents, or one without a digit
    if by_document:
        return _BY_DOCUMENT.all(**owner, document=compact)
    return _BY_BOTH.all(**owner, value=value, document=compact)


def by_code(seller: Any, environment: Any, value: Any) -> QuerySet[StatusLog]:
    return _with_code(SearchCode.objects.filter(seller=seller, environment=environment), value)


def by_document(seller: Any, environment: Any, document: Any) -> QuerySet[StatusLog]:
    received = Order.objects.of(seller, environment).filter(receiver_document=document)
    orders = _newest(received.order_by("-pk").values("pk"))
    return _status_logs_of(any_of("order", orders)).order_by("-order_id", "pk")


def by_both(seller: Any, environment: Any, value: Any, document: Any) -> QuerySet[StatusLog]:
    codes = SearchCode.objects.filter(seller=seller, environment=environment, order__receiver_document=document)
    return _with_code(codes, value)


def _with_code(codes: SearchCodeQuerySet, value: Any) -> QuerySet[StatusLog]:
    """The status logs of MOST_RESULTS orders with the code and of as many that have it in another form.

    `value` is an expression.
    """
    # A value of nothing but spaces, dots and dashes is compared as it is only.
    same, alike = codes.filter(value=value), codes.alike(value)
    equal, similar = (_newest(found.order_by("-order_id").distinct().values("order_id")) for found in (same, alike))
    either: Func = Func(equal, similar, function="ARRAY_CAT", output_field=ArrayField(BigIntegerField()))
    rows = _status_logs_of(any_of("order", either)).annotate(is_equal=any_of("order", equal))
    return rows.order_by("-is_equal", "-order_id", "pk")


def _newest(orders: QuerySet[Any, Any]) -> ArraySubquery:
    return ArraySubquery(orders[:MOST_RESULTS])


def _status_logs_of(condition: Any) -> QuerySet[StatusLog]:
    shown = StatusLog.objects.only("order", "status", "company", "via_api", "created_at", "updated_at")
    return shown.filter(condition).annotate(tracking_code=F("order__tracking_code"))


def _compiled(query: Callable[..., QuerySet[StatusLog]], *names: str) -> "CompiledQuery[StatusLog]":
    return CompiledQuery(lambda: query(*(Parameter(name) for name in ("seller", "environment", *names))))


_BY_CODE = _compiled(by_code, "value")
_BY_DOCUMENT = _compiled(by_document, "document")
_BY_BOTH = _compiled(by_both, "value", "document")
