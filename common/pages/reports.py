"""A report as data: the figures, charts and tables of a period. One page shows it, and its tables are files too."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from functools import cached_property
from typing import Any, ClassVar, Self

from django.utils import formats, timezone
from django.utils.formats import localize
from django.utils.translation import gettext as _
from django_stubs_ext import StrOrPromise

from common import clock
from common.columns import FILE, PAGE, Column, Place, shown
from common.pages.periods import Period
from common.pages.plots import Chart, Figure, Series

_FEWEST_COLUMNS = 7
# Rows that a page shows. The file has all of them.
MOST_ROWS = 500


def share(percent: float | None) -> str:
    """A percentage as text."""
    return "–" if percent is None else f"{round(percent)} %"  # noqa: RUF001  # as in the tables


def minutes(value: float | None) -> str:
    return "–" if value is None else localize(round(value, 1))  # noqa: RUF001  # as in the tables


def in_tenths(label: Any, get: Callable[[Any], float | None], write: Callable[[Any], str]) -> list[Column]:
    """The columns of a figure: with one decimal place in the file, as `write` has it on the page."""

    def tenths(row: Any) -> Decimal | None:
        value = get(row)
        return None if value is None else Decimal(f"{value:.1f}")

    return [Column(label, tenths, on=FILE), Column(label, get, write, on=PAGE)]


def dated(period: Period, get: str) -> Column:
    """The column of the days of a period, or of its months."""
    form = "SHORT_DATE_FORMAT" if period.is_by_day else "F Y"
    return Column(period.unit, get, lambda day: formats.date_format(day, form))


def days_of(period: Period) -> list[Column]:
    """The columns of a file that name its period."""
    first, last = (lambda _row: period.first), (lambda _row: period.last)
    return [Column(_("First day"), first, on=FILE), Column(_("Last day"), last, on=FILE)]


def where(is_on_page: bool) -> Place:
    """The file has every column, so that it has the same ones at all times."""
    return FILE | PAGE if is_on_page else FILE


@dataclass(frozen=True)
class Table:
    """A table of the page, and what its file has.

    `total`: a row of sums, which the page has below the others. `bar`: the length of the bar in a row's first cell, and
    `look` its colour. `of_page`: the rows that the page shows, if not all.
    """

    title: Any
    columns: Sequence[Column]
    rows: Sequence[Any]
    note: str = ""
    total: Any = None
    bar: Callable[[Any], Any] | None = None
    look: str = "good"
    of_page: Sequence[Any] | None = None

    @property
    def page_columns(self) -> list[Column]:
        return shown(self.columns, PAGE)

    @property
    def headings(self) -> list[tuple[Any, bool]]:
        """Of the page, with whether the column has numbers, which `write` writes. The first one names the rows."""
        return [(column.label, bool(place and column.write)) for place, column in enumerate(self.page_columns)]

    @property
    def page_rows(self) -> Sequence[Any]:
        return self.rows if self.of_page is None else self.of_page

    @property
    def longest(self) -> Any:
        """The length of the longest bar."""
        return max(map(self.bar, self.page_rows), default=0) or 1 if self.bar else 1

    def cells(self, row: Any) -> list[tuple[Any, Any, bool]]:
        """Of a row of the page: the heading, the text, None without a value, and whether it is a number."""
        texts = (column.text(row) for column in self.page_columns)
        return [(name, text, is_number) for text, (name, is_number) in zip(texts, self.headings, strict=True)]

    @property
    def sums(self) -> list[tuple[Any, Any, bool]]:
        unnamed = replace(self, columns=self.page_columns[1:])
        return [(name, text, True) for name, text, _is_number in unnamed.cells(self.total)]


class Report:
    """What a report shows. An area derives its own, whose `of` says of what `reported` a report of a period is.

    `compared`: its figures, by name, with the keyword arguments of `Figure.of`.
    """

    rule: ClassVar[Sequence[Any]]
    empty: Any
    compared: ClassVar[Sequence[tuple[Any, Callable[[Any], Any], Mapping[str, Any]]]]
    lines: Sequence[Any]

    def __init__(self, of: Any, period: Period) -> None:
        self.of, self.period = of, period

    @property
    def tables(self) -> Mapping[str, Callable[[], Table]]:
        """What makes each table, by the name of its file, in their order on the page."""
        raise NotImplementedError

    def charts(self) -> list[Chart]:
        return []

    @cached_property
    def before(self) -> Self | None:
        """That of the period before, if there was something to report."""
        period = self.period.before(timezone.localdate())
        report = None if period is None else type(self)(self.of, period)
        return report if report and report.lines else None

    def figures(self) -> list[Figure]:
        """What it begins with, and how that differs from the period before."""
        return [
            Figure.of(name, get(self), get(self.before) if self.before else None, **options)
            for name, get, options in self.compared
        ]


def hours_until_now(period: Period) -> list[date]:
    return [hour for hour in period.hours if hour <= clock.now()]


def dates_until_today(period: Period, used: Collection[date]) -> list[date]:
    """From the first one that is used, a week at least, so that a new account's chart is not empty space."""
    dates = [day for day in period.dates if day <= timezone.localdate()]
    first = next((number for number, day in enumerate(dates) if day in used), 0)
    return dates[max(0, min(first, len(dates) - _FEWEST_COLUMNS)) :]


def chart(
    title: StrOrPromise,
    series: Sequence[Series],
    values: Callable[[date], Sequence[Any]],
    *,
    parts: Sequence[date],
    period: Period,
    **options: Any,
) -> Chart:
    """`values` of each of `parts`, the hours, days or months of a period, for each of `series`. See `Chart.of`."""
    is_of_hours = bool(parts) and isinstance(parts[0], datetime)
    rows = [(_label(part, period), values(part)) for part in parts]
    return Chart.of(title, heading=_("Hour") if is_of_hours else period.unit, series=series, rows=rows, **options)


def _label(part: date, period: Period) -> str:
    if isinstance(part, datetime):
        return formats.date_format(timezone.localtime(part), "H:i")
    return formats.date_format(part, "d/m" if period.is_by_day else "m/Y")
