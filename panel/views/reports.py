"""Reports: what accounts owe for the deliveries that ended within a period, and what drivers have earned."""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from django import forms
from django.contrib.auth.mixins import PermissionRequiredMixin
from django.db.models import prefetch_related_objects
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import formats, timezone
from django.utils.formats import localize
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext

from common import clock
from common.actors import actor
from common.api.heavy import heavy
from common.api.pagination import InvalidCursor, Page
from common.brazil.formats import money, number
from common.files import table_files
from common.files.csv_files import Cell
from common.files.table_files import Column, OfMoments
from common.pages.periods import Period
from common.pages.plots import Bars, Chart, Figure, Series
from common.postgresql.replica import may_be_old
from delivery import reports, words
from delivery.lifecycle import Ending, Status
from delivery.models import Delivery, Tariff
from delivery.models.delivery import DeliveryQuerySet
from delivery.models.stop import LABELS
from delivery.pricing import Charge
from delivery.reports import Charged, Line, Row, Service
from delivery.words import text_of_simulator
from panel.filters import PER_PAGE
from panel.views.base import AccountView, LoggedInView

_Table = tuple[Sequence[Column], Iterable[Any]]
LONGEST = timedelta(days=366)
_EARLIEST, _LATEST = date(2000, 1, 1), date(2100, 12, 31)
_log = logging.getLogger(__name__)
_FEWEST_COLUMNS = 7
# Lines that a page shows. The file has all of them.
_MOST_LINES = 500
# A file with more deliveries is refused instead of cut, because its sum would not be that of the report.
_MOST_ROWS = 50_000


class DayField(forms.DateField):
    """A day, in the form that browsers send."""

    def __init__(self, **kwargs: Any) -> None:
        widget = forms.DateInput({"type": "date"}, format="%Y-%m-%d")
        super().__init__(input_formats=["%Y-%m-%d"], widget=widget, **kwargs)

    def to_python(self, value: Any) -> date | None:
        day: date | None = super().to_python(value)
        if day is not None and not _EARLIEST <= day <= _LATEST:
            raise forms.ValidationError(_("Choose a day between 2000 and 2100."))
        return day


class PeriodForm(forms.Form):
    """A period of a year at most. Without a choice it is this month."""

    since = DayField(label=gettext_lazy("First day"))
    until = DayField(label=gettext_lazy("Last day"))

    @classmethod
    def of(cls, query: QueryDict) -> "PeriodForm":
        if query.get("since") or query.get("until"):
            return cls(query)
        month = Period.month_of(timezone.localdate())
        return cls({"since": month.first, "until": month.last})

    @property
    def period(self) -> Period | None:
        """None if the form is not valid."""
        return Period(self.cleaned_data["since"], self.cleaned_data["until"]) if self.is_valid() else None

    def clean(self) -> dict[str, Any]:
        first, last = self.cleaned_data.get("since"), self.cleaned_data.get("until")
        if first and last:
            if last < first:
                raise forms.ValidationError(_("The last day is before the first."))
            if last - first >= LONGEST:
                raise forms.ValidationError(_("A report covers a year at most."))
        return self.cleaned_data


def date_name(day: date, period: Period) -> str:
    return formats.date_format(day, "d/m" if period.is_by_day else "m/Y")


def part_name(part: date, period: Period) -> str:
    """The label of a column, also of an hour."""
    if isinstance(part, datetime):
        return formats.date_format(timezone.localtime(part), "H:i")
    return date_name(part, period)


def _from_first(used: Collection[date], dates: list[date]) -> list[date]:
    """The dates from the first one that is used, a week at least, so that a new account's chart is not empty space."""
    first = next((number for number, day in enumerate(dates) if day in used), 0)
    return dates[max(0, min(first, len(dates) - _FEWEST_COLUMNS)) :]


def share(percent: float | None) -> str:
    """A percentage as text."""
    return "–" if percent is None else f"{round(percent)} %"  # noqa: RUF001  # as in the tables


def _minutes(minutes: float | None) -> str:
    return "–" if minutes is None else localize(round(minutes, 1))  # noqa: RUF001  # as in the tables


def _reasons(deliveries: DeliveryQuerySet, period: Period) -> list[tuple[str, int, int]]:
    """`reports.reasons` in the reader's language: the reason, how many failed, how many were delivered later."""
    return [
        (words.failure(each.code, text_of_simulator(each.text)) or _("No reason"), each.failed, each.delivered_later)
        for each in reports.reasons(deliveries, period)
    ]


