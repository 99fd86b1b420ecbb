"""Filters, order and pagination of the panel's lists, and periods to choose from. Every look-up has an index."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, ClassVar

import django_filters
from django import forms
from django.contrib.postgres.expressions import ArraySubquery
from django.core.paginator import Paginator
from django.db.models import DateTimeField, F, Q, QuerySet, Value
from django.db.models.functions import Coalesce
from django.db.models.lookups import Contains
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from common import clock
from common.actors import actor_name
from common.api.pagination import InvalidCursor, Page, page_in_order, page_matching
from common.brazil import zones
from common.brazil.formats import moment
from common.brazil.phones import ends_with
from common.fields import Folded, any_of, folded, spellings
from common.shops.models import DraftStatus
from delivery.lifecycle import RouteStatus, Status
from delivery.models import STATE_NAMES, AuditAction, AuditEntry, Delivery, Stop, parse_id
from delivery.models import delivery as deliveries
from delivery.models.delivery import DeliveryQuerySet
from delivery.models.driver import DriverQuerySet
from delivery.words import ROUTE_STATUSES, STATUSES
from integration import words
from integration.invoices.actions import compact_key
from integration.invoices.models import Invoice, InvoiceLink, InvoiceReference
from integration.models import Order, SearchCode, compact_document
from integration.models.order import compact_code, compact_value

_SEARCH = forms.TextInput({"type": "search"})
PER_PAGE = 50
# Rows that one page looks at for a part of a text, which no index finds.
_SCANNED = 5_000
# Rows of an export that are read at once, and how often.
_PER_PORTION = 500
_MOST_PORTIONS = 30
# Of calls whose account is known, and that are stored. 408, 414, 431 and 503 are answered before that, 429 is counted.
_REFUSING_STATUSES = (400, 401, 403, 404, 405, 409, 413, 415, 422, 500)
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
# How many of the newest rows are searched for parts of texts, which no index finds.
NEWEST = 10_000
_LONGEST_TEXT = 255
_LONGEST_NUMBER = 6  # digits of a number of rows
# Beside the statuses: deliveries that are not closed, those of them whose next step is overdue, and those that were
# cancelled or that nobody took.
UNDER_WAY, LATE, CALLED_OFF = "under-way", "late", "called-off"
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


class ListFilter(django_filters.FilterSet):
    """Filters of a list, and its order.

    `orders` has the orders to choose from, each as one or more fields separated by commas, with a minus in front for
    descending, and its name. The first one is the default. `computed`: those of them by what changes with time, whose
    pages begin at a number of rows; for lists that are short.
    """

    computed: ClassVar[frozenset[str]] = frozenset()
    orders: ClassVar[dict[str, Any]] = {"-created_at": _("Newest first"), "created_at": _("Oldest first")}
    sort = django_filters.ChoiceFilter(label=_("Sort by"), method="leave_as_it_is")

    def __init__(self, data: QueryDict, **options: Any) -> None:
        (default, first), *others = self.orders.items()
        if data.get("sort") == default:  # of a list with another default, whose filters have been changed
            data = data.copy()
            del data["sort"]
        super().__init__(data, **options)
        self.filters["sort"] = sort = self.filters.pop("sort")  # the last one
        sort.extra |= {"choices": others, "empty_label": first}

    def leave_as_it_is(self, queryset: QuerySet[Any], _name: str, _value: str) -> QuerySet[Any]:
        """The rows are sorted when a page of them is read."""
        return queryset

    @property
    def order(self) -> str:
        return getattr(self.form, "cleaned_data", {}).get("sort") or next(iter(self.orders))

    @property
    def used(self) -> "list[UsedFilter]":
        """The filters that were sent and are valid."""
        values = self.form.cleaned_data if self.is_valid() else {}
        return [
            UsedFilter(name, field.label, _in_words(field, values[name]))
            for name, field in self.form.fields.items()
            if name != "sort" and values.get(name) and values[name] != RANGE
        ]


@dataclass(frozen=True)
class UsedFilter:
    """A filter and its value, in the reader's words."""

    name: str
    label: Any
    value: Any


def _in_words(field: forms.Field, value: Any) -> Any:
    if isinstance(value, datetime):
        return moment(value)
    return dict(getattr(field, "choices", [])).get(value, value)


