from datetime import date, timedelta

import pytest

from common.brazil import business_days
from tests.cases import in_turn


class TestAfter:
    @in_turn(
        ("day", "count", "expected"),
        [
            ("2026-11-24", 0, "2026-11-24"),
            ("2026-11-24", 3, "2026-11-27"),
            ("2026-11-27", 1, "2026-11-30"),  # over a weekend
            ("2026-11-28", 1, "2026-11-30"),  # from a Saturday
            ("2026-11-19", 1, "2026-11-23"),  # Consciência Negra is a Friday
            ("2026-12-24", 1, "2026-12-28"),
            ("2026-12-31", 1, "2027-01-04"),
            ("2026-04-02", 1, "2026-04-06"),  # Good Friday
            ("2027-03-25", 1, "2027-03-29"),  # Good Friday, in March
            ("2026-02-13", 1, "2026-02-16"),  # Carnival is no holiday by law
        ],
    )
    def test_skips_weekends_and_national_holidays(self, day, count, expected):
        assert business_days.after(date.fromisoformat(day), count) == date.fromisoformat(expected)

    def test_skips_nothing_but_good_friday_and_the_holidays_of_the_laws(self):
        first = date(2027, 1, 1)
        days = [first + timedelta(days=number) for number in range(365)]

        assert [f"{day:%d/%m}" for day in days if business_days.is_holiday(day)] == [
            "01/01", "26/03", "21/04", "01/05", "07/09", "12/10", "02/11", "15/11", "20/11", "25/12",
        ]  # fmt: skip  # a list

    @pytest.mark.parametrize("friday", ["2000-04-21", "2018-03-30", "2025-04-18", "2038-04-23", "2049-04-16"])
    def test_knows_good_friday_of_any_year(self, friday):
        before = date.fromisoformat(friday)

        assert business_days.after(before.replace(day=before.day - 1), 1) > before
