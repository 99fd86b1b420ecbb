"""Filters and pagination of the panel's lists, and periods to choose from. Every look-up has an index."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import django_filters
from django import forms
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import F, Q, QuerySet
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from common import clock
from common.fields import Folded, any_of, folded
from common.pagination import InvalidCursor, Page, newest_first, newest_matching
from delivery.lifecycle import Status
from delivery.models import STATE_NAMES, Delivery, Stop, WebhookEvent, parse_id
from delivery.models.webhook import WebhookEventQuerySet
from integration import words
from integration.models import Invoice, InvoiceLink, InvoiceReference, Order, SearchCode, Seller, compact_document
from panel.templatetags.panel import status_name

_SEARCH = forms.TextInput({"type": "search"})
PER_PAGE = 50
# Rows that one page looks at for a part of a text, which no index finds.
_SCANNED = 5_000
# Rows of an export that are read at once, and how often.
_PER_PORTION = 500
_MOST_PORTIONS = 30
# Of calls whose account is known, and that are stored. 408, 414, 431 and 503 are answered before that, 429 is counted.
_REFUSING_STATUSES = (400, 401, 403, 404, 405, 409, 413, 415, 422, 500)
# How many of the newest rows are searched for parts of texts, which no index finds.
NEWEST = 10_000
_LONGEST_TEXT = 255
PERIODS = {
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "month": timedelta(days=30),
}
# Between two moments, which have fields of their own.
RANGE = "range"
CHOICES = [
    ("hour", _("Last hour")),
    ("day", _("Last 24 hours")),
    ("week", _("Last 7 days")),
    ("month", _("Last 30 days")),
    (RANGE, _("From … until …")),
]
# Without seconds, and in the form that browsers take.
MOMENT_INPUT = forms.DateTimeInput({"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")


class PeriodFilter(django_filters.FilterSet):
    """Rows of a period that ends now, or between two moments. `moment` is the name of their field."""

    moment = "created_at"
    period = django_filters.ChoiceFilter(
        label=_("Period"),
        choices=CHOICES,
        empty_label=_("Any time"),
        method="filter_period",
    )
    since = django_filters.DateTimeFilter(label=_("From"), widget=MOMENT_INPUT, method="filter_since")
    until = django_filters.DateTimeFilter(label=_("Until"), widget=MOMENT_INPUT, method="filter_until")

    def __init__(self, data: QueryDict, **options: Any) -> None:
        data = data.copy()
        if data.get("period") in PERIODS:  # what a browser still sends of another choice
            data["since"] = data["until"] = ""
        elif data.get("since") or data.get("until"):
            data["period"] = RANGE
        super().__init__(data, **options)
        for name in ("period", "since", "until"):  # the fields of the subclass come first
            self.filters[name] = self.filters.pop(name)

    def filter_period(self, queryset: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Rows since the beginning of the period; `range` leaves that to the two other filters."""
        return self.filter_since(queryset, name, clock.now() - PERIODS[value]) if value in PERIODS else queryset

    def filter_since(self, queryset: QuerySet[Any], _name: str, value: datetime) -> QuerySet[Any]:
        return queryset.filter(**{f"{self.moment}__gte": value})

    def filter_until(self, queryset: QuerySet[Any], _name: str, value: datetime) -> QuerySet[Any]:
        return queryset.filter(**{f"{self.moment}__lt": value})


def _of_delivery(queryset: QuerySet[Any], field: str, value: str) -> QuerySet[Any]:
    """Rows of the delivery with this deliveryId, or of those with this externalId; exact matches only."""
    key = parse_id(value.strip())
    if key:
        return queryset.filter(**{field: key})
    return queryset.filter(Stop.refers_to(field, external_id=value.strip()))


