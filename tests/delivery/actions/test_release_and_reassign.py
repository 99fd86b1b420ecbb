"""Release and reassign: a route changes its driver before pickup, and at no other time."""

import json
from datetime import timedelta
from functools import partial

import pytest
from django.conf import settings
from django.utils import timezone

from delivery.actions import deliveries
from delivery.errors import DriverHasOpenRoute, DriverNotEligible, NoEligibleDriver
from delivery.models import Delivery, Stop, WebhookEvent
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory


def stored(delivery):
    found = Delivery.objects.get(pk=delivery.pk)
    orders = Stop.objects.filter(delivery=delivery).order_by("index").values_list("status", flat=True)
    return found.status, found.route_status, found.driver, list(orders)


def last_body(delivery):
    return json.loads(WebhookEvent.objects.filter(delivery=delivery).latest("sequence").body)


@pytest.mark.django_db
class TestRelease:
    def test_offers_the_route_again_for_as_long_as_a_new_one(self):
        delivery, at = DeliveryFactory.create(accepted=True, stops=2), timezone.now() + timedelta(minutes=50)

        released = deliveries.release(delivery=delivery, by=BY, at=at)

        assert stored(delivery) == ("PENDING", "AVAILABLE", None, ["PENDING", "PENDING"])
        assert released.offer_expires_at == at + settings.OFFER_TTL

    def test_tells_the_integrator_that_no_driver_is_assigned(self):
        delivery = DeliveryFactory.create(accepted=True)

        deliveries.release(delivery=delivery, by=BY, at=timezone.now())

        body = last_body(delivery)
        assert (body["status"], body["route"]["status"]) == ("PENDING", "AVAILABLE")
        assert body["driver"]["name"] == ""
        assert WebhookEvent.objects.filter(delivery=delivery).count() == 3

    def test_lets_the_same_driver_take_the_route_again(self):
        driver = DriverFactory.create()
        delivery = DeliveryFactory.create(accepted=True, driver=driver)
        deliveries.release(delivery=delivery, by=BY, at=timezone.now())

        deliveries.accept(delivery=delivery, driver=driver, by=BY, at=timezone.now())

        assert stored(delivery)[1:3] == ("ACCEPTED", driver)


@pytest.mark.django_db
class TestReassign:
    def test_gives_the_route_to_the_driver_that_is_named(self):
        delivery, other = DeliveryFactory.create(accepted=True, stops=1), DriverFactory.create(name="Bia")

        deliveries.reassign(delivery=delivery, driver=other, by=BY, at=timezone.now())

        assert stored(delivery) == ("ACCEPT", "ACCEPTED", other, ["ACCEPT"])
        assert last_body(delivery)["driver"]["name"] == "Bia"

    def test_takes_the_nearest_free_driver_and_frees_the_one_before(self):
        first, second = DriverFactory.create(at_point=PICKUP), DriverFactory.create(at_point=PICKUP)
        delivery = DeliveryFactory.create(accepted=True, driver=first)

        deliveries.reassign(delivery=delivery, driver=None, by=BY, at=timezone.now())

        assert stored(delivery)[2] == second
        assert DeliveryFactory.create(accepted=True, driver=first).driver == first

    def test_refuses_the_driver_who_holds_the_route(self):
        delivery = DeliveryFactory.create(accepted=True)

        with pytest.raises(DriverNotEligible, match="holds this route already"):
            deliveries.reassign(delivery=delivery, driver=delivery.driver, by=BY, at=timezone.now())

    def test_keeps_the_driver_when_nobody_else_is_free(self):
        delivery = DeliveryFactory.create(accepted=True)

        with pytest.raises(NoEligibleDriver):
            deliveries.reassign(delivery=delivery, driver=None, by=BY, at=timezone.now())

        assert stored(delivery)[2] == delivery.driver


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("round_", range(2))
class TestAtOnce:
    def test_two_drivers_who_are_swapped_are_both_refused(self, round_, at_once):
        first, second = (DeliveryFactory.create(accepted=True) for _route in range(2))
        at = timezone.now()

        results = at_once(
            partial(deliveries.reassign, delivery=first, driver=second.driver, by=BY, at=at),
            partial(deliveries.reassign, delivery=second, driver=first.driver, by=BY, at=at),
        )

        assert [type(result) for result in results] == [DriverHasOpenRoute] * 2


@pytest.mark.django_db
class TestFormerDriver:
    def test_is_kept_with_the_change_that_ended_it(self):
        first, second = DriverFactory.create(), DriverFactory.create()
        delivery = DeliveryFactory.create(accepted=True, driver=first)

        deliveries.reassign(delivery=delivery, driver=second, by=BY, at=timezone.now())
        deliveries.release(delivery=delivery, by=BY, at=timezone.now())

        changes = list(delivery.transitions.values_list("trigger", "former_driver"))
        assert changes == [("request", None), ("accept", None), ("reassign", first.pk), ("release", second.pk)]