class PeriodFilter(ListFilter):
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

    def __init__(self, data: QueryDict, *, zone: tzinfo | None = None, **options: Any) -> None:
        """`zone`: that of the page, in which moments are typed. None: that of the installation."""
        data = data.copy()
        self._zone = zone
        if data.get("period") in PERIODS:  # what a browser still sends of another choice
            data["since"] = data["until"] = ""
        elif data.get("since") or data.get("until"):
            data["period"] = RANGE
        super().__init__(data, **options)
        for name in ("period", "since", "until", "sort"):  # the fields of the subclass come first
            self.filters[name] = self.filters.pop(name)

    @property
    def form(self) -> Any:
        """The form, whose moments have been read by the clocks that it names."""
        form = super().form
        with timezone.override(self._zone):
            form.fields["since"].help_text = form.fields["until"].help_text = zones.by_clocks()
            form.errors  # noqa: B018  # reads it, once
        return form

    @property
    def used(self) -> "list[UsedFilter]":
        with timezone.override(self._zone):
            return super().used

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
    orders = {
        **ListFilter.orders,
        "-shipping_value": _("Highest price first"),
        "shipping_value": _("Lowest price first"),
    }
    q = django_filters.CharFilter(label=_("Order, recipient or id"), method="filter_q", max_length=255, widget=_SEARCH)
    status = django_filters.ChoiceFilter(
        label=_("Status"),
        choices=[
            (RouteStatus.SCHEDULED.value, ROUTE_STATUSES[RouteStatus.SCHEDULED]),
            *((s.value, STATUSES[s]) for s in Status),
            (CALLED_OFF, pgettext_lazy("delivery", "Cancelled or expired")),
            (UNDER_WAY, _("Under way")),
            (LATE, pgettext_lazy("deliveries", "Late")),
        ],
        empty_label=_("All"),
        method="filter_status",
    )

    def filter_status(self, queryset: DeliveryQuerySet, _name: str, value: str) -> QuerySet[Delivery]:
        if value == LATE:
            return queryset.overdue(at=clock.now())
        if value == UNDER_WAY:
            return queryset.under_way()
        if value in (RouteStatus.SCHEDULED, Status.PENDING):  # pending ones are scheduled, or wait for a driver
            waits = queryset.filter(status=Status.PENDING)
            is_scheduled = Q(route_status=RouteStatus.SCHEDULED)
            return waits.filter(is_scheduled if value == RouteStatus.SCHEDULED else ~is_scheduled)
        if value in (CALLED_OFF, Status.FAILED):
            return queryset.filter(deliveries.CALLED_OFF if value == CALLED_OFF else deliveries.NOT_DELIVERED)
        return queryset.filter(deliveries.DELIVERED if value == Status.DELIVERED else Q(status=value))

    def filter_q(self, queryset: QuerySet[Delivery], _name: str, value: str) -> QuerySet[Delivery]:
        """A whole deliveryId or externalId by its index; if there is none, part of an externalId or a recipient."""
        whole = _of_delivery(queryset, "pk", value)
        if parse_id(value.strip()) or whole.exists():
            return whole
        self.part = value.strip()
        return queryset


class LateDeliveryFilter(DeliveryFilter):
    """Of deliveries that are late, those first that have been for longest."""

    computed = frozenset({"due_at"})
    orders = {"due_at": _("Most late first"), **DeliveryFilter.orders}


def delivery_filter(query: QueryDict) -> type[DeliveryFilter]:
    """The filter of a list of deliveries."""
    return LateDeliveryFilter if query.get("status") == LATE else DeliveryFilter


class _OfEvents(PeriodFilter):
    """Filters of events. A subclass has `q`, which finds those of a subject and comes first."""

    filters: dict[str, django_filters.Filter]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.filters = {"q": self.filters.pop("q"), **self.filters}

    state = django_filters.ChoiceFilter(
        label=_("Status"),
        choices=list(STATE_NAMES.items()),
        empty_label=_("All"),
        method="filter_state",
    )

    def filter_state(self, queryset: Any, _name: str, value: str) -> Any:  # an EventQuerySet
        return queryset.in_state(value)


