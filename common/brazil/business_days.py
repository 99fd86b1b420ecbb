"""Business days of Brazil: Monday to Friday without the national holidays. Pure.

Holidays of states and cities are not known, nor days off that a decree grants, such as Carnival.
"""

from datetime import date, timedelta
from functools import cache

from dateutil.easter import easter

_DAY = timedelta(days=1)
_SATURDAY = 5
# Month and day: laws 662/1949, 6.802/1980 and 14.759/2023.
_FIXED = ((1, 1), (4, 21), (5, 1), (9, 7), (10, 12), (11, 2), (11, 15), (11, 20), (12, 25))


def after(day: date, count: int) -> date:
    """The day that is `count` business days after `day`, which itself need not be one."""
    for _number in range(count):
        day += _DAY
        while not _is_business_day(day):
            day += _DAY
    return day


def is_holiday(day: date) -> bool:
    return day in _holidays(day.year)


def _is_business_day(day: date) -> bool:
    return day.weekday() < _SATURDAY and not is_holiday(day)


@cache
def _holidays(year: int) -> frozenset[date]:
    good_friday = easter(year) - 2 * _DAY
    return frozenset({good_friday, *(date(year, month, day) for month, day in _FIXED)})