def _figures(
    deliveries: DeliveryQuerySet, lines: list[Line], period: Period, *, files: Mapping[str, str]
) -> dict[str, Any]:
    """What a report shows by day or month, the reasons of failures and the drivers.

    `lines` are those of `reports.of_days`; `files` has the address of each table's file.
    """
    service = reports.service_of_dates(deliveries, period)
    if period.first == period.last:
        by_part = {line.of: line for line in reports.of_parts(deliveries, period, period.hours)}
        service_of_part = reports.service_of_parts(deliveries, period, period.hours)
        now = timezone.localtime(clock.now())
        parts: list[date] = [hour for hour in period.hours if hour <= now]
        heading = _("Hour")
    else:
        by_part, service_of_part = {line.of: line for line in lines}, service
        parts = _from_first(by_part, [day for day in period.dates if day <= timezone.localdate()])
        heading = _("Day") if period.is_by_day else _("Month")

    def chart(title: str, series: list[Series], values: Callable[[date], list[Any]], **options: Any) -> Chart:
        rows = [(part_name(part, period), values(part)) for part in parts]
        return Chart.of(title, heading=heading, series=series, rows=rows, **options)

    def counts(day: date) -> list[int]:
        return _counts(by_part.get(day, Line()))

    def amounts(day: date) -> list[Decimal]:
        line = by_part.get(day, Line())
        return [amount(line) for _name, _look, amount in kinds]

    def of_service(name: str) -> Callable[[date], list[Any]]:
        return lambda day: [getattr(service_of_part[day], name) if day in service_of_part else None]

    looks = {Ending.DELIVERED: "good", Ending.NOT_DELIVERED: "bad", Ending.CANCELLED: "warn", Ending.EXPIRED: "info"}
    drivers = reports.service_of_drivers(deliveries, period)
    kinds = _AMOUNTS if reports.total(lines).extras else [_AMOUNTS[0], _AMOUNTS[-1]]
    return {
        "charts": [
            chart(_("Deliveries"), [Series(words.ENDINGS[each], looks[each]) for each in Ending], counts),
            chart(
                _("Amount"),
                [Series(name, look) for name, look, _amount in kinds],
                amounts,
                shown=money,
            ),
            chart(
                _("Delivered on time"),
                [Series(_("On time"), "good")],
                of_service("percent_on_time"),
                shown=share,
                has_totals=False,
                top=100,
            ),
            chart(
                _("Minutes until a driver accepts (median)"),
                [Series(_("Minutes"), "info")],
                of_service("minutes"),
                shown=_minutes,
                has_totals=False,
            ),
        ],
        "bars": [
            Bars.of(
                _("Why drop-offs failed"),
                columns=[_("Reason"), _("Not delivered"), _("Second attempt delivered")],
                rows=[
                    (reason, failed + later, [number(failed), number(later)])
                    for reason, failed, later in _reasons(deliveries, period)
                ],
                look="bad",
                file=files["reasons"],
            ),
            Bars.of(
                _("Drivers"),
                columns=[_("Driver"), _("Routes"), _("On time"), _("Minutes")],
                rows=[(each.of.name, each.taken, [number(each.taken), *_went(each)]) for each in drivers],
                look="good",
                file=files["drivers"],
            ),
        ],
        "owed": _owed(deliveries, period),
        "dates": [(line, _period_of(line, period), service.get(line.of)) for line in lines],
        "files": files,
    }


def _headline(of: Callable[[Period], DeliveryQuerySet], total: Line, period: Period) -> dict[str, Any]:
    """What a report begins with: its figures, and how they differ from those of the period before.

    `of`: the deliveries that a report of a period is about.
    """
    before = period.before(timezone.localdate())
    earlier = Line() if before is None else reports.total(reports.of_days(of(before), before))
    now = reports.service_of_period(of(period), period)
    then = None if before is None else reports.service_of_period(of(before), before)
    points, minutes = _("points"), _("min")
    return {
        "compared": before if earlier.count else None,
        "headline": [
            Figure.of(_("Deliveries that ended"), total.count, earlier.count),
            Figure.of(
                _("Delivered on time"),
                now and now.percent_on_time,
                then and then.percent_on_time,
                shown=share,
                unit=points,
                better=1,
            ),
            Figure.of(
                _("Minutes until a driver accepts (median)"),
                now and now.minutes,
                then and then.minutes,
                shown=_minutes,
                unit=minutes,
                better=-1,
            ),
            Figure.of(_("Total"), total.amount, earlier.amount, shown=money),
        ],
    }