class EventFilter(_OfEvents):
    q = django_filters.CharFilter(label=_("Order or id of a delivery"), method="filter_q", widget=_SEARCH)
    name = django_filters.ChoiceFilter(
        label=_("Event"), choices=[(s.value, s.value) for s in Status], empty_label=_("All")
    )

    def filter_q(self, queryset: QuerySet[Any], _name: str, value: str) -> QuerySet[Any]:
        return _of_delivery(queryset, "delivery", value)


class DriverFilter(ListFilter):
    """`due_at`: when the next step of the route that the driver holds is due, NULL without a route."""

    orders = {
        "due_at,-on_duty,name,pk": _("Most urgent first"),
        "-on_duty,name,pk": _("On duty first"),
        "name,pk": _("Name, A to Z"),
        "-name,-pk": _("Name, Z to A"),
    }
    q = django_filters.CharFilter(label=_("Name or phone"), method="filter_q", max_length=100, widget=_SEARCH)
    on_duty = django_filters.ChoiceFilter(
        label=_("Status"), choices=[("True", _("On duty")), ("False", _("Off duty"))], empty_label=_("All")
    )

    def filter_q(self, drivers: DriverQuerySet, _name: str, value: str) -> DriverQuerySet:
        return drivers.matching(value)


class HomeFilter(ListFilter):
    """Of accounts and sellers. The view sorts them by numbers that no column has."""

    orders = {
        "name": _("Name, A to Z"),
        "-name": _("Name, Z to A"),
        "-today": _("Most requested today first"),
        "-under_way": _("Most under way first"),
        "-late": _("Most late ones first"),
        "-failed": _("Most not delivered first"),
    }
    q = django_filters.CharFilter(label=_("Name"), field_name="name__composed", lookup_expr="icontains", widget=_SEARCH)


class TokenFilter(ListFilter):
    """`used_at` is the last use, long ago without one."""

    orders = {
        "-created_at,-pk": _("Newest first"),
        "created_at,pk": _("Oldest first"),
        "name,pk": _("Name, A to Z"),
        "-name,-pk": _("Name, Z to A"),
        "-used_at,pk": _("Last used first"),
        "used_at,pk": _("Longest unused first"),
    }


class PeopleFilter(ListFilter):
    """`called` is the name that the list shows, `seen_at` the last log-in, long ago without one."""

    orders = {
        "-role,called,pk": _("Owners first"),
        "called,pk": _("Name, A to Z"),
        "-called,-pk": _("Name, Z to A"),
        "-seen_at,pk": _("Latest log-in first"),
        "seen_at,pk": _("Oldest log-in first"),
    }


class DraftFilter(ListFilter):
    """Of orders of shops."""

    status = django_filters.ChoiceFilter(label=_("Status"), choices=DraftStatus.choices, empty_label=_("All"))


class PickupPointFilter(ListFilter):
    orders = {
        "-awaits_approval,-active,name,pk": _("Waiting for approval first"),
        "name,pk": _("Name, A to Z"),
        "-name,-pk": _("Name, Z to A"),
    }


class ActivityFilter(PeriodFilter):
    moment = "at"
    orders = {"-at": _("Newest first"), "at": _("Oldest first")}
    by = django_filters.ChoiceFilter(label=_("Person"), empty_label=_("Anybody"))
    action = django_filters.ChoiceFilter(label=_("Action"), choices=AuditAction.choices, empty_label=_("Anything"))

    def __init__(self, data: QueryDict, *, queryset: QuerySet[AuditEntry]) -> None:
        super().__init__(data, queryset=queryset)
        # Those who have done something lately: no index lists all of them.
        names = _among_newest(queryset, "at").order_by("by").values_list("by", flat=True).distinct()
        self.filters["by"].extra["choices"] = [(name, actor_name(name)) for name in names]


class RefusedCallFilter(ListFilter):
    """Of refused calls of either area."""

    status = django_filters.ChoiceFilter(
        label=_("Status"), choices=[(str(s), str(s)) for s in _REFUSING_STATUSES], empty_label=_("All")
    )
    code = django_filters.CharFilter(label=_("Code"), max_length=60)
    path = django_filters.CharFilter(label=_("Path contains"), lookup_expr="contains", max_length=255)


