"""How figures of reports are written."""

from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from common import clock
from common.columns import Column
from common.pages.periods import Period
from common.pages.reports import Table, dates_until_today, hours_until_now, in_tenths, minutes, share

NOVEMBER = Period(date(2026, 11, 1), date(2026, 11, 30))


@pytest.mark.parametrize(
    ("value", "as_share", "as_minutes", "in_file"),
    [
        (12.34, "12 %", "12.3", Decimal("12.3")),
        (0.0, "0 %", "0.0", Decimal("0.0")),
        (None, "\N{EN DASH}", "\N{EN DASH}", None),
    ],
)
def test_zero_is_a_figure_and_none_is_not(value, as_share, as_minutes, in_file):
    tenths, _written = in_tenths("", lambda row: row, minutes)

    assert (share(value), minutes(value), tenths.value(value)) == (as_share, as_minutes, in_file)


@pytest.mark.parametrize(
    ("used", "first"), [([], 1), ([1], 1), ([2, 25], 2), ([20], 20), ([25], 20), ([26], 20), ([28], 1)]
)
def test_a_chart_begins_with_the_first_day_that_is_used_and_has_a_week_until_today(monkeypatch, used, first):
    """The 28th is after today, so that it is in no chart."""
    monkeypatch.setattr(timezone, "localdate", lambda: date(2026, 11, 26))

    dates = dates_until_today(NOVEMBER, {date(2026, 11, day) for day in used})

    assert dates == [date(2026, 11, day) for day in range(first, 27)]


@pytest.mark.parametrize(("now", "last"), [("14:00:00", 14), ("14:59:59", 14), ("23:59:59", 23), ("00:00:00", 0)])
def test_a_chart_of_a_day_ends_with_the_hour_that_has_begun(monkeypatch, now, last):
    monkeypatch.setattr(clock, "now", lambda: datetime.fromisoformat(f"2026-11-26T{now}-03:00"))
    day = date(2026, 11, 26)

    hours = hours_until_now(Period(day, day))

    assert hours == Period(day, day).hours[: last + 1]


def test_the_longest_bar_is_that_of_the_rows_that_are_shown():
    table = Table("", [Column("", str)], [1, 2, 9], bar=float, of_page=[1, 2])

    assert (table.longest, Table("", [], [0], bar=float).longest, Table("", [], []).longest) == (2, 1, 1)


class TestPeriod:
    @pytest.mark.parametrize(
        ("period", "parts"),
        [
            (
                Period(date(2026, 11, 30), date(2026, 12, 1)),
                [("2026-11-30", "2026-11-30"), ("2026-12-01", "2026-12-01")],
            ),
            (
                Period(date(2026, 11, 15), date(2027, 1, 20)),
                [("2026-11-15", "2026-11-30"), ("2026-12-01", "2026-12-31"), ("2027-01-01", "2027-01-20")],
            ),
        ],
    )
    def test_consists_of_its_days_or_of_what_it_has_of_its_months(self, period, parts):
        found = [period.of_part(each) for each in period.dates]

        assert [(str(each.first), str(each.last)) for each in found] == parts
        assert period.is_by_day or [day.day for day in period.dates] == [1] * len(parts)
        assert found[0].start == period.start
        assert found[-1].end == period.end

    def test_has_the_hours_from_its_first_midnight_to_before_its_last(self):
        day = Period(date(2026, 11, 26), date(2026, 11, 26))

        assert day.hours == [day.start + timedelta(hours=number) for number in range(24)]
        assert day.hours[-1] + timedelta(hours=1) == day.end
