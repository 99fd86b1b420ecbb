"""Phones and dispatchers that do something at the same moment, with real threads on real PostgreSQL."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction
from django.utils import timezone

from delivery.actions import deliveries, drivers
from delivery.drivers import devices as driver_devices
from delivery.errors import RouteStillOpen
from delivery.models import Driver, DriverDevice, Transition
from tests.delivery.drivers.phones import Phone, move, now, phone
from tests.delivery.locking import wait_for_a_lock_waiter
from tests.factories import BY, DriverFactory

pytestmark = pytest.mark.django_db(transaction=True)


def send(sender, *moves):
    """A call that sends the moves and returns their outcomes."""
    return lambda: sender.post("moves/", {"sentAt": now(), "moves": moves}).json()["outcomes"]


class TestEndingASession:
    def test_locks_the_driver_before_the_phone(self):
        """As going on duty does; in the other order the two could deadlock."""
        phone()
        device = DriverDevice.objects.get()
        with ThreadPoolExecutor(1) as pool, transaction.atomic():
            Driver.objects.select_for_update(no_key=True).get(pk=device.driver_id)
            ending = pool.submit(end, device)
            wait_for_a_lock_waiter()

            DriverDevice.objects.select_for_update(nowait=True).get(pk=device.pk)

        assert ending.result(10) is None
        device.refresh_from_db()
        assert device.revoked_by == BY

    def test_loses_no_moves_and_makes_none_twice(self, ana, delivery):
        """The answer to the first moves was lost with the session; the phone sends them again after a new log-in."""
        first, second = move(delivery), move(delivery, "deliver", point="B")
        done = send(ana, first)()
        driver_devices.end(device=DriverDevice.objects.get(), by=BY, at=timezone.now())
        refused = ana.post("moves/", {"sentAt": now(), "moves": [first, second]})

        again = send(Phone(ana.driver), first, second)()

        assert refused.status_code == 401
        assert again[0] == done[0]
        assert [outcome["done"] for outcome in again] == [True, True]
        assert Transition.objects.filter(trigger__in=["collect", "deliver"]).count() == 2


class TestDriverWhoHasLeft:
    def test_is_logged_out_after_a_dispatcher_has_moved_the_route(self, ana, delivery):
        left = Driver.objects.get(pk=ana.driver.pk)
        left.active = False
        with pytest.raises(RouteStillOpen):
            drivers.save(driver=left, by=BY, at=timezone.now())
        other = DriverFactory.create()
        deliveries.reassign(delivery=delivery, driver=other, by=BY, at=timezone.now())
        drivers.save(driver=left, by=BY, at=timezone.now())

        refused = ana.post("moves/", {"sentAt": now(), "moves": [move(delivery)]})

        assert (refused.status_code, refused.json()["code"]) == (401, "logged_out")
        delivery.refresh_from_db()
        assert (delivery.route_status, delivery.driver) == ("ACCEPTED", other)


def end(device):
    try:
        driver_devices.end(device=device, by=BY, at=timezone.now())
    finally:
        connection.close()
