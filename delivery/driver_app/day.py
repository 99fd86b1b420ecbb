"""When a driver was on duty on each of the last days, and what the driver has done.

Days are those of the service's time zone; moments are told in the driver's.
"""

from datetime import datetime, timedelta

from django.db.models.functions import TruncDate
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.generic import View

from common import clock
from common.pages.periods import Period
from delivery import duty, reports
from delivery.driver_app import session, state
from delivery.models import Delivery, Driver, Tariff
from delivery.reports import Work

_SHOWN = 7


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
        hours = duty.of_days(device.driver, [work.of for work in worked], at=now)
        today, *before = [{"work": work, "duty": hours[work.of]} for work in worked]
        context = {"today": today, "before": before, "sees_amounts": Tariff.pays_drivers()}
        with timezone.override(state.zone(device.driver)):
            return render(request, "driver_app/day.html", context)
