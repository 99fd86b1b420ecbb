"""Pages and files of the reports of both areas, and the list of the deliveries that a report's sums are made of."""

import logging
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any, ClassVar

from django import forms
from django.contrib.auth.mixins import PermissionRequiredMixin
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from common.actors import actor
from common.api.heavy import heavy
from common.api.pagination import InvalidCursor, Page
from common.brazil.formats import money, number
from common.files import table_files
from common.pages.periods import Period
from common.pages.plots import Figure
from common.pages.reports import MOST_ROWS, Report, Table
from common.postgresql.replica import may_be_old
from delivery import reports
from delivery.models import Delivery, Environment
from integration import reports as order_reports
from integration.models import Order
from panel.base import AccountView, LoggedInView, SellerView
from panel.filters import PER_PAGE

LONGEST = timedelta(days=366)
_EARLIEST, _LATEST = date(2000, 1, 1), date(2100, 12, 31)
_log = logging.getLogger(__name__)
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


def _periods(period: Period | None) -> dict[str, Any]:
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


def _query(period: Period) -> str:
    return f"?since={period.first}&until={period.last}"


class _ReportView(LoggedInView):
    """The page of a report, and with the name of a table its file. `url_name`: of the page; those of files begin so."""

    url_name: ClassVar[str]
    tables: ClassVar[Sequence[str]]
    title: str | Promise = gettext_lazy("Report")

    def report(self, period: Period) -> Report:
        raise NotImplementedError

    def name_of(self, table: str, period: Period) -> str:
        """Of the file of a table."""
        return f"{table}-{period}"

    def url(self, name: str, *arguments: Any) -> str:
        return reverse(f"panel:{name}", args=arguments)

    def leads_to(self, name: str, row: Any, period: Period) -> str:
        """Where a row of a table leads; empty if nowhere."""
        return _query(period.of_part(row.of)) if name in ("days", "orders") else ""

    @heavy
    @may_be_old
    def get(self, request: HttpRequest, table: str = "") -> HttpResponseBase:
        form = PeriodForm.of(request.GET)
        report = self.report(form.period) if form.period else None
        if not table:
            return self._page(form, report)
        if report is None or table not in report.tables:
            return redirect(f"{self.url(self.url_name)}?{request.GET.urlencode()}")
        _log.info("%s exported %s", actor(request), request.path)
        made = report.tables[table]()
        name = self.name_of(table, report.period)
        return table_files.response(request, name, columns=table_files.of_rows(made.columns), rows=made.rows)

    def _page(self, form: PeriodForm, report: Report | None) -> HttpResponse:
        context: dict[str, Any] = {"form": form, "title": self.title, **_periods(form.period)}
        if report:
            compared = report.before.period if report.before else None
            context |= {"report": report, "headline": report.figures(), "compared": compared}
        if report and report.lines:
            shown = [self._shown(name, make(), report.period) for name, make in report.tables.items()]
            context |= {"charts": report.charts(), "tables": [each for each in shown if each["rows"]]}
        return self.page("panel/report.html", **context)

    def _shown(self, name: str, table: Table, period: Period) -> dict[str, Any]:
        """A table of the page, with the address of its file, and of each row where it leads, its bar and its cells."""
        rows = table.page_rows[:MOST_ROWS]
        return {
            "name": name,
            "table": table,
            "file": f"{self.url(f'{self.url_name}_{name}_export')}?{self.request.GET.urlencode()}",
            "rows": [
                (self.leads_to(name, row, period), table.bar(row) if table.bar else None, table.cells(row))
                for row in rows
            ],
        }


class Account(AccountView, _ReportView):
    """The deliveries of one account by day, or by month if the period is long."""

    url_name = "report"
    tables = ("charges", "days", "drivers", "reasons")

    def report(self, period: Period) -> Report:
        return reports.Report(lambda _period: self.deliveries, period)

    def name_of(self, table: str, period: Period) -> str:
        return f"{table}-{self.environment}-{period}"

    def leads_to(self, name: str, row: Any, period: Period) -> str:
        address = super().leads_to(name, row, period)
        return f"{self.url('report_deliveries')}{address}" if address and period.is_by_day else address


