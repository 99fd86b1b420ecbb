from datetime import timedelta

import pytest
from django.utils import timezone

from delivery.actions import deliveries
from delivery.errors import (
    DriverHasOpenRoute,
    DriverNotEligible,
    NoEligibleDriver,
    OfferExpired,
)
from delivery.geo.distance import Point
from delivery.models import Delivery, Environment, Stop, Transition, VehicleType
from tests.factories import BY, DeliveryFactory, DriverFactory

FAR = Point(-22.9068, -43.1729)  # Rio de Janeiro


def accept(delivery, driver):
    return deliveries.accept(delivery=delivery, driver=driver, by=BY, at=timezone.now())


def assert_untouched(delivery):
    delivery = Delivery.objects.get(pk=delivery.pk)
    assert (delivery.status, delivery.route_status, delivery.driver) == ("PENDING", "AVAILABLE", None)
    assert delivery.events.count() == 1
    assert delivery.transitions.count() == 1


@pytest.mark.django_db
class TestAccept:
    def test_gives_the_whole_route_to_the_driver(self):
        delivery, driver = DeliveryFactory.create(), DriverFactory.create()

        accepted = accept(delivery, driver)

        assert (accepted.status, accepted.route_status, accepted.driver) == ("ACCEPT", "ACCEPTED", driver)
        assert [stop.status for stop in Stop.objects.filter(delivery=delivery)] == ["ACCEPT"] * 3
        assert Transition.objects.filter(delivery=delivery, trigger="accept", by=BY).count() == 1

    @pytest.mark.parametrize(
        ("fault", "reason"),
        [
            ({"on_duty": False}, "not on duty"),
            ({"active": False}, "not on duty"),
            ({"vehicle_type": VehicleType.CAR}, "needs a MOTORCYCLE"),
            ({"environment": Environment.SANDBOX}, "sandbox driver cannot take a live delivery"),
            ({"at_point": FAR}, "farther than 15 km"),
        ],
    )
    def test_refuses_an_ineligible_driver_with_the_reason(self, fault, reason):
        delivery, driver = DeliveryFactory.create(), DriverFactory.create(**fault)

        with pytest.raises(DriverNotEligible, match=reason):
            accept(delivery, driver)

        assert_untouched(delivery)

    def test_refuses_a_driver_with_an_open_route(self):
        driver = DriverFactory.create()
        DeliveryFactory.create(accepted=True, driver=driver)
        delivery = DeliveryFactory.create()

        with pytest.raises(DriverHasOpenRoute):
            accept(delivery, driver)

        assert_untouched(delivery)

    def test_is_possible_until_the_deadline(self):
        delivery, driver = DeliveryFactory.create(), DriverFactory.create()
        at = delivery.offer_expires_at - timedelta(microseconds=1)

        assert deliveries.accept(delivery=delivery, driver=driver, by=BY, at=at).driver == driver

    def test_refuses_from_the_deadline_on(self):
        delivery, driver = DeliveryFactory.create(), DriverFactory.create()

        with pytest.raises(OfferExpired):
            deliveries.accept(delivery=delivery, driver=driver, by=BY, at=delivery.offer_expires_at)

        assert_untouched(delivery)

    def test_refuses_an_expired_offer(self):
        delivery = DeliveryFactory.create()
        deliveries.expire(delivery=delivery, by=BY, at=delivery.offer_expires_at)

        with pytest.raises(OfferExpired):
            accept(delivery, DriverFactory.create())

        assert Delivery.objects.get(pk=delivery.pk).driver is None


@pytest.mark.django_db
class TestAcceptWithoutANamedDriver:
    def test_refuses_when_no_driver_is_eligible(self):
        delivery = DeliveryFactory.create()

        with pytest.raises(NoEligibleDriver, match="MOTORCYCLE"):
            accept(delivery, None)

        assert_untouched(delivery)
