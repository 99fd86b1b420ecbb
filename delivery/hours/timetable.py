"""Hours of service: the spans of a week and of days off, and when it is open next. Pure.

Hours are told by the clocks on the wall. Where these are set back, a span begins and ends at the first of the two
moments at which they show its time; where they are set forward over its time, at the moment of the change.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from typing import NamedTuple
from zoneinfo import ZoneInfo

from common.brazil import business_days

HORIZON = timedelta(days=60)  # how far `opens_at` looks
MOST_SPANS = 6  # in a day
MOST_DAYS_OFF = 100
_DAY = timedelta(days=1)
_MINUTES = 1440  # of a day
_LONGEST_TIME = len("00:00")
_LONGEST_SPANS = 200
_LONGEST_NAME = 60
_CUT_DATE = len("2026-12-24") + 1  # a longer text is no date, which this much of it tells


class InvalidSpan(ValueError):
    """A part of a text that is no span, as it was written."""


class SpansOverlap(ValueError):
    """Two spans of a day overlap, or there are more than MOST_SPANS."""


class InvalidDayOff(ValueError):
    """A line that is no day off: without a date or a name, of a date that another line has, or one too many."""


class Span(NamedTuple):
    """Minutes since midnight. `closes` is over 1,440 for a span that ends on the next day, at most 24 h later."""

    opens: int
    closes: int

    @property
    def is_all_day(self) -> bool:
        return self == (0, _MINUTES)

    @property
    def ends_next_day(self) -> bool:
        return self.closes > _MINUTES

    def __str__(self) -> str:
        end = self.closes if self.closes == _MINUTES else self.closes % _MINUTES
        return f"{_written(self.opens)}-{_written(end)}"


Spans = tuple[Span, ...]


class Day(NamedTuple):
    """The spans that begin on a date. `name`: of its day off."""

    spans: Spans
    name: str = ""
    is_holiday: bool = False


@dataclass(frozen=True)
class Timetable:
    """Hours of service. `week`: the spans of Monday to Sunday; `days_off`: those of dates that have others, or none."""

    zone: ZoneInfo
    week: Sequence[Spans]
    days_off: Mapping[date, Day] = field(default_factory=dict)
    closed_on_holidays: bool = False

    def day(self, day: date) -> Day:
        if found := self.days_off.get(day):
            return found
        if self.closed_on_holidays and business_days.is_holiday(day):
            return Day((), is_holiday=True)
        return Day(self.week[day.weekday()])

    def opens_at(self, at: datetime) -> datetime | None:
        """The first moment from `at` on at which it is open: `at` itself if it is. None if none is within HORIZON."""
        day, latest = at.astimezone(self.zone).date() - _DAY, at + HORIZON  # a span of yesterday may go on
        for number in range(HORIZON.days + 3):
            for span in self.day(day + number * _DAY).spans:
                opens, closes = (self._moment(day + number * _DAY, minutes) for minutes in span)
                if opens > latest:
                    return None
                if at < closes and opens < closes:
                    return max(opens, at)
        return None

    def days(self, at: datetime, count: int) -> list[tuple[date, Day]]:
        """So many days from that of `at` on."""
        first = at.astimezone(self.zone).date()
        return [(day, self.day(day)) for day in (first + number * _DAY for number in range(count))]

    def _moment(self, day: date, minutes: int) -> datetime:
        """The first moment at which clocks show so many minutes after the midnight of `day`, or more."""
        wall = datetime.combine(day, time()) + timedelta(minutes=minutes)
        first, second = (wall.replace(tzinfo=self.zone, fold=fold).astimezone(UTC) for fold in (0, 1))
        if first <= second:
            return first
        # The clocks skip this time: `second` is before they are set forward, and `first` after it.
        before = second.astimezone(self.zone).utcoffset()

        def is_changed(number: int) -> bool:
            return (second + timedelta(minutes=number)).astimezone(self.zone).utcoffset() != before

        skipped = range((first - second) // timedelta(minutes=1))
        return second + timedelta(minutes=bisect_left(skipped, True, key=is_changed))


def parse_spans(text: str) -> Spans:
    """The spans of `08:00-12:00, 13:00-18:00`, or `22:00-02:00`, in their order. Raises InvalidSpan or SpansOverlap."""
    if len(text) > _LONGEST_SPANS:
        raise SpansOverlap
    spans = sorted(map(_span, text.split(","))) if text.strip() else []
    if len(spans) > MOST_SPANS or any(later.opens < earlier.closes for earlier, later in pairwise(spans)):
        raise SpansOverlap
    return tuple(spans)


def _span(text: str) -> Span:
    opens, _dash, closes = text.replace("\N{EN DASH}", "-").partition("-")
    try:
        begin, end = _minutes(opens.strip()), _minutes(closes.strip())
    except ValueError as error:
        raise InvalidSpan(text.strip()) from error
    if begin in (_MINUTES, end):
        raise InvalidSpan(text.strip())
    return Span(begin, end if end > begin else end + _MINUTES)


def _minutes(text: str) -> int:
    """Of `08:00`, `8:00` or `24:00`. Raises ValueError."""
    if text == "24:00":
        return _MINUTES
    if len(text) > _LONGEST_TIME:
        raise ValueError(text)
    found = datetime.strptime(text, "%H:%M")  # noqa: DTZ007  # a time of day
    return found.hour * 60 + found.minute


def _written(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"


def write_spans(spans: Spans) -> str:
    """The text that `parse_spans` reads, and the database accepts."""
    return ", ".join(map(str, spans))


def parse_days_off(text: str) -> dict[date, Day]:
    """The days of lines such as `2026-12-24 08:00-12:00 Christmas Eve`, or `25/12/2026 Christmas` without hours.

    Raises InvalidDayOff, InvalidSpan or SpansOverlap.
    """
    found: dict[date, Day] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        day, _space, rest = line.partition(" ")
        parsed, name = _date(day, line), _name(rest)
        if not 0 < len(name) <= _LONGEST_NAME or parsed in found or len(found) == MOST_DAYS_OFF:
            raise InvalidDayOff(line[:_LONGEST_NAME])
        found[parsed] = Day(parse_spans(rest.strip().removesuffix(name).strip()), name)
    return dict(sorted(found.items()))


def _date(text: str, line: str) -> date:
    for form in ("%Y-%m-%d", "%d/%m/%Y"):
        try:
            return datetime.strptime(text[:_CUT_DATE], form).date()  # noqa: DTZ007  # a date
        except ValueError:
            continue
    raise InvalidDayOff(line[:_LONGEST_NAME])


def _name(text: str) -> str:
    """What follows the spans, which begin with a digit and have a colon."""
    words = text.split()
    spans = 0
    while spans < len(words) and words[spans][0].isdigit() and ":" in words[spans]:
        spans += 1
    return text.strip().split(None, spans)[-1] if spans < len(words) else ""


def write_days_off(days: Mapping[date, Day]) -> str:
    """The text that `parse_days_off` reads, and the database accepts."""
    return "\n".join(" ".join(filter(None, (f"{day}", write_spans(off.spans), off.name))) for day, off in days.items())
