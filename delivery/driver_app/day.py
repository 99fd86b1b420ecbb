"""What a driver has done on each of the last days, in the service's time zone."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal

from django.db.models.functions import TruncDate
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.generic import View

from common import clock
from delivery import reports
from delivery.driver_app import session
from delivery.models import Delivery, Driver

SHOWN = 7


@dataclass(frozen=True)
class Day:
    """`earned`: the driver's share in reais, None where no share is set."""

    day: date
    routes: int = 0
    distance_km: Decimal = Decimal(0)
    earned: Decimal | None = None


def latest(driver: Driver, *, at: datetime) -> list[Day]:
    """Today and the six days before, newest first; each route counts on the day of its end.

    Of a cancelled delivery the driver has the share of the fee.
    """
    today = timezone.localtime(at).date()
    period = reports.Period(today - timedelta(days=SHOWN - 1), today)
    ended = Delivery.objects.filter(driver=driver).ended(period.start, period.end)
    rows = reports.work(ended.annotate(day=TruncDate("closed_at")), by="day")
    has_share = reports.driver_share() > 0
    found = {
        row["day"]: Day(row["day"], row["routes"], row["km"], row["earned"] if has_share else None) for row in rows
    }
    none = Decimal(0) if has_share else None
    return [found.get(day) or Day(day, earned=none) for day in (today - timedelta(days=n) for n in range(SHOWN))]


class DayView(View):
    """Routes, kilometres and earnings of today and the days before."""

    http_method_names = ["get"]

    def get(self, request: HttpRequest) -> HttpResponse:
        now = clock.now()
        device = session.device_of(request, at=now)
        if device is None:
            return redirect("driver_app:shell")
        today, *before = latest(device.driver, at=now)
        return render(request, "driver_app/day.html", {"today": today, "before": before})
