"""Concurrent actions, with real threads on real PostgreSQL."""

import json
from functools import partial
from threading import Event

import pytest
from django.db import transaction
from django.utils import timezone

from delivery.actions import deliveries, offers
from delivery.errors import DriverHasOpenRoute, MoveRefused, RouteTaken, StopNotOpen
from delivery.models import Delivery, WebhookEvent
from tests.delivery.locking import wait_for_a_lock_waiter
from tests.factories import BY, DeliveryFactory, DriverFactory

ROUNDS = range(5)


def accept(delivery, driver):
    return partial(deliveries.accept, delivery=delivery, driver=driver, by=BY, at=timezone.now())


def cancel(delivery):
    return partial(deliveries.cancel, delivery=delivery, reason="", by=BY, at=timezone.now())


def errors(results):
    return [type(result) for result in results if isinstance(result, Exception)]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("round_", ROUNDS)
class TestConcurrentActions:
    def test_one_of_many_drivers_gets_the_route(self, round_, at_once):
        delivery = DeliveryFactory.create()
        candidates = DriverFactory.create_batch(6)

        results = at_once(*(accept(delivery, driver) for driver in candidates))

        assert errors(results) == [RouteTaken] * 5
        assert WebhookEvent.objects.filter(delivery=delivery).count() == 2

    def test_a_driver_gets_one_of_two_routes(self, round_, at_once):
        driver = DriverFactory.create()
        first, second = DeliveryFactory.create(), DeliveryFactory.create()

        results = at_once(accept(first, driver), accept(second, driver))

        assert errors(results) == [DriverHasOpenRoute]
        assert Delivery.objects.filter(driver=driver).count() == 1

    def test_the_first_eligible_of_two_routes_are_two_drivers(self, round_, at_once):
        candidates = DriverFactory.create_batch(2)
        first, second = DeliveryFactory.create(), DeliveryFactory.create()

        results = at_once(accept(first, None), accept(second, None))

        assert {delivery.driver for delivery in results} == set(candidates)

    def test_cancel_and_accept_leave_a_consistent_delivery(self, round_, at_once):
        delivery, driver = DeliveryFactory.create(), DriverFactory.create()

        accepted, cancelled = at_once(accept(delivery, driver), cancel(delivery))

        assert cancelled.route_status == "CANCELLED"
        taken = not isinstance(accepted, MoveRefused)
        assert cancelled.driver == (driver if taken else None)
        reported = json.loads(delivery.events.order_by("sequence").last().body)["driver"]["name"]
        assert reported == (driver.name if taken else "")
        assert isinstance(accepted, MoveRefused) or accepted.route_status == "ACCEPTED"
        fresh = Delivery.objects.get(pk=delivery.pk)
        assert (fresh.status, fresh.route_status) == ("FAILED", "CANCELLED")
        expected = 2 if isinstance(accepted, MoveRefused) else 3
        assert list(fresh.events.order_by("sequence").values_list("sequence", flat=True)) == [*range(1, expected + 1)]

    def test_two_cancels_have_the_effect_of_one(self, round_, at_once):
        delivery = DeliveryFactory.create()

        results = at_once(cancel(delivery), cancel(delivery))

        assert errors(results) == []
        assert delivery.events.count() == 2

    def test_a_point_is_delivered_once(self, round_, at_once):
        delivery = DeliveryFactory.create(collected=True, stops=2)
        deliver = partial(deliveries.deliver_point, delivery=delivery, point="B", by=BY, at=timezone.now())

        results = at_once(deliver, deliver, deliver)

        assert errors(results) == [StopNotOpen] * 2
        assert delivery.events.count() == 4


@pytest.mark.django_db(transaction=True)
def test_a_cancel_that_waited_for_an_accept_reports_its_driver(at_once):
    delivery, driver = DeliveryFactory.create(), DriverFactory.create()
    accepted = Event()

    def accept_slowly():
        with transaction.atomic():
            accept(delivery, driver)()
            accepted.set()
            wait_for_a_lock_waiter()

    def cancel_meanwhile():
        accepted.wait(5)
        return cancel(delivery)()

    _nothing, cancelled = at_once(accept_slowly, cancel_meanwhile)

    assert (cancelled.driver, cancelled.route_status) == (driver, "CANCELLED")
    reported = json.loads(delivery.events.get(sequence=3).body)
    assert reported["driver"]["name"] == driver.name


@pytest.mark.django_db(transaction=True)
def test_an_expiry_that_waited_for_an_accept_changes_and_counts_nothing(at_once):
    delivery, driver = DeliveryFactory.create(), DriverFactory.create()
    accepted = Event()

    def accept_slowly():
        with transaction.atomic():
            accept(delivery, driver)()
            accepted.set()
            wait_for_a_lock_waiter()

    def expire_meanwhile():
        assert accepted.wait(10)
        return offers.expire_overdue(at=delivery.offer_expires_at)

    results = at_once(accept_slowly, expire_meanwhile)

    assert results == [None, 0]
    assert Delivery.objects.get(pk=delivery.pk).route_status == "ACCEPTED"
    assert delivery.events.count() == 2
