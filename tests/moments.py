"""Moments around local midnights, in UTC, as the clock of the product and PostgreSQL give them.

Both half hours around a midnight of America/Sao_Paulo (UTC-3) have the same date in UTC, so code that takes the date of
a moment without converting it takes that of the day after.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

import pytest

HALF_AN_HOUR = timedelta(minutes=30)


@dataclass(frozen=True)
class Midnight:
    """The midnight at which `day` begins."""

    day: date

    @property
    def eve(self) -> date:
        """The day that ends."""
        return self.day - timedelta(days=1)

    @property
    def start(self) -> datetime:
        return datetime.combine(self.day, time(3), UTC)

    @property
    def before(self) -> datetime:
        """23:30 of the eve."""
        return self.start - HALF_AN_HOUR

    @property
    def after(self) -> datetime:
        """0:30 of the day."""
        return self.start + HALF_AN_HOUR


NEW_YEAR = Midnight(date(2027, 1, 1))
at_each_midnight = pytest.mark.parametrize(
    "midnight",
    [
        pytest.param(Midnight(date(2026, 11, 1)), id="month"),
        pytest.param(Midnight(date(2028, 3, 1)), id="leap-day"),
        pytest.param(NEW_YEAR, id="year"),
    ],
)