class DeliveryFilter(PeriodFilter):
    """`part` is text to look for in rows without an index; see `listed`. Set when the rows are filtered."""

    part = ""
    q = django_filters.CharFilter(label=_("Order, recipient or id"), method="filter_q", max_length=255, widget=_SEARCH)
    status = django_filters.ChoiceFilter(
        label=_("Status"), choices=[(s.value, status_name(s)) for s in Status], empty_label=_("All")
    )

    def filter_q(self, queryset: QuerySet[Delivery], _name: str, value: str) -> QuerySet[Delivery]:
        """A whole deliveryId or externalId by its index; if there is none, part of an externalId or a recipient."""
        whole = _of_delivery(queryset, "pk", value)
        if parse_id(value.strip()) or whole.exists():
            return whole
        self.part = value.strip()
        return queryset


class EventFilter(PeriodFilter):
    q = django_filters.CharFilter(label=_("Order or id of a delivery"), method="filter_q", widget=_SEARCH)
    state = django_filters.ChoiceFilter(
        label=_("Status"),
        choices=list(STATE_NAMES.items()),
        empty_label=_("All"),
        method="filter_state",
    )
    name = django_filters.ChoiceFilter(
        label=_("Event"), choices=[(s.value, s.value) for s in Status], empty_label=_("All")
    )

    def filter_q(self, queryset: QuerySet[WebhookEvent], _name: str, value: str) -> QuerySet[WebhookEvent]:
        return _of_delivery(queryset, "delivery", value)

    def filter_state(self, queryset: WebhookEventQuerySet, _name: str, value: str) -> WebhookEventQuerySet:
        return queryset.in_state(value)


class RefusedCallFilter(django_filters.FilterSet):
    """Of refused calls of either area."""

    status = django_filters.ChoiceFilter(
        label=_("Status"), choices=[(str(s), str(s)) for s in _REFUSING_STATUSES], empty_label=_("All")
    )
    code = django_filters.CharFilter(label=_("Code"), max_length=60)
    path = django_filters.CharFilter(label=_("Path contains"), lookup_expr="contains", max_length=255)


def listed(
    filter_class: type[django_filters.FilterSet],
    query: QueryDict,
    queryset: QuerySet[Any],
    *,
    moment: str = "created_at",
    without: Sequence[str] = (),
    **options: Any,
) -> dict[str, Any]:
    """What `panel/list.html` shows: `filters`, `is_filtered`, `rows`, and `older`, the cursor of the next page or None.

    `searched_until` is the last row that was looked at for a part of a text, if there are older ones. The rows are read
    without related objects and without the columns `without`. Invalid filters select nothing; an invalid cursor counts
    as none. `options` are the filter's.
    """
    filters = filter_class(query, queryset=queryset, **options)
    page, searched_until = _page(filters, query.get("before", ""), PER_PAGE, moment=moment, without=without)
    return {
        "filters": filters.form,
        "is_filtered": any(query.get(name) for name in filter_class.base_filters),
        "rows": page.rows,
        "older": page.next_cursor,
        "searched_until": searched_until,
    }


def all_rows(
    filter_class: type[django_filters.FilterSet],
    query: QueryDict,
    queryset: QuerySet[Any],
    *,
    moment: str = "created_at",
    without: Sequence[str] = (),
    **options: Any,
) -> Iterator[tuple[list[Any], Any]]:
    """The rows that `listed` shows on all pages, in portions, at most _MOST_PORTIONS of them.

    With the last portion comes the last row that was looked at, if older ones were left out; None otherwise.
    """
    filters, cursor = filter_class(query, queryset=queryset, **options), ""
    for number in range(1, _MOST_PORTIONS + 1):
        page, searched_until = _page(filters, cursor, _PER_PORTION, moment=moment, without=without)
        yield page.rows, searched_until if number == _MOST_PORTIONS else None
        cursor = page.next_cursor or ""
        if not cursor:
            return


