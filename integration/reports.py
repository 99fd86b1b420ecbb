"""Reports of orders by the day they were created, with their freight, and how they stand now: of a seller, and of all.

Why orders were not delivered is counted of those that stand so now, so that the reasons add up to their number.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import cached_property, partial
from operator import attrgetter, itemgetter
from typing import Any

from django.db.models import Case, Count, DateField, F, OuterRef, Q, QuerySet, Subquery, Sum, TextField, Value, When
from django.db.models.functions import Coalesce, TruncDate, TruncMonth
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from common.accounts import Environment
from common.brazil.formats import money, number
from common.columns import FILE, Column
from common.pages import reports
from common.pages.periods import Period
from common.pages.plots import Chart, Series
from common.pages.reports import Table
from integration import lifecycle, words
from integration.lifecycle import Status
from integration.models import Order, Seller, StatusLog

# How an order stands, by `_STANDING`.
_SERIES = {
    "on_time": Series(_("Delivered on time"), "good"),
    "late": Series(_("Delivered late"), "warn"),
    "under_way": Series(_("Under way"), "info"),
    "failed": Series(_("Not delivered or returned"), "bad"),
    "cancelled": Series(pgettext_lazy("number of orders", "Cancelled"), "none"),
}
# Programs read the columns of files by these names.
_HEADINGS = {"cancelled": words.STATUSES[Status.CANCELLED]}
_STANDING = Case(
    # An order without a promised day is on time whenever it arrives.
    When(status=Status.DELIVERED, delivered_at__date__gt=F("promised_on"), then=Value("late")),
    When(status=Status.DELIVERED, then=Value("on_time")),
    When(status__in=lifecycle.WITH_REASON, then=Value("failed")),
    When(status=Status.CANCELLED, then=Value("cancelled")),
    default=Value("under_way"),
    output_field=TextField(),
)
# The codes of reasons, in the sequence in which tables have them. Empty: the carrier has said none.
_REASONS: dict[str, Any] = {code.value: text for code, text in words.REASONS.items()} | {"": _("No reason")}


@dataclass
class Line:
    """Orders of a day, a month or a seller, which `of` names; None for a total: numbers by how they stand, and reais.

    `reasons`: the last code that was recorded of those that failed.
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


def of_dates(orders: QuerySet[Order], period: Period) -> list[Line]:
    """One for each day of the period on which orders were created, or month if it is long."""
    dated = TruncDate("created_at") if period.is_by_day else TruncMonth("created_at", output_field=DateField())
    return sorted(_lines(orders, period, of=dated).values(), key=lambda line: line.of or date.min)


def of_sellers(period: Period) -> list[Line]:
    """One for each seller with live orders of the period, by name."""
    sellers: Mapping[int, Seller] = Seller.objects.in_bulk()
    # Every seller, because the index begins with them.
    live = Order.objects.filter(seller__in=list(sellers), environment=Environment.LIVE)
    lines = _lines(live, period, of=F("seller")).values()
    for line in lines:
        line.of = sellers[line.of]
    return sorted(lines, key=lambda line: (line.of.name.casefold(), line.of.pk))


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


def total(lines: Iterable[Line]) -> Line:
    whole = Line()
    for line in lines:
        for name, count in line.counts.items():
            whole.counts[name] += count
        for code, count in line.reasons.items():
            whole.reasons[code] += count
        whole.freight += line.freight
        whole.value += line.value
    return whole


class Report(reports.Report):
    """Of orders by the day they were created. `of`: the orders, of which a report takes those of its period."""

    rule = (
        _(
            "Each order counts on the day it was created, with how it stands now and, unless it was cancelled, the "
            "freight that it was quoted."
        ),
    )
    empty = _("No order was created in this period")
    compared = (
        (_("Orders"), attrgetter("total.count"), {}),
        (
            _("Delivered on time"),
            attrgetter("total.percent_on_time"),
            {"shown": reports.share, "unit": _("points"), "better": 1},
        ),
        (_("Freight"), attrgetter("total.freight"), {"shown": money}),
        (_("Value of the orders"), attrgetter("total.value"), {"shown": money}),
    )

    @cached_property
    def lines(self) -> list[Line]:  # type: ignore[override]  # computed
        return of_dates(self.of, self.period)

    @cached_property
    def total(self) -> Line:
        return total(self.lines)

    @property
    def tables(self) -> Mapping[str, Callable[[], Table]]:
        return {"orders": self._orders, "reasons": self._reasons}

    def charts(self) -> list[Chart]:
        by_date = {line.of: line for line in self.lines}
        chart = partial(reports.chart, parts=reports.dates_until_today(self.period, by_date), period=self.period)
        return [
            chart(
                _("Orders, by the day they were created"),
                [*_SERIES.values()],
                lambda day: [*by_date.get(day, Line()).counts.values()],
            ),
            chart(
                _("Freight"),
                [Series(_("Freight"), "good")],
                lambda day: [by_date.get(day, Line()).freight],
                shown=money,
            ),
        ]

    def _orders(self) -> Table:
        columns = [reports.dated(self.period, "of"), *_FIGURES]
        return Table(_("Orders"), columns, self.lines, total=self.total)

    def _reasons(self) -> Table:
        """Why orders are not delivered now, and how many, the most frequent first."""
        found = sorted(self.total.reasons.items(), key=itemgetter(1), reverse=True)
        rows = [(str(_REASONS[code]), count) for code, count in found if count]
        columns = [Column(_("Reason"), itemgetter(0)), Column(_("Orders"), itemgetter(1), number)]
        return Table(_("Why orders were not delivered"), columns, rows, bar=itemgetter(1), look="bad")


class ReportOfAll(Report):
    """Of the live orders of every seller, with a line for each."""

    @cached_property
    def lines(self) -> list[Line]:  # type: ignore[override]  # computed
        return of_sellers(self.period)

    @property
    def tables(self) -> Mapping[str, Callable[[], Table]]:
        return {"sellers": self._sellers, "reasons": self._reasons}

    def charts(self) -> list[Chart]:
        return []

    def _sellers(self) -> Table:
        on_time = reports.in_tenths(_("On time (%)"), attrgetter("percent_on_time"), reports.share)
        columns = [*self._of_seller(), *_FIGURES, *on_time]
        return Table(_("Live orders by seller"), columns, self.lines, total=self.total)

    def _reasons(self) -> Table:
        columns = [
            *self._of_seller(),
            *(
                Column(name, _count("reasons", code), number, reports.where(bool(self.total.reasons[code])))
                for code, name in _REASONS.items()
            ),
            Column(_SERIES["failed"].name, _count("counts", "failed"), number),
        ]
        failed = [line for line in self.lines if line.counts["failed"]]
        return Table(_("Why orders were not delivered"), columns, self.lines, total=self.total, of_page=failed)

    def _of_seller(self) -> list[Column]:
        return [
            Column(_("Seller"), "of.name"),
            Column(_("Reference"), "of.reference", on=FILE),
            *reports.days_of(self.period),
        ]


def _count(counts: str, key: str) -> Callable[[Line], int]:
    def get(line: Line) -> int:
        found: dict[str, int] = getattr(line, counts)
        return found[key]

    return get


# Of rows that are a Line.
_FIGURES = [
    Column(_("Orders"), "count", number),
    *(
        Column(series.name, _count("counts", name), number, heading=_HEADINGS.get(name, ""))
        for name, series in _SERIES.items()
    ),
    Column(_("Freight"), "freight", money),
    Column(_("Value of the orders"), "value", money),
]
