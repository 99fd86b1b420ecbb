"""Dispatchers' pages about drivers: who is on duty, log-in links for their phones, and ending a phone's session."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import segno
from django.contrib import messages
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _

from common import clock
from common.actors import actor
from delivery import lifecycle
from delivery.drivers import devices as driver_devices
from delivery.models import Delivery, Driver, DriverDevice
from panel.base import DispatcherView
from panel.dispatch.on_duty import AtWork, on_time, with_work
from panel.filters import DriverFilter, numbered

_SHOWN = 20


class Drivers(DispatcherView):
    """Those who work for us, those whose next step is due first at the top."""

    def get(self, request: HttpRequest) -> HttpResponse:
        now = clock.now()
        own = Driver.objects.filter(active=True, simulated_for=None)
        held: QuerySet[Any] = Delivery.objects.filter(driver=OuterRef("pk"), route_status__in=lifecycle.HELD).with_due()
        rows = with_work(own, at=now).annotate(due_at=Subquery(held.values("due_at")[:1]))
        listed = numbered(DriverFilter, request.GET, rows)
        listed["rows"].object_list = [AtWork(driver, now) for driver in listed["rows"]]
        return self.page("panel/drivers.html", on_duty=own.filter(on_duty=True).count(), **listed)


class _OfDriver(DispatcherView):
    """Base of the views of one driver. None is simulated."""

    def driver(self, key: UUID) -> Driver:
        own = Driver.objects.filter(active=True, simulated_for=None)
        return get_object_or_404(with_work(own, at=clock.now()), pk=key)

    def show(self, driver: Driver, **more: Any) -> HttpResponse:
        now = clock.now()
        return self.page(
            "panel/driver.html",
            in_zone_of=driver,
            driver=driver,
            work=AtWork(driver, now),
            counts=on_time(driver, at=now),
            phones=_logged_in().filter(driver=driver),
            log_ins=latest(driver, at=now),
            **more,
        )


class DriverPage(_OfDriver):
    """One driver: the next stop, since when on duty, the share on time, the phones."""

    def get(self, _request: HttpRequest, driver: UUID) -> HttpResponse:
        return self.show(self.driver(driver))


class Link(_OfDriver):
    """Issues a log-in link, and shows it once, as text and QR code."""

    def post(self, request: HttpRequest, driver: UUID) -> HttpResponse:
        found = self.driver(driver)
        token = driver_devices.issue_link(driver=found, by=actor(request), at=clock.now())
        link = request.build_absolute_uri(reverse("driver_app:log_in", args=[token]))
        # Made of our own link; without the attributes that the page's policy would refuse.
        code = segno.make(link, error="m").svg_inline(scale=5, border=2, omitsize=True, svgclass="qr", lineclass=None)
        return self.show(found, link=link, code=mark_safe(code))  # noqa: S308  # nosec B308 B703  # made by segno


class EndSession(_OfDriver):
    """Logs one phone of a driver out."""

    def post(self, request: HttpRequest, driver: UUID, device: UUID) -> HttpResponse:
        found = self.driver(driver)
        phone = get_object_or_404(found.devices.select_related("driver"), pk=device)
        driver_devices.end(device=phone, by=actor(request), at=clock.now())
        messages.success(request, _("%(phone)s is logged out.") % {"phone": phone})
        return redirect("panel:driver", found.pk)


def _logged_in() -> QuerySet[DriverDevice]:
    return DriverDevice.objects.filter(revoked_at=None, expires_at__gt=clock.now())


@dataclass(frozen=True)
class Entry:
    """`by`: an actor as histories record it; `phone` is empty where none was involved."""

    at: datetime
    text: str
    by: str
    phone: str = ""


def latest(driver: Driver, *, at: datetime) -> list[Entry]:
    """The latest twenty, newest first."""
    entries = []
    for link in driver.log_in_links.order_by("-created_at")[:_SHOWN]:
        if link.used_at is not None:
            text = _("Log-in link issued and used")
        elif link.expires_at > at:
            text = _("Log-in link issued, not used yet")
        else:
            text = _("Log-in link issued, expired unused")
        entries.append(Entry(link.created_at, text, link.created_by))
    ended = driver.devices.exclude(revoked_at=None).order_by("-revoked_at")[:_SHOWN]
    entries += [
        Entry(device.revoked_at, _("Phone logged out"), device.revoked_by, str(device))
        for device in ended
        if device.revoked_at
    ]
    return sorted(entries, key=lambda entry: entry.at, reverse=True)[:_SHOWN]