def _page(filters: django_filters.FilterSet, cursor: str, limit: int, **options: Any) -> tuple[Page[Any], Any]:
    """A page, and what `listed` calls `searched_until`. `options` are those of `newest_first`."""
    if not filters.is_valid():
        return Page([], None), None
    queryset, part = filters.qs, getattr(filters, "part", "")
    scope = ["panel", queryset.model._meta.label]
    try:
        if not part:
            return newest_first(queryset, limit=limit, cursor=cursor, scope=scope, **options), None
        return newest_matching(
            queryset,
            lambda keys: queryset.model._default_manager.filter(Stop.of_some_with(keys, text=part)),
            limit=limit,
            scanned=_SCANNED,
            cursor=cursor,
            scope=scope,
        )
    except InvalidCursor:
        return _page(filters, "", limit, **options)


def find_orders(orders: QuerySet[Order], seller: Seller, text: str) -> QuerySet[Order]:
    """Those of a seller's orders that have `text` as a search code, or else as the receiver's document.

    If there are none, those of the newest whose `orderId`, tracking code or receiver's name contains it, in any case
    and with or without accents.
    """
    text = text.strip()
    codes = SearchCode.objects.filter(seller=seller, value=text)
    if codes.exists():
        return orders.filter(any_of("pk", ArraySubquery(codes.order_by().values("order_id"))))
    document = compact_document(text)
    if document and Order.objects.filter(seller=seller, receiver_document=document).exists():
        return orders.filter(receiver_document=document)
    contains = Q(receiver_plain__contains=folded(text)) | Q(code__icontains=text) | Q(tracking_code__icontains=text)
    newest: QuerySet[Order] = _among_newest(orders, "created_at")
    return newest.alias(receiver_plain=Folded("receiver_name")).filter(contains)


def _among_newest(rows: QuerySet[Any], moment: str) -> QuerySet[Any]:
    newest = rows.order_by(F(moment).desc(), F("pk").desc()).values("pk")[:NEWEST]
    return rows.filter(any_of("pk", ArraySubquery(newest)))


class _OfSeller(PeriodFilter):
    """Filters that look something up among the rows of one seller."""

    def __init__(self, *args: Any, seller: Seller, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._seller = seller


class OrderFilter(_OfSeller):
    q = django_filters.CharFilter(
        label=_("Order, receiver, tracking code"),
        method="filter_q",
        max_length=_LONGEST_TEXT,
        widget=forms.TextInput({"type": "search", "placeholder": _("Also part of it, or a document")}),
    )
    status = django_filters.ChoiceFilter(label=_("Status"), choices=list(words.STATUSES.items()), empty_label=_("All"))

    def filter_q(self, orders: QuerySet[Order], _name: str, value: str) -> QuerySet[Order]:
        return find_orders(orders, self._seller, value)


class InvoiceFilter(_OfSeller):
    moment = "received_at"
    q = django_filters.CharFilter(label=_("Access key, number or order"), method="filter_q", max_length=_LONGEST_TEXT)
    linked = django_filters.ChoiceFilter(
        label=_("Status"),
        choices=[("yes", _("Linked")), ("no", _("Not linked"))],
        empty_label=_("All"),
        method="filter_linked",
    )

    def filter_q(self, invoices: QuerySet[Invoice], _name: str, value: str) -> QuerySet[Invoice]:
        """Whole values, each of which an index finds."""
        text = value.strip()
        own = Invoice.objects.filter(seller=self._seller)
        key = "".join(text.split())
        found = own.filter(access_key=key).values("pk").order_by()
        found = found.union(
            own.filter(number=text).values("pk").order_by(),
            InvoiceReference.objects.filter(seller=self._seller, value=text).values("invoice").order_by(),
            InvoiceLink.objects.filter(order__seller=self._seller, order__code=text).values("invoice").order_by(),
        )
        return invoices.filter(any_of("pk", ArraySubquery(found)))

    def filter_linked(self, invoices: QuerySet[Invoice], _name: str, value: str) -> QuerySet[Invoice]:
        return invoices.filter(is_linked=value == "yes")
