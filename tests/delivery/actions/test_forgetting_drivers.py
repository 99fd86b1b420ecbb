"""Drivers and their positions are forgotten."""

from datetime import timedelta

import pytest
from django.utils import timezone

from delivery.actions import deliveries, drivers, forgetting_drivers
from delivery.actions import forgetting as forgetting_deliveries
from delivery.models import (
    Driver,
    DriverPosition,
    LatestPosition,
    Transition,
)
from tests.delivery.personal_data import JOAO, MARIA, everything, requested, texts_of
from tests.delivery.proofs import photo_folder  # noqa: F401  # a fixture
from tests.factories import BY, PICKUP, DriverFactory

pytestmark = pytest.mark.django_db


class TestForgettingADriver:
    def test_leaves_a_driver_who_works_for_us(self):
        DriverFactory.create(phone=MARIA, at_point=PICKUP)
        before = everything()

        assert forgetting_drivers.forget_one_of(MARIA) == 0

        assert everything() == before
        assert DriverPosition.objects.exists()

    def test_erases_name_number_and_positions_of_one_who_does_not(self):
        driver, other = DriverFactory.create(phone=MARIA, name="Maria", at_point=PICKUP), DriverFactory.create()
        mine = requested(JOAO, accepted=True, driver=driver)
        deliveries.collect(delivery=mine, by="driver Maria", at=timezone.now())
        deliveries.deliver_point(delivery=mine, point="B", by="driver Maria", at=timezone.now())
        theirs = requested(JOAO, accepted=True, driver=other)
        Driver.objects.filter(pk=driver.pk).update(active=False)
        others = everything(without=[mine])["delivery_webhookevent"]

        assert [forgetting_drivers.forget_one_of(MARIA) for _run in range(2)] == [1, 0]

        driver.refresh_from_db()
        assert (driver.name, driver.phone) == ("–", "")  # as pages show what is not there
        assert not DriverPosition.objects.exists()
        assert not LatestPosition.objects.exists()
        assert "Maria" not in texts_of(mine).replace("Maria Souza", "")
        assert Transition.objects.filter(delivery=mine, by="driver").count() == 2
        assert everything(without=[mine])["delivery_webhookevent"] == others
        assert theirs.driver == other


class TestForgetPositions:
    def test_deletes_those_that_are_old(self):
        driver, now = DriverFactory.create(), timezone.now()
        gone = DriverFactory.create()
        kept, older = now - timedelta(days=30), now - timedelta(days=30, microseconds=1)
        for at, who in ((older, driver), (kept, driver), (older, gone)):
            drivers.set_position(driver=who, point=PICKUP, by=BY, at=at)

        forgetting_deliveries.forget_positions(at=now)

        assert DriverPosition.objects.get().recorded_at == kept
        assert LatestPosition.objects.get().driver == driver

    def test_keeps_all_where_it_is_switched_off(self, settings):
        settings.FORGET_POSITION_DAYS = 0
        drivers.set_position(
            driver=DriverFactory.create(), point=PICKUP, by=BY, at=timezone.now() - timedelta(days=999)
        )

        forgetting_deliveries.forget_positions(at=timezone.now())

        assert DriverPosition.objects.exists()