# The sums of a line with their names and colours; the ends are those of accounts without failures that cost something.
_AMOUNTS: list[tuple[Any, str, Callable[[Line], Decimal]]] = [
    (gettext_lazy("Prices"), "good", attrgetter("prices")),
    (words.CHARGES[Charge.RETRY], "info", attrgetter("retries")),
    (words.CHARGES[Charge.RETURN], "bad", attrgetter("returns")),
    (gettext_lazy("Cancellation fees"), "warn", attrgetter("fees")),
]


def _owed(deliveries: DeliveryQuerySet, period: Period) -> list[tuple[Any, Charged]]:
    """What makes up the sum of a report: the name of each kind, and how much of it at which percentage."""
    return [(words.CHARGES[each.charge], each) for each in reports.charges(deliveries, period)]


def _went(service: Service | None) -> list[str]:
    """The share on time and the minutes, as text."""
    if service is None:
        return [share(None), _minutes(None)]
    return [share(service.percent_on_time), _minutes(service.minutes)]


class _OfAllAccounts(LoggedInView, PermissionRequiredMixin):
    permission_required = "delivery.change_integrator"


class AllAccounts(_OfAllAccounts):
    """The live deliveries of every account, and the earnings of drivers if they have a share."""

    @heavy
    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponseBase:
        form = PeriodForm.of(request.GET)
        context = _context(form)
        if period := form.period:
            lines = reports.of_all_accounts(period)
            every = reports.live(period)
            files = {
                table: f"{reverse(f'panel:reports_{table}_export')}?{request.GET.urlencode()}"
                for table in TABLES_OF_ALL
            }
            context |= _figures(every, reports.of_days(every, period), period, files=files)
            service = reports.service(every, by="integrator")
            drivers = reports.of_drivers(period) if Tariff.pays_drivers() else []
            if drivers:  # whose table has the same figures
                context["bars"] = [each for each in context["bars"] if each.file != files["drivers"]]
            went = {each.of.pk: each for each in reports.service_of_drivers(every, period)} if drivers else {}
            context |= {
                "lines": [(line, service.get(line.of.pk)) for line in lines[:_MOST_LINES]],
                "total": (total := reports.total(lines)),
                **_headline(reports.live, total, period),
                "has_more": len(lines) > _MOST_LINES,
                "most": max((line.amount for line in lines), default=0) or 1,
                "drivers": [(each, went.get(each.of.pk)) for each in drivers[:_MOST_LINES]],
                "most_earned": max((each.earned for each in drivers), default=0) or 1,
                "earned": sum(each.earned for each in drivers),
            }
        return self.page("panel/report_of_all.html", **context)


class AllAccountsExport(_OfAllAccounts):
    """One of `TABLES_OF_ALL`."""

    @heavy
    @may_be_old
    def get(self, request: HttpRequest, table: str) -> HttpResponseBase:
        period = PeriodForm.of(request.GET).period
        if period is None or (table == "earnings" and not Tariff.pays_drivers()):
            return redirect(f"{reverse('panel:reports')}?{request.GET.urlencode()}")
        _log.info("%s exported the report of all accounts: %s", actor(request), table)
        columns, rows = TABLES_OF_ALL[table](reports.live(period), period)
        return table_files.response(request, f"{table}-{_name_of(period)}", columns=columns, rows=rows)


class Account(AccountView):
    """The deliveries of one account by day, or by month if the period is long."""

    @heavy
    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponseBase:
        form = PeriodForm.of(request.GET)
        context = _context(form)
        if period := form.period:
            lines = reports.of_days(self.deliveries, period)
            files = {table: f"{self.url(f'report_{table}_export')}?{request.GET.urlencode()}" for table in TABLES}
            total = reports.total(lines)
            context |= {**_figures(self.deliveries, lines, period, files=files), "total": total}
            context |= _headline(lambda _period: self.deliveries, total, period)
        return self.page("panel/report.html", **context)


class AccountExport(AccountView):
    """One of `TABLES`."""

    @heavy
    @may_be_old
    def get(self, request: HttpRequest, table: str) -> HttpResponseBase:
        period = PeriodForm.of(request.GET).period
        if period is None:
            return redirect(f"{self.url('report')}?{request.GET.urlencode()}")
        _log.info("%s exported the report of account %s: %s", actor(request), self.account.pk, table)
        columns, rows = TABLES[table](self.deliveries, period)
        name = f"{table}-{self.environment}-{_name_of(period)}"
        return table_files.response(request, name, columns=columns, rows=rows)


