"""How pages write hours of service."""

from datetime import datetime

from django.template.defaultfilters import date
from django.utils.translation import gettext

from common.brazil.formats import day_and_month
from delivery.hours.timetable import Day, Span, Timetable


def week_of(timetable: Timetable, *, at: datetime, days: int) -> list[tuple[str, str]]:
    """Name and hours of so many days from that of `at` on."""
    return [(f"{date(day, 'D')} {day_and_month(day)}", _hours_of(hours)) for day, hours in timetable.days(at, days)]


def _span(span: Span) -> str:
    if span.is_all_day:
        return gettext("all day")
    text = str(span).replace("-", "\N{EN DASH}")
    return gettext("%(span)s of the next day") % {"span": text} if span.ends_next_day else text


def _hours_of(day: Day) -> str:
    """Each span in a line of its own where lines are kept, else beside each other."""
    text = ",\n".join(map(_span, day.spans)) or gettext("closed")
    reason = gettext("national holiday") if day.is_holiday else day.name
    return f"{text} ({reason})" if reason else text
