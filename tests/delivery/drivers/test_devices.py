"""Drivers' log-in links, phones and duty."""

from datetime import timedelta

import pytest
from django.utils import timezone

from delivery.drivers import devices as driver_devices
from delivery.errors import LogInLinkUnusable, RouteStillOpen
from delivery.models import Driver, DriverDevice
from tests.factories import BY, DeliveryFactory, DriverFactory

NOW = timezone.now()


@pytest.fixture
def ana(db):
    return DriverFactory.create(name="Ana", on_duty=False)


def log_in(driver, *, at=NOW):
    token = driver_devices.issue_link(driver=driver, by=BY, at=at)
    return driver_devices.log_in(token=token, phone="Chrome on Android", language="pt-br", at=at)


class TestLogIn:
    def test_makes_a_phone_that_is_found_by_its_session(self, ana):
        bia = DriverFactory.create()
        link_of_bia = driver_devices.issue_link(driver=bia, by=BY, at=NOW)

        device, session = log_in(ana)

        assert driver_devices.find(session, at=NOW) == device
        assert driver_devices.find_link(link_of_bia, at=NOW).driver == bia
        assert (device.driver, device.name, device.created_by) == (ana, "Chrome on Android", BY)
        assert device.expires_at == NOW + timedelta(days=30)

    @pytest.mark.parametrize("text", ["", "rota_driver_x", "x" * 101, "\0"])
    def test_finds_no_phone_for_another_text(self, ana, text):
        log_in(ana)

        assert driver_devices.find(text, at=NOW) is None

    @pytest.mark.parametrize(
        ("spoil", "after", "why"),
        [
            (
                lambda _driver, token: driver_devices.log_in(token=token, phone="", language="en", at=NOW),
                timedelta(0),
                "used already",
            ),
            (lambda driver, _token: driver_devices.issue_link(driver=driver, by=BY, at=NOW), timedelta(0), "expired"),
            (lambda _driver, _token: Driver.objects.update(active=False), timedelta(0), "expired"),
            (lambda _driver, _token: None, timedelta(minutes=15), "expired"),
        ],
        ids=["used", "replaced", "driver left", "old"],
    )
    def test_is_refused_with_a_link_that_has_ended(self, ana, spoil, after, why):
        token = driver_devices.issue_link(driver=ana, by=BY, at=NOW)
        spoil(ana, token)
        phones = DriverDevice.objects.count()

        with pytest.raises(LogInLinkUnusable, match=why):
            driver_devices.log_in(token=token, phone="", language="en", at=NOW + after)

        assert DriverDevice.objects.count() == phones

    @pytest.mark.parametrize("token", ["", "rota_in_unknown", "x" * 5000])
    def test_is_refused_with_an_unknown_link(self, ana, token):
        with pytest.raises(LogInLinkUnusable, match="not complete"):
            driver_devices.log_in(token=token, phone="", language="en", at=NOW)


class TestSession:
    def test_ends_after_its_time(self, ana):
        _device, session = log_in(ana)

        assert driver_devices.find(session, at=NOW + timedelta(days=30)) is None

    def test_ends_when_a_dispatcher_ends_it(self, ana):
        device, session = log_in(ana)
        driver_devices.go_on_duty(device=device)

        driver_devices.end(device=device, by=BY, at=NOW)

        assert driver_devices.find(session, at=NOW) is None
        ana.refresh_from_db()
        assert not ana.on_duty

    def test_ends_for_a_driver_who_has_left(self, ana):
        _device, session = log_in(ana)
        ana.active = False
        ana.save()

        assert driver_devices.find(session, at=NOW) is None

    def test_that_ends_leaves_the_holder_of_a_route_on_duty(self, ana):
        device, _session = log_in(ana)
        driver_devices.go_on_duty(device=device)
        DeliveryFactory.create(accepted=True, driver=ana)

        driver_devices.end(device=device, by=BY, at=NOW)

        ana.refresh_from_db()
        assert ana.on_duty

    def test_that_ends_on_a_phone_that_does_not_report_leaves_the_driver_on_duty(self, ana):
        (reporting, _session), (other, _other_session) = log_in(ana), log_in(ana)
        driver_devices.go_on_duty(device=reporting)

        driver_devices.end(device=other, by=BY, at=NOW)

        ana.refresh_from_db()
        assert ana.on_duty
        assert DriverDevice.objects.get(reports_positions=True) == reporting


class TestDuty:
    def test_lets_this_phone_report_in_place_of_the_drivers_others_and_of_nobody_elses(self, ana):
        phones = [log_in(driver)[0] for driver in (DriverFactory.create(), ana, ana)]

        for phone in phones:
            driver_devices.go_on_duty(device=phone)

        of_bia, _first, second = phones
        assert set(DriverDevice.objects.filter(reports_positions=True)) == {of_bia, second}

    def test_does_not_end_while_the_driver_holds_a_route(self, ana):
        device, _session = log_in(ana)
        driver_devices.go_on_duty(device=device)
        DeliveryFactory.create(accepted=True, driver=ana)

        with pytest.raises(RouteStillOpen):
            driver_devices.go_off_duty(driver=ana)

        ana.refresh_from_db()
        assert ana.on_duty
