"""Finding orders of a seller."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.fields import ArrayField
from django.db.models import BigIntegerField, F, Func, QuerySet

from common.fields import any_of
from common.postgresql.compiled_queries import CompiledQuery, Parameter
from integration.models import Order, SearchCode, Seller, StatusLog, compact_document
from integration.models.order import SearchCodeQuerySet

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
