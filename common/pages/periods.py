"""Periods of whole days, which reports and working times are about."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cached_property

from django.utils import timezone
from django.utils.translation import gettext as _

_DAY, _HOUR = timedelta(days=1), timedelta(hours=1)
# A period of more days is summed by months.
_MOST_DAYS_BY_DAY = 62


@dataclass(frozen=True)
class Period:
    """Whole days in the service's time zone, from `first` to `last`, both included."""

    first: date
    last: date

    @classmethod
    def month_of(cls, day: date) -> "Period":
        first = day.replace(day=1)
        return cls(first, (first + 31 * _DAY).replace(day=1) - _DAY)

    @property
    def start(self) -> datetime:
        return midnight(self.first)

    @property
    def end(self) -> datetime:
        """The first moment after the period."""
        return midnight(self.last + _DAY)

    def __str__(self) -> str:
        """As names of files have it."""
        return f"{self.first}-{self.last}"

    @property
    def unit(self) -> str:
        """What `dates` are, in the reader's language."""
        return _("Day") if self.is_by_day else _("Month")

    def of_part(self, part: date) -> "Period":
        """The days of one of its `dates`."""
        return (Period(part, part) if self.is_by_day else Period.month_of(part)).within(self)

    @property
    def is_by_day(self) -> bool:
        return (self.last - self.first).days < _MOST_DAYS_BY_DAY

    @cached_property
    def dates(self) -> list[date]:
        """Its days, or the first days of its months if it is long."""
        day, found = self.first if self.is_by_day else self.first.replace(day=1), []
        while day <= self.last:
            found.append(day)
            day = day + _DAY if self.is_by_day else Period.month_of(day).last + _DAY
        return found

    @cached_property
    def hours(self) -> list[datetime]:
        """The beginnings of its hours."""
        return [self.start + number * _HOUR for number in range(round((self.end - self.start) / _HOUR))]

    @property
    def month_before(self) -> "Period":
        return Period.month_of(Period.month_of(self.first).first - _DAY)

    @property
    def month_after(self) -> "Period":
        return Period.month_of(Period.month_of(self.last).last + _DAY)

    def before(self, today: date) -> "Period | None":
        """What comes before it and is as long; before a whole month the month. None of a period that has not begun.

        Of a period that is not over only as many days as have passed of it.
        """
        if self.first > today:
            return None
        month = self.month_before
        is_month = self == Period.month_of(self.first)
        first = month.first if is_month else self.first - (self.last - self.first + _DAY)
        if self.last <= today:
            return Period(first, month.last if is_month else self.first - _DAY)
        return Period(first, min(first + (today - self.first), self.first - _DAY))

    def within(self, other: "Period") -> "Period":
        """The days that both periods have."""
        return Period(max(self.first, other.first), min(self.last, other.last))


def midnight(day: date) -> datetime:
    """The first moment of a day. Where clocks skip midnight this is the moment of the change, which fold 0 gives."""
    return datetime.combine(day, time(), timezone.get_current_timezone())
