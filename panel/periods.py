"""Periods to choose from in filters and forms, and the base class of filters of rows by their moment."""

from datetime import datetime, timedelta
from typing import Any

import django_filters
from django import forms
from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from common import clock

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