def listed(
    filter_class: type[ListFilter],
    query: QueryDict,
    queryset: QuerySet[Any],
    *,
    without: Sequence[str] = (),
    annotations: Mapping[str, Any] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """What `panel/list.html` shows: `rows`, `older`, the cursor of the next page or None, and what `shown` has.

    `searched_until` is the last row that was looked at for a part of a text, if there are further ones. The rows are
    read with `annotations`, without related objects and without the columns `without`. Each order is that of one
    column, which is never NULL and never changes. Invalid filters select nothing; an invalid cursor counts as none.
    `options`: of the filter.
    """
    filters = filter_class(query, queryset=queryset, **options)
    page, searched_until = _page(filters, query.get("before", ""), PER_PAGE, without=without, annotations=annotations)
    return {**shown(filters), "rows": page.rows, "older": page.next_cursor, "searched_until": searched_until}


def numbered(filter_class: type[ListFilter], query: QueryDict, queryset: QuerySet[Any]) -> dict[str, Any]:
    """As `listed`, of few rows that may change, such as drivers: `rows` is a page with a number."""
    filters = filter_class(query, queryset=queryset)
    found = filters.qs.order_by(*filters.order.split(",")) if filters.is_valid() else queryset.none()
    return {**shown(filters), "rows": Paginator(found, PER_PAGE).get_page(query.get("page"))}


def shown(filters: ListFilter) -> dict[str, Any]:
    """The form `filters`, whether it `is_filtered` and by what, and the orders to choose from."""
    return {
        "filters": filters.form,
        "is_filtered": any(filters.data.get(name) for name in filters.base_filters if name != "sort"),
        "used": filters.used,
        "order": filters.order,
        "orders": filters.orders,
    }


def or_long_ago(moment: str) -> Coalesce:
    """A moment by which rows are sorted, that before all others where there is none."""
    return Coalesce(moment, Value(_LONG_AGO), output_field=DateTimeField())


def all_rows(
    filter_class: type[ListFilter],
    query: QueryDict,
    queryset: QuerySet[Any],
    *,
    without: Sequence[str] = (),
    **options: Any,
) -> Iterator[tuple[list[Any], Any]]:
    """The rows that `listed` shows on all pages, in portions, at most _MOST_PORTIONS of them.

    With the last portion comes the last row that was looked at, if older ones were left out; None otherwise.
    """
    filters, cursor = filter_class(query, queryset=queryset, **options), ""
    for number in range(1, _MOST_PORTIONS + 1):
        page, searched_until = _page(filters, cursor, _PER_PORTION, without=without)
        yield page.rows, searched_until if number == _MOST_PORTIONS else None
        cursor = page.next_cursor or ""
        if not cursor:
            return


def _page(
    filters: ListFilter,
    cursor: str,
    limit: int,
    *,
    without: Sequence[str],
    annotations: Mapping[str, Any] | None = None,
) -> tuple[Page[Any], Any]:
    """A page, and what `listed` calls `searched_until`."""
    if not filters.is_valid():
        return Page([], None), None
    queryset, part, order = filters.qs, getattr(filters, "part", ""), filters.order
    if order in filters.computed:
        return _page_at(queryset, cursor, limit, order=order, part=part), None
    scope = ["panel", queryset.model._meta.label, order]
    try:
        if not part:
            page = page_in_order(
                queryset,
                limit=limit,
                cursor=cursor,
                scope=scope,
                order=order,
                without=without,
                annotations=annotations,
            )
            return page, None
        rows = queryset.model._default_manager.annotate(**annotations or {})
        return page_matching(
            queryset,
            lambda keys: rows.filter(Stop.of_some_with(keys, text=part)),
            limit=limit,
            scanned=_SCANNED,
            cursor=cursor,
            scope=scope,
            order=order,
        )
    except InvalidCursor:
        return _page(filters, "", limit, without=without, annotations=annotations)


def _page_at(queryset: QuerySet[Any], cursor: str, limit: int, *, order: str, part: str) -> Page[Any]:
    """A page that begins after the number of rows that the cursor is."""
    start = int(cursor) if cursor.isdecimal() and len(cursor) <= _LONGEST_NUMBER else 0
    if part:
        queryset = queryset.filter(Stop.of_some_with(ArraySubquery(queryset.order_by().values("pk")), text=part))
    rows = list(queryset.order_by(order, "pk")[start : start + limit + 1])
    return Page(rows[:limit], str(start + limit) if len(rows) > limit else None)


def find_orders(orders: QuerySet[Order], scope: dict[str, Any], text: str) -> QuerySet[Order]:
    """Those of a seller's orders in an environment that have `text` as a search code, or as the receiver's document.

    If there are none, those of the newest whose `orderId`, tracking code or receiver's name contains it, in any case
    and with or without accents, or whose receiver's phone ends with it.
    """
    text = text.strip()
    codes = SearchCode.objects.filter(**scope).named(text)
    if codes.exists():
        return orders.filter(any_of("pk", ArraySubquery(codes.order_by().values("order_id"))))
    document = compact_document(text)
    if document and Order.objects.filter(**scope, receiver_document=document).exists():
        return orders.filter(receiver_document=document)
    contains = has_receiver(text) | Q(code__composed__icontains=text) | Q(tracking_code__composed__icontains=text)
    return _among_newest(orders, "created_at").filter(contains)


def has_receiver(text: str) -> Q:
    """The condition that an order is for a receiver whose name contains this, or whose phone ends with it.

    Case and accents do not matter. No index serves it, so the rows are to be few.
    """
    is_named = Q(Contains(Folded("receiver_name"), folded(text)))
    return is_named | ends_with("receiver__phone", text) | ends_with("receiver__cellphone", text)


def _among_newest(rows: QuerySet[Any], moment: str) -> QuerySet[Any]:
    newest = rows.order_by(F(moment).desc(), F("pk").desc()).values("pk")[:NEWEST]
    return rows.filter(any_of("pk", ArraySubquery(newest)))


class _OfSeller(PeriodFilter):
    """Filters that look something up among the rows of `scope`: of one seller and environment."""

    def __init__(self, *args: Any, scope: dict[str, Any], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._scope = scope


class OrderFilter(_OfSeller):
    orders = {**ListFilter.orders, "-cost": _("Highest value first"), "cost": _("Lowest value first")}
    q = django_filters.CharFilter(
        label=_("Order, receiver, tracking code"),
        method="filter_q",
        max_length=_LONGEST_TEXT,
        widget=forms.TextInput({"type": "search", "placeholder": _("Also part of it, or a document")}),
    )
    status = django_filters.ChoiceFilter(label=_("Status"), choices=list(words.STATUSES.items()), empty_label=_("All"))

    def filter_q(self, orders: QuerySet[Order], _name: str, value: str) -> QuerySet[Order]:
        return find_orders(orders, self._scope, value)


class InvoiceFilter(_OfSeller):
    moment = "received_at"
    orders = {"-received_at": _("Newest first"), "received_at": _("Oldest first")}
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
        own = Invoice.objects.filter(**self._scope)
        named = SearchCode.objects.filter(**self._scope, kind=SearchCode.Kind.ORDER).named(text).order_by()
        key = compact_key(text)
        found = own.filter(access_key=key).values("pk").order_by()
        found = found.union(
            own.filter(number=text).values("pk").order_by(),
            InvoiceReference.objects.filter(seller=self._scope["seller"], value__in=spellings(text))
            .values("invoice")
            .order_by(),
            InvoiceReference.objects.alias(compact=compact_code("value"))
            .filter(seller=self._scope["seller"], compact=compact_value(Value(text)))
            .values("invoice")
            .order_by(),
            InvoiceLink.objects.filter(order__in=named.values("order")).values("invoice").order_by(),
        )
        return invoices.filter(any_of("pk", ArraySubquery(found)))

    def filter_linked(self, invoices: QuerySet[Invoice], _name: str, value: str) -> QuerySet[Invoice]:
        return invoices.filter(is_linked=value == "yes")


class OrderEventFilter(_OfEvents, _OfSeller):
    q = django_filters.CharFilter(
        label=_("Order or tracking code"), method="filter_q", max_length=_LONGEST_TEXT, widget=_SEARCH
    )
    name = django_filters.ChoiceFilter(label=_("Event"), choices=list(words.STATUSES.items()), empty_label=_("All"))

    def filter_q(self, events: QuerySet[Any], _name: str, value: str) -> QuerySet[Any]:
        """Whole codes, which an index finds."""
        codes = SearchCode.objects.filter(**self._scope).named(value.strip())
        return events.filter(any_of("order", ArraySubquery(codes.order_by().values("order_id"))))
