"""Business days of Brazil: Monday to Friday without the national holidays. Pure.

Holidays of states and cities are not known, nor days off that a decree grants, such as Carnival.
"""

from datetime import date, timedelta
from functools import cache

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
    good_friday = _easter(year) - 2 * _DAY
    return frozenset({good_friday, *(date(year, month, day) for month, day in _FIXED)})


def _easter(year: int) -> date:
    """Easter Sunday of the Gregorian calendar, by the algorithm of Meeus, Jones and Butcher."""
    century, of_century = divmod(year, 100)
    golden = year % 19
    correction = (8 * century + 13) // 25
    epact = (19 * golden + century - century // 4 - correction + 15) % 30
    weekday = (32 + 2 * (century % 4) + 2 * (of_century // 4) - epact - of_century % 4) % 7
    shift = (golden + 11 * epact + 22 * weekday) // 451
    month, day = divmod(epact + weekday - 7 * shift + 114, 31)
    return date(year, month, day + 1)