class _OfAll(_ReportView, PermissionRequiredMixin):
    def leads_to(self, name: str, row: Any, period: Period) -> str:
        """Rows of accounts and sellers lead to their reports."""
        page = {"accounts": "report", "sellers": "seller_report"}.get(name)
        if page is None:
            return super().leads_to(name, row, period)
        return f"{self.url(page, row.of.pk, Environment.LIVE)}{_query(period)}"


class AllAccounts(_OfAll):
    """The live deliveries of every account, and the earnings of drivers if they have a share."""

    url_name, title = "reports", gettext_lazy("Report of all accounts")
    tables = (*Account.tables, "accounts", "earnings")
    permission_required = "delivery.change_integrator"

    def report(self, period: Period) -> Report:
        return reports.ReportOfAll(reports.live, period)


class OneSeller(SellerView, _ReportView):
    url_name = "seller_report"
    tables = ("orders", "reasons")

    def report(self, period: Period) -> Report:
        return order_reports.Report(self.orders, period)

    def name_of(self, table: str, period: Period) -> str:
        return self.file_name(super().name_of(table, period))


class AllSellers(_OfAll):
    """The live orders of every seller, and why they were not delivered."""

    url_name, title = "seller_reports", gettext_lazy("Report of all sellers")
    tables = ("sellers", "reasons")
    permission_required = "integration.change_seller"

    def report(self, period: Period) -> Report:
        return order_reports.ReportOfAll(Order.objects.all(), period)


class Deliveries(AccountView):
    """The deliveries that a report's sums are made of."""

    @heavy
    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponseBase:
        return self._list(PeriodForm.of(request.GET))

    def _list(self, form: PeriodForm, **context: Any) -> HttpResponse:
        context |= {"form": form, "title": _("Ended deliveries"), "is_list": True, **_periods(form.period)}
        if period := form.period:
            report = self.report(period)
            page = self._page(period)
            table = reports.table_of_deliveries(page.rows, report.total)
            rows = [(self.url("delivery", row.pk), None, table.cells(row)) for row in page.rows]
            context |= {"report": report, "headline": _sums(report.total), "rows": page.rows, "older": page.next_cursor}
            context["tables"] = [{"name": "deliveries", "table": table, "rows": rows}] if rows else []
        return self.page("panel/report.html", **context)

    def report(self, period: Period) -> reports.Report:
        return reports.Report(lambda _period: self.deliveries, period)

    def _page(self, period: Period) -> Page[Delivery]:
        try:
            return reports.rows(self.deliveries, period, limit=PER_PAGE, cursor=self.request.GET.get("before", ""))
        except InvalidCursor:
            return reports.rows(self.deliveries, period, limit=PER_PAGE)


class DeliveriesExport(Deliveries):
    """One row for each delivery of a report. Their amounts add up to the report's."""

    @heavy
    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponseBase:
        form = PeriodForm.of(request.GET)
        if form.period is None:
            return self._list(form)
        total = self.report(form.period).total
        if total.count > _MOST_ROWS:
            return self._list(form, too_many=total.count, most=_MOST_ROWS)
        _log.info("%s exported %s", actor(request), request.path)
        rows = reports.all_rows(self.deliveries, form.period)
        columns = table_files.of_rows(reports.table_of_deliveries([], total).columns)
        name = f"report-{self.environment}-{form.period}"
        return table_files.response(request, name, columns=columns, rows=rows, most=_MOST_ROWS)


def _sums(total: reports.Line) -> list[Figure]:
    """What the amount of a list of deliveries is made of."""
    kinds = [(name, amount(total)) for name, _look, amount in reports.kinds_of(total)]
    amounts = [Figure(name, money(amount)) for name, amount in [(_("Total"), total.amount), *kinds]]
    return [*amounts, Figure(_("Deliveries that ended"), number(total.count))]
