"""Positions of drivers as a delivery shows them."""

from datetime import timedelta

import pytest
from django.utils import timezone

from delivery.actions import deliveries, drivers
from delivery.models import Delivery
from tests.factories import BY, DROPOFFS, PICKUP, DeliveryFactory

NOW = timezone.now()


def record(driver, point, at):
    drivers.set_position(driver=driver, point=point, by=BY, at=at)


@pytest.mark.django_db
class TestDriverPosition:
    def test_of_a_closed_route_is_the_latest_up_to_its_end(self):
        delivery = DeliveryFactory.create(collected=True, stops=1)
        end = NOW + timedelta(minutes=5)
        record(delivery.driver, PICKUP, end - timedelta(microseconds=1))
        record(delivery.driver, DROPOFFS[0], end)
        record(delivery.driver, DROPOFFS[1], end + timedelta(microseconds=1))

        closed = deliveries.deliver_point(delivery=delivery, point="B", by=BY, at=end)

        assert closed.driver_position is not None
        assert closed.driver_position.point == DROPOFFS[0]

    def test_of_an_open_route_is_the_latest(self):
        delivery = DeliveryFactory.create(accepted=True)
        record(delivery.driver, DROPOFFS[1], NOW + timedelta(minutes=5))
        record(delivery.driver, PICKUP, NOW)

        latest = Delivery.objects.get(pk=delivery.pk).driver_position
        assert latest is not None
        assert latest.point == DROPOFFS[1]

    @pytest.mark.parametrize(("seconds", "age"), [(-1, 0), (0, 0), (0.999, 0), (1, 1), (90.5, 90)])
    def test_has_an_age_in_whole_seconds_that_is_never_negative(self, seconds, age):
        delivery = DeliveryFactory.create(accepted=True)
        record(delivery.driver, PICKUP, NOW)

        latest = Delivery.objects.get(pk=delivery.pk).driver_position
        assert latest is not None
        assert latest.age_seconds(at=NOW + timedelta(seconds=seconds)) == age
