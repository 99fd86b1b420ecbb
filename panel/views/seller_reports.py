"""The report of a seller: its orders by the day they were created, with their freight, and how they stand now."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from django.db.models import Case, Count, DateField, F, Q, QuerySet, Sum, TextField, Value, When
from django.db.models.functions import Coalesce, TruncDate, TruncMonth
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from common import csv_files
from common.actors import actor
from common.formats import money
from common.replica import may_be_old
from delivery.reports import Period
from integration.lifecycle import Status
from integration.models import Order
from panel.plots import Chart, Series
from panel.views.base import SellerView
from panel.views.reports import PeriodForm, date_name, periods

_log = logging.getLogger(__name__)
# How an order stands, by `_standing`.
_SERIES = {
    "on_time": Series(gettext_lazy("Delivered on time"), "good"),
    "late": Series(gettext_lazy("Delivered late"), "warn"),
    "under_way": Series(gettext_lazy("Under way"), "info"),
    "trouble": Series(gettext_lazy("Failed, returned or cancelled"), "bad"),
}


@dataclass
class Line:
    """Orders that were created on one day or in one month: numbers by how they stand, and reais."""

    of: date | None
    counts: dict[str, int]
    freight: Decimal
    value: Decimal

    @property
    def count(self) -> int:
        return sum(self.counts.values())


def _lines(orders: QuerySet[Order], period: Period) -> list[Line]:
    """One for each day of the period on which orders were created, or month if it is long."""
    created = orders.filter(created_at__gte=period.start, created_at__lt=period.end).order_by()
    dated = TruncDate("created_at") if period.is_by_day else TruncMonth("created_at", output_field=DateField())
    # An order without a promised day is on time whenever it arrives.
    is_late = When(status=Status.DELIVERED, delivered_at__date__gt=F("promised_on"), then=Value("late"))
    standing = Case(
        is_late,
        When(status=Status.DELIVERED, then=Value("on_time")),
        When(status__in=(Status.DELIVERY_FAILED, Status.RETURNED, Status.CANCELLED), then=Value("trouble")),
        default=Value("under_way"),
        output_field=TextField(),
    )
    rows = (
        created.annotate(date=dated, standing=standing)
        .values_list("date", "standing")
        .annotate(
            count=Count("pk"),
            centavos=Coalesce(Sum("freight_centavos", filter=~Q(status=Status.CANCELLED)), 0),
            value=Sum("cost"),
        )
    )
    lines: dict[date, Line] = {}
    for day, name, count, centavos, value in rows:
        line = lines.setdefault(day, Line(day, dict.fromkeys(_SERIES, 0), Decimal(0), Decimal(0)))
        line.counts[name] = count
        line.freight += Decimal(centavos) / 100
        line.value += value
    return sorted(lines.values(), key=lambda line: line.of or date.min)


def _total(lines: Sequence[Line]) -> Line:
    counts = {name: sum(line.counts[name] for line in lines) for name in _SERIES}
    freight, value = (sum((getattr(line, name) for line in lines), Decimal(0)) for name in ("freight", "value"))
    return Line(None, counts, freight, value)


class Report(SellerView):
    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponseBase:
        form = PeriodForm.of(request.GET)
        context: dict[str, Any] = {"form": form, **periods(form.period)}
        if period := form.period:
            lines = _lines(self.orders, period)
            context |= {"lines": lines, "total": _total(lines), "charts": _charts(lines, period)}
            context["names"] = _SERIES.values()
        return self.page("panel/seller_report.html", **context)


def _charts(lines: Sequence[Line], period: Period) -> list[Chart]:
    by_date = {line.of: line for line in lines}
    dates = [day for day in period.dates if day <= timezone.localdate()]
    heading = _("Day") if period.is_by_day else _("Month")

    def chart(title: str, series: list[Series], values: Callable[[Line], list[Any]], **options: Any) -> Chart:
        rows = [(date_name(day, period), values(by_date.get(day) or _total([]))) for day in dates]
        return Chart.of(title, heading=heading, series=series, rows=rows, **options)

    freight = Series(_("Freight"), "good")
    return [
        chart(
            _("Orders, by the day they were created"), list(_SERIES.values()), lambda line: list(line.counts.values())
        ),
        chart(_("Freight"), [freight], lambda line: [line.freight], shown=money),
    ]


class ReportExport(SellerView):
    """The lines of the report."""

    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponseBase:
        period = PeriodForm.of(request.GET).period
        if period is None:
            return redirect(f"{self.url('seller_report')}?{request.GET.urlencode()}")
        _log.info("%s exported the report of seller %s", actor(request), self.seller.reference)
        header = [_("Day") if period.is_by_day else _("Month"), *(str(each.name) for each in _SERIES.values())]
        header += [_("Freight"), _("Value of the orders")]
        rows = ([line.of, *line.counts.values(), line.freight, line.value] for line in _lines(self.orders, period))
        return csv_files.response(self.file_name(f"orders-{period.first}-{period.last}"), header=header, rows=rows)
