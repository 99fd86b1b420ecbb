"""When a driver was on duty."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from django.db.models import Subquery
from django.db.models.functions import Coalesce

from common.pages.periods import Period
from delivery.models import Driver

# Changes that are read: a driver may press the button for ever.
_MOST_CHANGES = 5_000


@dataclass(frozen=True)
class Span:
    """From going on duty, or midnight, to going off duty, or midnight. `ended` is None while it goes on."""

    began: datetime
    ended: datetime | None


@dataclass(frozen=True)
class Duty:
    """The spans of one day in their order, and how long they are together."""

    spans: list[Span] = field(default_factory=list)
    total: timedelta = timedelta()


def of_days(driver: Driver, days: Sequence[date], *, at: datetime) -> dict[date, Duty]:
    """That of each day, in the service's time zone, until `at`. What was before the first record is not known."""
    whole = Period(min(days), max(days))
    spans = list(_spans(driver, whole.start, whole.end))
    return {day: _within(spans, Period(day, day), at=at) for day in days}


def _spans(driver: Driver, start: datetime, end: datetime) -> Iterator[Span]:
    changes = driver.duty_changes.filter(at__lt=end)
    before = changes.filter(at__lt=start).order_by("-at").values("at")[:1]
    since = changes.filter(at__gte=Coalesce(Subquery(before), start)).order_by("at", "pk")
    read = list(since.values_list("on_duty", "at")[:_MOST_CHANGES])
    began = None
    for on_duty, at in read:
        if on_duty:
            began = began or at
        elif began:
            yield Span(began, at)
            began = None
    if began:
        # What follows more changes than are read is not known.
        yield Span(began, read[-1][1] if len(read) == _MOST_CHANGES else None)


def _within(spans: Sequence[Span], period: Period, *, at: datetime) -> Duty:
    found, total = [], timedelta()
    for span in spans:
        began, ended = max(span.began, period.start), min(span.ended or at, at, period.end)
        if began < ended:
            goes_on = span.ended is None and ended == at
            found.append(Span(began, None if goes_on else ended))
            total += ended - began
    return Duty(found, total)