def _table_of_days(deliveries: DeliveryQuerySet, period: Period) -> _Table:
    service = reports.service_of_dates(deliveries, period)
    columns: list[Column] = [
        (_("Day") if period.is_by_day else _("Month"), attrgetter("line.of")),
        *_columns_of_line(),
    ]
    return columns, [_Served(line, service.get(line.of)) for line in reports.of_days(deliveries, period)]


def _table_of_drivers(deliveries: DeliveryQuerySet, period: Period) -> _Table:
    columns: list[Column] = [
        (_("Driver"), attrgetter("of.name")),
        (_("Routes"), attrgetter("taken")),
        (_("Delivered"), attrgetter("delivered")),
        *_columns_of_service(lambda row: row),
    ]
    return columns, reports.service_of_drivers(deliveries, period)


def _table_of_reasons(deliveries: DeliveryQuerySet, period: Period) -> _Table:
    columns: list[Column] = [
        (_("Reason"), itemgetter(0)),
        (_("Not delivered"), itemgetter(1)),
        (_("Second attempt delivered"), itemgetter(2)),
    ]
    return columns, _reasons(deliveries, period)


def _table_of_accounts(deliveries: DeliveryQuerySet, period: Period) -> _Table:
    service = reports.service(deliveries, by="integrator")
    columns: list[Column] = [
        (_("Account"), attrgetter("line.of.name")),
        ("id", attrgetter("line.of.pk")),
        *_columns_of_period(period),
        *_columns_of_line(),
    ]
    return columns, [_Served(line, service.get(line.of.pk)) for line in reports.of_all_accounts(period)]


def _table_of_earnings(_deliveries: DeliveryQuerySet, period: Period) -> _Table:
    columns: list[Column] = [
        (_("Driver"), attrgetter("of.name")),
        ("id", attrgetter("of.pk")),
        *_columns_of_period(period),
        (_("Routes"), attrgetter("routes")),
        ("km", attrgetter("km")),
        (_("Earned"), attrgetter("earned")),
    ]
    return columns, reports.of_drivers(period)


def _table_of_charges(deliveries: DeliveryQuerySet, period: Period) -> _Table:
    columns: list[Column] = [
        (_("What for"), lambda row: str(row[0])),
        (_("Of the price (%)"), lambda row: row[1].percent),
        (_("Deliveries"), lambda row: row[1].deliveries),
        (_("Amount"), lambda row: row[1].amount),
    ]
    return columns, _owed(deliveries, period)


# The files of the report of an account and of that of all accounts: one row for each day or month, driver, and so on.
TABLES: dict[str, Callable[[DeliveryQuerySet, Period], _Table]] = {
    "charges": _table_of_charges,
    "days": _table_of_days,
    "drivers": _table_of_drivers,
    "reasons": _table_of_reasons,
}
TABLES_OF_ALL = {**TABLES, "accounts": _table_of_accounts, "earnings": _table_of_earnings}


class _Served(NamedTuple):
    """A line with how its deliveries went."""

    line: Line
    service: Service | None


def _columns_of_period(period: Period) -> list[Column]:
    return [(_("First day"), lambda _row: period.first), (_("Last day"), lambda _row: period.last)]


def _columns_of_line() -> list[Column]:
    """Of rows that are `_Served`. Files have what failures have added at the end, where people had none before."""

    def count(ending: Ending) -> Callable[[_Served], Cell]:
        return lambda row: row.line.counts[ending]

    return [
        *((words.ENDINGS[ending], count(ending)) for ending in Ending),
        (_("Prices"), attrgetter("line.prices")),
        (_("Cancellation fees"), attrgetter("line.fees")),
        (_("Amount"), attrgetter("line.amount")),
        *_columns_of_service(attrgetter("service")),
        (words.CHARGES[Charge.RETRY], attrgetter("line.retries")),
        (words.CHARGES[Charge.RETURN], attrgetter("line.returns")),
    ]


