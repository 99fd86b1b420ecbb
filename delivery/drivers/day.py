"""When a driver was on duty on each of the last days, and what the driver has done.

Days are those of the service's time zone; moments are told in the driver's.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from django.db.models import Subquery
from django.db.models.functions import Coalesce, TruncDate
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.generic import View

from common import clock
from common.pages.periods import Period
from delivery import reports
from delivery.drivers import session, state
from delivery.models import Delivery, Driver, Tariff
from delivery.reports import Work

_SHOWN = 7
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


def latest(driver: Driver, *, at: datetime) -> list[Work]:
    """Of today and the six days before, newest first; each route counts on the day of its end."""
    today = timezone.localtime(at).date()
    days = [today - timedelta(days=number) for number in range(_SHOWN)]
    period = Period(days[-1], today)
    ended = Delivery.objects.filter(driver=driver).ended(period.start, period.end)
    found = reports.work(ended.annotate(day=TruncDate("closed_at")), by="day")
    return [found.get(day) or Work(day) for day in days]


class DayView(View):
    """Hours, routes, how many were on time and, where drivers see amounts, earnings; today and the days before."""

    http_method_names = ["get"]

    def get(self, request: HttpRequest) -> HttpResponse:
        now = clock.now()
        device = session.device_of(request, at=now)
        if device is None:
            return redirect("driver_app:shell")
        worked = latest(device.driver, at=now)
        hours = of_days(device.driver, [work.of for work in worked], at=now)
        today, *before = [(work, hours[work.of]) for work in worked]
        context = {
            "today": _shown(*today),
            "before": [_shown(work, duty) for work, duty in before if work.routes or duty.spans],
            "sees_amounts": Tariff.pays_drivers(),
        }
        with timezone.override(state.zone(device.driver)):
            return render(request, "driver_app/day.html", context)


def _shown(work: Work, duty: Duty) -> dict[str, Any]:
    return {"work": work, "duty": duty}
