"""Reports of orders by the day they were created, with their freight, and how they stand now: of a seller, and of all.

Why orders were not delivered is counted of those that stand so now, so that the reasons add up to their number.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import partial
from operator import attrgetter, itemgetter
from typing import Any

from django.contrib.auth.mixins import PermissionRequiredMixin
from django.db.models import Case, Count, DateField, F, OuterRef, Q, QuerySet, Subquery, Sum, TextField, Value, When
from django.db.models.functions import Coalesce, TruncDate, TruncMonth
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from common.accounts import Environment
from common.actors import actor
from common.api.heavy import heavy
from common.brazil.formats import money, number
from common.files import table_files
from common.files.csv_files import Cell
from common.files.table_files import Column
from common.pages.periods import Period
from common.pages.plots import Bars, Chart, Figure, Series
from common.postgresql.replica import may_be_old
from integration import lifecycle, words
from integration.lifecycle import Status
from integration.models import Order, Seller, StatusLog
from panel.views.base import LoggedInView, SellerView
from panel.views.reports import PeriodForm, date_name, periods, share

_log = logging.getLogger(__name__)
# Lines that a page shows. The file has all of them.
_MOST_LINES = 500
# How an order stands, by `_STANDING`.
_SERIES = {
    "on_time": Series(gettext_lazy("Delivered on time"), "good"),
    "late": Series(gettext_lazy("Delivered late"), "warn"),
    "under_way": Series(gettext_lazy("Under way"), "info"),
    "failed": Series(gettext_lazy("Not delivered or returned"), "bad"),
    "cancelled": Series(words.STATUSES[Status.CANCELLED], "none"),
}
_STANDING = Case(
    # An order without a promised day is on time whenever it arrives.
    When(status=Status.DELIVERED, delivered_at__date__gt=F("promised_on"), then=Value("late")),
    When(status=Status.DELIVERED, then=Value("on_time")),
    When(status__in=lifecycle.WITH_REASON, then=Value("failed")),
    When(status=Status.CANCELLED, then=Value("cancelled")),
    default=Value("under_way"),
    output_field=TextField(),
)
# The codes of reasons, in the sequence in which tables have them. Empty: the carrier has reported none.
_REASONS: dict[str, Any] = {code.value: text for code, text in words.REASONS.items()} | {"": gettext_lazy("No reason")}


@dataclass
class Line:
    """Orders of a day, a month or a seller, which `of` names; None for a total: numbers by how they stand, and reais.

    `reasons`: the last code that was reported of those that failed.
    """

    of: Any = None
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_SERIES, 0))
    freight: Decimal = Decimal(0)
    value: Decimal = Decimal(0)
    reasons: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_REASONS, 0))

    @property
    def count(self) -> int:
        return sum(self.counts.values())

    @property
    def percent_on_time(self) -> float | None:
        """Of the delivered ones."""
        delivered = self.counts["on_time"] + self.counts["late"]
        return 100 * self.counts["on_time"] / delivered if delivered else None


def _columns_of_figures() -> list[Column]:
    """Of rows that are a Line."""
    return [
        (_("Orders"), attrgetter("count")),
        *((series.name, _count("counts", name)) for name, series in _SERIES.items()),
        (_("Freight"), attrgetter("freight")),
        (_("Value of the orders"), attrgetter("value")),
    ]


def _count(counts: str, key: str) -> Callable[[Line], Cell]:
    return lambda line: getattr(line, counts)[key]


def _lines(orders: QuerySet[Order], period: Period, *, of: Any) -> dict[Any, Line]:
    """The orders that were created within the period by `of`, the expression of what a line is about.

    By one statement, so that the reasons add up to the number of orders that failed.
    """
    told = StatusLog.objects.filter(order=OuterRef("pk"), status__in=lifecycle.WITH_REASON).exclude(reason_code="")
    code = Coalesce(Subquery(told.order_by("-pk").values("reason_code")[:1]), Value(""))
    why = Case(When(status__in=lifecycle.WITH_REASON, then=code), default=Value(""), output_field=TextField())
    rows = (
        orders.filter(created_at__gte=period.start, created_at__lt=period.end)
        .order_by()
        .annotate(of=of, standing=_STANDING, why=why)
        .values_list("of", "standing", "why")
        .annotate(
            count=Count("pk"),
            centavos=Coalesce(Sum("freight_centavos", filter=~Q(status=Status.CANCELLED)), 0),
            value=Sum("cost"),
        )
    )
    lines: dict[Any, Line] = {}
    for key, standing, reason, count, centavos, value in rows:
        line = lines.setdefault(key, Line(key))
        line.counts[standing] += count
        if standing == "failed":
            line.reasons[reason] += count
        line.freight += Decimal(centavos) / 100
        line.value += value
    return lines


def _of_dates(orders: QuerySet[Order], period: Period) -> list[Line]:
    """One for each day of the period on which orders were created, or month if it is long."""
    dated = TruncDate("created_at") if period.is_by_day else TruncMonth("created_at", output_field=DateField())
    lines = _lines(orders, period, of=dated).values()
    return sorted(lines, key=lambda line: line.of or date.min)


def _total(lines: Iterable[Line]) -> Line:
    whole = Line()
    for line in lines:
        for name, count in line.counts.items():
            whole.counts[name] += count
        for code, count in line.reasons.items():
            whole.reasons[code] += count
        whole.freight += line.freight
        whole.value += line.value
    return whole


def _headline(of: Callable[[Period], Iterable[Line]], total: Line, period: Period) -> dict[str, Any]:
    """What a report begins with: its figures, and how they differ from those of the period before.

    `of`: the lines of a report of a period.
    """
    before = period.before(timezone.localdate())
    earlier = _total(of(before)) if before else Line()
    on_time, was_on_time = total.percent_on_time, earlier.percent_on_time
    return {
        "compared": before if earlier.count else None,
        "headline": [
            Figure.of(_("Orders"), total.count, earlier.count),
            Figure.of(_("Delivered on time"), on_time, was_on_time, shown=share, unit=_("points"), better=1),
            Figure.of(_("Freight"), total.freight, earlier.freight, shown=money),
            Figure.of(_("Value of the orders"), total.value, earlier.value, shown=money),
        ],
    }


class Report(SellerView):
    @heavy
    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponseBase:
        form = PeriodForm.of(request.GET)
        context: dict[str, Any] = {"form": form, **periods(form.period)}
        if period := form.period:
            lines = _of_dates(self.orders, period)
            total = _total(lines)
            context |= {"lines": lines, "total": total, "charts": _charts(lines, period)}
            context |= _headline(partial(_of_dates, self.orders), total, period)
            context |= {"names": _SERIES.values(), "bars": self._bars(total)}
        return self.page("panel/seller_report.html", **context)

    def _bars(self, total: Line) -> Bars:
        return Bars.of(
            _("Why orders were not delivered"),
            columns=[_("Reason"), _("Orders")],
            rows=[(reason, count, [number(count)]) for reason, count in _counted_reasons(total)],
            look="bad",
            file=f"{self.url('seller_report_reasons_export')}?{self.request.GET.urlencode()}",
        )


def _counted_reasons(total: Line) -> list[tuple[str, int]]:
    """Why a seller's orders are not delivered now, in the reader's language, and how many, the most frequent first."""
    found = sorted(total.reasons.items(), key=itemgetter(1), reverse=True)
    return [(str(_REASONS[code]), count) for code, count in found if count]


def _charts(lines: Sequence[Line], period: Period) -> list[Chart]:
    by_date = {line.of: line for line in lines}
    dates = [day for day in period.dates if day <= timezone.localdate()]
    heading = _("Day") if period.is_by_day else _("Month")

    def chart(title: str, series: list[Series], values: Callable[[Line], list[Any]], **options: Any) -> Chart:
        rows = [(date_name(day, period), values(by_date.get(day) or Line())) for day in dates]
        return Chart.of(title, heading=heading, series=series, rows=rows, **options)

    freight = Series(_("Freight"), "good")
    return [
        chart(
            _("Orders, by the day they were created"), list(_SERIES.values()), lambda line: list(line.counts.values())
        ),
        chart(_("Freight"), [freight], lambda line: [line.freight], shown=money),
    ]


class ReportExport(SellerView):
    """The lines of the report, or with `reasons` why orders were not delivered."""

    @heavy
    @may_be_old
    def get(self, request: HttpRequest, reasons: bool = False) -> HttpResponseBase:  # of the URL
        period = PeriodForm.of(request.GET).period
        if period is None:
            return redirect(f"{self.url('seller_report')}?{request.GET.urlencode()}")
        _log.info("%s exported the report of seller %s", actor(request), self.seller.reference)
        name = "reasons" if reasons else "orders"
        lines = _of_dates(self.orders, period)
        columns: list[Column]
        if reasons:
            columns = [(_("Reason"), itemgetter(0)), (_("Orders"), itemgetter(1))]
        else:
            columns = [(_("Day") if period.is_by_day else _("Month"), attrgetter("of")), *_columns_of_figures()]
        rows = _counted_reasons(_total(lines)) if reasons else lines
        file_name = self.file_name(f"{name}-{period.first}-{period.last}")
        return table_files.response(request, file_name, columns=columns, rows=rows)


class _OfAllSellers(LoggedInView, PermissionRequiredMixin):
    permission_required = "integration.change_seller"


def _of_sellers(period: Period) -> list[Line]:
    """A line for each seller with live orders of the period, by name."""
    sellers: Mapping[int, Seller] = Seller.objects.in_bulk()
    # Every seller, because the index begins with them.
    live = Order.objects.filter(seller__in=list(sellers), environment=Environment.LIVE)
    lines = _lines(live, period, of=F("seller"))
    for line in lines.values():
        line.of = sellers[line.of]
    return sorted(lines.values(), key=lambda line: (line.of.name.casefold(), line.of.pk))


class AllSellers(_OfAllSellers):
    """The live orders of every seller, and why they were not delivered."""

    @heavy
    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponseBase:
        form = PeriodForm.of(request.GET)
        context: dict[str, Any] = {"form": form, **periods(form.period)}
        if period := form.period:
            lines = _of_sellers(period)
            total = _total(lines)
            codes = [code for code in _REASONS if total.reasons[code]]
            failed = [line for line in lines if line.counts["failed"]]
            query = request.GET.urlencode()
            context |= {
                "lines": lines[:_MOST_LINES],
                "total": total,
                **_headline(_of_sellers, total, period),
                "has_more": len(lines) > _MOST_LINES,
                "names": _SERIES.values(),
                "reasons": [_REASONS[code] for code in codes],
                "failed": [(line, [line.reasons[code] for code in codes]) for line in failed[:_MOST_LINES]],
                "total_of_reasons": [total.reasons[code] for code in codes],
                "files": {
                    table: f"{reverse(f'panel:seller_reports_{table}_export')}?{query}" for table in TABLES_OF_SELLERS
                },
            }
        return self.page("panel/report_of_sellers.html", **context)


class AllSellersExport(_OfAllSellers):
    """One of TABLES_OF_SELLERS, with a line for each seller."""

    @heavy
    @may_be_old
    def get(self, request: HttpRequest, table: str) -> HttpResponseBase:
        period = PeriodForm.of(request.GET).period
        if period is None:
            return redirect(f"{reverse('panel:seller_reports')}?{request.GET.urlencode()}")
        _log.info("%s exported the report of all sellers: %s", actor(request), table)
        columns: list[Column] = [
            (_("Seller"), attrgetter("of.name")),
            (_("Reference"), attrgetter("of.reference")),
            (_("First day"), lambda _line: period.first),
            (_("Last day"), lambda _line: period.last),
            *TABLES_OF_SELLERS[table](),
        ]
        name = f"{table}-{period.first}-{period.last}"
        return table_files.response(request, name, columns=columns, rows=_of_sellers(period))


def _columns_of_orders() -> list[Column]:
    def on_time(line: Line) -> Cell:
        percent = line.percent_on_time
        return None if percent is None else Decimal(f"{percent:.1f}")

    return [*_columns_of_figures(), (_("On time (%)"), on_time)]


def _columns_of_reasons() -> list[Column]:
    of_reasons = [(name, _count("reasons", code)) for code, name in _REASONS.items()]
    return [*of_reasons, (_SERIES["failed"].name, _count("counts", "failed"))]


TABLES_OF_SELLERS = {"sellers": _columns_of_orders, "reasons": _columns_of_reasons}
