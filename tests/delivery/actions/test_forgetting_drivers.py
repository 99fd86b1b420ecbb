"""Drivers and their positions are forgotten."""

import json
from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.utils import timezone

from delivery.actions import deliveries, drivers
from delivery.actions import forgetting as forgetting_deliveries
from delivery.models import (
    Driver,
    DriverPosition,
    LatestPosition,
    Transition,
)
from tests.delivery.personal_data import JOAO, MARIA, everything, forget_driver, requested, texts_of
from tests.factories import BY, PICKUP, DriverFactory

pytestmark = pytest.mark.django_db


class TestForgettingADriver:
    def test_leaves_a_driver_who_works_for_us(self):
        DriverFactory.create(phone=MARIA, at_point=PICKUP)
        before = everything()

        assert forget_driver(MARIA) == 0

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

        assert [forget_driver(MARIA) for _run in range(2)] == [1, 0]

        driver.refresh_from_db()
        assert (driver.name, driver.phone) == ("–", "")  # as pages show what is not there
        assert not DriverPosition.objects.exists()
        assert not LatestPosition.objects.exists()
        assert "Maria" not in texts_of(mine).replace("Maria Souza", "")
        assert Transition.objects.filter(delivery=mine, by="driver").count() == 2
        assert everything(without=[mine])["delivery_webhookevent"] == others
        assert theirs.driver == other

    def test_leaves_nothing_in_deliveries_that_passed_to_others_nor_of_former_names(self):
        driver = DriverFactory.create(phone=MARIA, name="Maria Lima")
        other = DriverFactory.create(phone="+55 11 95555-0005", name="Rui Alves")
        now, route = timezone.now(), requested(JOAO, name="João Dias")
        deliveries.accept(delivery=route, driver=driver, by="driver Maria Lima", at=now)
        deliveries.release(delivery=route, by=BY, at=now)
        deliveries.accept(delivery=route, driver=other, by="driver Rui Alves", at=now)
        deliveries.reassign(delivery=route, driver=driver, by=BY, at=now)
        Driver.objects.filter(pk=driver.pk).update(name="Maria Costa", phone="+55 11 94444-0004")
        deliveries.reassign(delivery=route, driver=other, by=BY, at=now)
        deliveries.collect(delivery=route, by="driver Rui Alves", at=now)
        deliveries.deliver_point(delivery=route, point="B", by="driver Rui Alves", at=now)
        Driver.objects.filter(pk=driver.pk).update(active=False)
        before = texts_of(route)
        assert all(text in before for text in ("Maria Lima", "97777-0001"))

        assert forget_driver("+55 11 94444-0004") == 1

        left = texts_of(route)
        assert [text for text in ("Maria", "Lima", "Costa", "97777", "94444") if text in left] == []
        told = [
            json.loads(body)["driver"]["name"]
            for body in route.events.order_by("sequence").values_list("body", flat=True)
        ]
        assert told == ["", "", "", "Rui Alves", "", "Rui Alves", "Rui Alves", "Rui Alves"]
        by = list(route.transitions.values_list("by", flat=True))
        assert by == [BY, "driver", BY, "driver Rui Alves", BY, BY, "driver Rui Alves", "driver Rui Alves"]

    def test_waits_for_a_route_that_another_driver_has_taken_over(self):
        driver = DriverFactory.create(phone=MARIA)
        route = requested(JOAO, accepted=True, driver=driver)
        deliveries.reassign(
            delivery=route, driver=DriverFactory.create(phone="+55 11 95555-0005"), by=BY, at=timezone.now()
        )
        Driver.objects.filter(pk=driver.pk).update(active=False)
        before = everything()

        assert forget_driver(MARIA) == 0

        assert everything() == before

    def test_leaves_no_name_in_the_log_of_the_admin(self, admin_client):
        driver = DriverFactory.create(phone=MARIA, name="Maria Lima", at_point=PICKUP)
        route = requested(JOAO, name="João Dias")
        page = f"/admin/delivery/delivery/{route.pk}/move/accept/"
        admin_client.post(page, {"driver": str(driver.pk)})
        admin_client.post("/admin/delivery/driver/", {"action": "go_off_duty", "_selected_action": str(driver.pk)})
        deliveries.cancel(delivery=route, reason="", by=BY, at=timezone.now())
        Driver.objects.filter(pk=driver.pk).update(active=False)
        assert LogEntry.objects.filter(object_repr="Maria Lima").exists()

        forget_driver(MARIA)

        assert LogEntry.objects.count() == 2
        assert "Maria" not in str(list(LogEntry.objects.values()))


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
