"""Positions that drivers' phones report."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import F

from delivery import metrics
from delivery.actions import driver_devices, drivers
from delivery.actions.drivers import Fix
from delivery.errors import NotOnDuty
from delivery.geo.position_filter import Limits, Reason, Reported, plausible
from delivery.models import Delivery, DriverDevice, LatestPosition


@transaction.atomic
def record(*, device: DriverDevice, reported: Sequence[Reported], at: datetime) -> Counter[Reason]:
    """Record the positions that can be true. Returns the number of the others by reason, which is also counted.

    Raises NotOnDuty, so that nobody is followed in their free time, unless the driver holds a route; and
    OtherPhoneReports.
    """
    driver = device.driver
    if not driver.on_duty and not Delivery.objects.held_by(driver).exists():
        raise NotOnDuty("You are off duty, so your position is not recorded.")
    if not device.reports_positions:
        driver_devices.report_positions(device=device, at=at)
    _lock(device)
    latest = driver.latest_position()
    last = Reported(latest.point, latest.recorded_at, latest.accuracy_m, latest.told_at) if latest else None
    limits = Limits(settings.SERVICE_AREA, settings.DRIVER_MAX_SPEED_KMH)
    kept, dropped = plausible(reported, last=last, limits=limits, at=at)
    if kept:
        fixes = [Fix(driver.pk, each.point, each.at, each.accuracy_m, each.told_at) for each in kept]
        drivers.record_positions(fixes, by=f"driver {driver.name}")
    if dropped:
        DriverDevice.objects.filter(pk=device.pk).update(dropped_positions=F("dropped_positions") + dropped.total())
    metrics.positions_on_commit(kept=len(kept), dropped={str(reason): number for reason, number in dropped.items()})
    return dropped


def _lock(device: DriverDevice) -> None:
    """Serialise reports of a driver until the transaction ends, so that each is compared with the one before."""
    if LatestPosition.objects.select_for_update().filter(pk=device.driver_id).first() is None:
        # There is no row yet that could be locked.
        DriverDevice.objects.select_for_update(no_key=True).get(pk=device.pk)
