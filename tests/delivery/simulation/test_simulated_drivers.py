"""Which drivers take simulated deliveries."""

from datetime import timedelta

import pytest
from django.utils import timezone

from delivery.actions import deliveries
from delivery.models import Driver, Environment
from tests.delivery.simulated import advance, request, statuses
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory, TokenFactory

pytestmark = pytest.mark.django_db

P, A, C, D, _F = "PENDING", "ACCEPT", "COLLECTED", "DELIVERED", "FAILED"


@pytest.fixture
def now():
    return timezone.now()


class TestDrivers:
    def test_are_used_again_for_the_same_account(self, now):
        first = request(at=now)
        advance()
        second = request(at=now + timedelta(minutes=5), token=first.token)

        advance()

        first.refresh_from_db()
        second.refresh_from_db()
        assert first.driver == second.driver
        assert Driver.objects.count() == 1

    def test_are_two_for_two_deliveries_at_once(self, now):
        first = request(at=now)
        second = request(at=now, token=first.token)

        advance()

        assert statuses(first) == statuses(second) == [P, A, C, C, D]
        assert Driver.objects.count() == 2

    def test_of_one_account_never_serve_another(self, now):
        first = request(at=now)
        advance()
        second = request(at=now + timedelta(minutes=5))

        advance()

        first.refresh_from_db()
        second.refresh_from_db()
        assert first.driver != second.driver

    def test_of_one_account_are_not_offered_to_another(self, now):
        first = request(at=now)
        advance()
        other = DeliveryFactory.create(token=TokenFactory.create(sandbox=True), at=now)

        accepted = deliveries.accept(delivery=other, driver=None, by=BY, at=now + timedelta(minutes=5))

        first.refresh_from_db()
        assert accepted.driver != first.driver
        assert accepted.driver_position is None

    def test_with_newer_positions_are_left_out(self, now):
        """The stale position would not be the latest one, and the earlier trip's would be shown instead."""
        first = request(at=now)
        advance()
        second = request("sim-stale-1", at=now + timedelta(minutes=4), token=first.token)

        advance(until=now + timedelta(minutes=4, seconds=10))

        first.refresh_from_db()
        second.refresh_from_db()
        assert second.driver is not None
        assert first.driver != second.driver

    def test_of_the_live_environment_are_never_touched(self, now):
        live = DriverFactory.create(at_point=PICKUP)
        delivery = request(at=now)

        advance()

        delivery.refresh_from_db()
        assert Driver.objects.get(deliveries=delivery).environment == Environment.SANDBOX
        assert live.positions.count() == 1
        assert not live.deliveries.exists()

    def test_created_by_people_are_left_to_people(self, now):
        made = DriverFactory.create(environment=Environment.SANDBOX, at_point=PICKUP)
        delivery = request(at=now)

        advance()

        delivery.refresh_from_db()
        assert delivery.driver != made
        assert made.positions.count() == 1
