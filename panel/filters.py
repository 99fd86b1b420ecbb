"""Filters and pagination of the panel's lists. Every look-up has an index."""

from typing import Any

import django_filters
from django import forms
from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from common.pagination import InvalidCursor, Page, newest_first
from delivery.lifecycle import Status
from delivery.models import Delivery, EventState, Stop, WebhookEvent, parse_id
from panel.templatetags.panel import status_name

_MOMENT = forms.DateTimeInput({"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")
PER_PAGE = 50
# Of calls whose account is known, and that are stored. 408, 414, 431 and 503 are answered before that, 429 is counted.
_REFUSING_STATUSES = (400, 401, 403, 404, 405, 409, 413, 415, 422, 500)


def _of_delivery(queryset: QuerySet[Any], field: str, value: str) -> QuerySet[Any]:
    """Rows of the delivery with this deliveryId, or of those with this externalId; exact matches only."""
    key = parse_id(value.strip())
    if key:
        return queryset.filter(**{field: key})
    return queryset.filter(Stop.refers_to(field, external_id=value.strip()))


class DeliveryFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(label=_("deliveryId or externalId"), method="filter_q")
    status = django_filters.ChoiceFilter(
        label=_("Status"), choices=[(s.value, status_name(s)) for s in Status], empty_label=_("All")
    )
    since = django_filters.DateTimeFilter("created_at", "gte", label=_("From"), widget=_MOMENT)
    until = django_filters.DateTimeFilter("created_at", "lt", label=_("Until"), widget=_MOMENT)

    class Meta:
        model = Delivery
        fields: list[str] = []

    def filter_q(self, queryset: QuerySet[Delivery], _name: str, value: str) -> QuerySet[Delivery]:
        return _of_delivery(queryset, "pk", value)


class EventFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(label=_("deliveryId or externalId"), method="filter_q")
    state = django_filters.ChoiceFilter(
        label=_("State"),
        choices=[(s.value, status_name(s)) for s in EventState],
        empty_label=_("All"),
        method="filter_state",
    )
    name = django_filters.ChoiceFilter(
        label=_("Event"), choices=[(s.value, s.value) for s in Status], empty_label=_("All")
    )
    since = django_filters.DateTimeFilter("created_at", "gte", label=_("From"), widget=_MOMENT)
    until = django_filters.DateTimeFilter("created_at", "lt", label=_("Until"), widget=_MOMENT)

    class Meta:
        model = WebhookEvent
        fields: list[str] = []

    def filter_q(self, queryset: QuerySet[WebhookEvent], _name: str, value: str) -> QuerySet[WebhookEvent]:
        return _of_delivery(queryset, "delivery", value)

    def filter_state(self, queryset: QuerySet[WebhookEvent], _name: str, value: str) -> QuerySet[WebhookEvent]:
        return queryset.filter(WebhookEvent.in_state(value))


class RefusedCallFilter(django_filters.FilterSet):
    """Of refused calls of either area."""

    status = django_filters.ChoiceFilter(
        label=_("Status"), choices=[(str(s), str(s)) for s in _REFUSING_STATUSES], empty_label=_("All")
    )
    code = django_filters.CharFilter(label=_("Code"), max_length=60)
    path = django_filters.CharFilter(label=_("Path contains"), lookup_expr="contains", max_length=255)


def listed(filter_class: type[django_filters.FilterSet], query: QueryDict, queryset: QuerySet[Any]) -> dict[str, Any]:
    """What `panel/list.html` shows: `filters`, `is_filtered`, `rows`, and `older`, the cursor of the next page or None.

    The rows are read without related objects. Invalid filters select nothing; an invalid cursor counts as none.
    """
    filters = filter_class(query, queryset=queryset)
    page = _page(filters.qs, query.get("before", "")) if filters.is_valid() else Page([], None)
    return {
        "filters": filters.form,
        "is_filtered": any(query.get(name) for name in filter_class.base_filters),
        "rows": page.rows,
        "older": page.next_cursor,
    }


def _page(queryset: QuerySet[Any], cursor: str) -> Page[Any]:
    scope = ["panel", queryset.model._meta.label]
    try:
        return newest_first(queryset, limit=PER_PAGE, cursor=cursor, scope=scope)
    except InvalidCursor:
        return newest_first(queryset, limit=PER_PAGE, cursor="", scope=scope)