def _columns_of_service(service: Callable[[Any], Service | None]) -> list[Column]:
    def rounded(name: str) -> Callable[[Any], Cell]:
        def of_row(row: Any) -> Cell:
            figure = getattr(service(row), name, None)
            return None if figure is None else Decimal(f"{figure:.1f}")

        return of_row

    return [
        (_("Delivered on time"), lambda row: getattr(service(row), "on_time", None)),
        (_("On time (%)"), rounded("percent_on_time")),
        (_("Minutes until a driver accepts (median)"), rounded("minutes")),
    ]


def _counts(line: Line) -> list[int]:
    return [line.counts[ending] for ending in Ending]


class Deliveries(AccountView):
    """The deliveries that a report's sums are made of."""

    @heavy
    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponseBase:
        return self._list(request, PeriodForm.of(request.GET))

    def _list(self, request: HttpRequest, form: PeriodForm, **context: Any) -> HttpResponse:
        context |= _context(form)
        if period := form.period:
            page = self._page(period, request.GET.get("before", ""))
            prefetch_related_objects(page.rows, "stops")
            lines = reports.of_days(self.deliveries, period)
            context |= {"rows": page.rows, "older": page.next_cursor, "total": reports.total(lines)}
        return self.page("panel/report_deliveries.html", **context)

    def _page(self, period: Period, cursor: str) -> Page[Delivery]:
        try:
            return reports.rows(self.deliveries, period, limit=PER_PAGE, cursor=cursor)
        except InvalidCursor:
            return reports.rows(self.deliveries, period, limit=PER_PAGE)


class DeliveriesExport(Deliveries):
    """One row for each delivery of a report. Their amounts add up to the report's."""

    @heavy
    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponseBase:
        form = PeriodForm.of(request.GET)
        period = form.period
        if period is None:
            return self._list(request, form)
        count = reports.total(reports.of_days(self.deliveries, period)).count
        if count > _MOST_ROWS:
            return self._list(request, form, too_many=count, most=_MOST_ROWS)
        _log.info("%s exported the report of account %s", actor(request), self.account.pk)
        rows = reports.all_rows(self.deliveries, period)
        name = f"report-{self.environment}-{_name_of(period)}"
        return table_files.response(request, name, columns=_columns_of_deliveries(), rows=rows, most=_MOST_ROWS)


def _context(form: PeriodForm) -> dict[str, Any]:
    """The form, further periods to choose from, and the time zone of its days."""
    return {"form": form, "zone": timezone.get_current_timezone_name(), **periods(form.period)}


def periods(period: Period | None) -> dict[str, Any]:
    """A period, the months `before` and `after` it, and the `others` that are asked for most, with their names.

    A month that has not begun is left out.
    """
    if period is None:
        return {"period": None}
    today = timezone.localdate()
    others = [
        (_("This month"), Period.month_of(today)),
        (_("Last 30 days"), Period(today - timedelta(days=29), today)),
        (_("Last 12 months"), Period(today - timedelta(days=364), today)),
    ]
    after = period.month_after
    return {
        "period": period,
        "before": period.month_before,
        "after": after if after.first <= today else None,
        "others": others,
        "is_named": any(period == each for _name, each in others) or period == Period.month_of(period.first),
    }


def _period_of(line: Line, period: Period) -> Period:
    """The days of a line of `reports.of_days`."""
    days = Period(line.of, line.of) if period.is_by_day else Period.month_of(line.of)
    return days.within(period)


def _name_of(period: Period) -> str:
    return f"{period.first}-{period.last}"


def _ending(row: Row) -> str:
    return words.ending(row.ending, row.mode, failed=row.statuses.count(Status.FAILED), stops=len(row.statuses))


def _columns_of_deliveries() -> list[Column]:
    """Of rows that are `reports.Row`."""

    def order(index: int) -> Callable[[Row], Cell]:
        return lambda row: row.orders[index] if index < len(row.orders) else ""

    return [
        ("deliveryId", attrgetter("delivery")),
        *((f"{label}: externalId", order(index)) for index, label in enumerate(LABELS)),
        (OfMoments(_("Requested")), attrgetter("requested_at")),
        (OfMoments(pgettext("moment", "Ended")), attrgetter("ended_at")),
        (pgettext("of a delivery", "Ending"), _ending),
        (_("Price"), attrgetter("price")),
        (_("Cancellation fee"), attrgetter("cancel_fee")),
        (_("Amount"), attrgetter("amount")),
        (words.CHARGES[Charge.RETRY], attrgetter("retry_fee")),
        (words.CHARGES[Charge.RETURN], attrgetter("return_fee")),
    ]
