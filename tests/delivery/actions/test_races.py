"""Concurrent actions, with real threads on real PostgreSQL."""

from functools import partial
from threading import Event

import pytest
from django.db import transaction
from django.utils import timezone

from delivery.actions import deliveries
from delivery.models import Delivery
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
        return deliveries.expire_overdue(at=delivery.offer_expires_at)

    results = at_once(accept_slowly, expire_meanwhile)

    assert results == [None, 0]
    assert Delivery.objects.get(pk=delivery.pk).route_status == "ACCEPTED"
    assert delivery.events.count() == 2
