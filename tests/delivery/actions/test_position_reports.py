"""Positions that phones report."""

from datetime import timedelta

import pytest
from django.utils import timezone

from delivery.actions import driver_devices, drivers, position_reports
from delivery.errors import NotOnDuty, OtherPhoneReports
from delivery.geo.distance import Point
from delivery.geo.position_filter import Reason, Reported
from delivery.models import DriverDevice, DriverPosition
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory

NOW = timezone.now()
FAR = Point(-23.461414, -46.655881)


def phone(driver, *, on_duty=True):
    token = driver_devices.issue_link(driver=driver, by=BY, at=NOW)
    device, session = driver_devices.log_in(token=token, phone="", language="en", at=NOW)
    if on_duty:
        driver_devices.go_on_duty(device=device)
    return driver_devices.find(session, at=NOW)


def reported(point=PICKUP, *, ago=0.0):
    return Reported(point, NOW - timedelta(seconds=ago), 8.0)


@pytest.mark.django_db
class TestRecord:
    def test_records_what_can_be_true_and_counts_the_rest(self):
        device = phone(DriverFactory.create(name="Ana"))

        outside = [reported(Point(0, 0), ago=8), reported(Point(0, 1), ago=7)]
        dropped = position_reports.record(
            device=device, reported=[reported(ago=10), reported(FAR, ago=5), *outside, reported()], at=NOW
        )

        assert dropped == {Reason.TOO_FAST: 1, Reason.OUTSIDE: 2}
        assert [position.point for position in DriverPosition.objects.all()] == [PICKUP, PICKUP]
        assert DriverPosition.objects.latest("id").recorded_by == "driver Ana"
        device.refresh_from_db()
        assert device.dropped_positions == 3

    def test_compares_with_the_report_before(self):
        device = phone(DriverFactory.create())
        position_reports.record(device=device, reported=[reported(ago=10)], at=NOW)

        dropped = position_reports.record(device=device, reported=[reported(FAR)], at=NOW)

        assert dropped == {Reason.TOO_FAST: 1}

    def test_believes_an_exact_position_after_an_inexact_one(self):
        """As from the radio cell of a network first and from satellites then."""
        device = phone(DriverFactory.create())
        position_reports.record(device=device, reported=[Reported(FAR, NOW - timedelta(seconds=10), 900.0)], at=NOW)

        dropped = position_reports.record(device=device, reported=[reported()], at=NOW)

        assert not dropped
        assert device.driver.latest_position().point == device.driver.latest.point == PICKUP

    def test_refuses_off_duty(self):
        driver = DriverFactory.create(on_duty=False)
        device = phone(driver, on_duty=False)

        with pytest.raises(NotOnDuty):
            position_reports.record(device=device, reported=[reported()], at=NOW)

        assert not DriverPosition.objects.exists()

    def test_records_off_duty_while_the_driver_holds_a_route(self):
        driver = DriverFactory.create()
        device = phone(driver)
        DeliveryFactory.create(accepted=True, driver=driver)
        drivers.set_duty([driver], on_duty=False)
        device.driver.refresh_from_db()

        assert position_reports.record(device=device, reported=[reported()], at=NOW) == {}

        assert DriverPosition.objects.get().point == PICKUP

    def test_begins_with_the_first_phone_of_a_driver_whom_a_dispatcher_puts_on_duty(self):
        driver = DriverFactory.create(on_duty=True)
        first, second = phone(driver, on_duty=False), phone(driver, on_duty=False)

        position_reports.record(device=first, reported=[reported(ago=10)], at=NOW)
        with pytest.raises(OtherPhoneReports):
            position_reports.record(device=second, reported=[reported()], at=NOW)

        assert DriverDevice.objects.get(reports_positions=True) == first
        assert DriverPosition.objects.count() == 1

    @pytest.mark.parametrize(
        "ended", [{"revoked_at": NOW, "revoked_by": BY}, {"expires_at": NOW}], ids=["log-out", "age"]
    )
    def test_passes_from_a_phone_that_is_logged_out_to_another(self, ended):
        driver = DriverFactory.create()
        former, new = phone(driver), phone(driver, on_duty=False)
        DriverDevice.objects.filter(pk=former.pk).update(**ended)

        position_reports.record(device=new, reported=[reported()], at=NOW)

        assert DriverDevice.objects.get(reports_positions=True) == new

    def test_refuses_the_phone_that_does_not_report(self):
        driver = DriverFactory.create()
        first = phone(driver)
        phone(driver)
        first.refresh_from_db()

        with pytest.raises(OtherPhoneReports):
            position_reports.record(device=first, reported=[reported()], at=NOW)

        assert not DriverPosition.objects.exists()
