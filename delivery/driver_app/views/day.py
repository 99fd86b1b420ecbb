"""The driver's day."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.generic import View

from common import clock
from delivery.driver_app import days, session


class Day(View):
    """Routes, kilometres and earnings of today and the days before."""

    http_method_names = ["get"]

    def get(self, request: HttpRequest) -> HttpResponse:
        now = clock.now()
        device = session.device_of(request, at=now)
        if device is None:
            return redirect("driver_app:shell")
        today, *before = days.latest(device.driver, at=now)
        return render(request, "driver_app/day.html", {"today": today, "before": before})
