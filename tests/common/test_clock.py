"""What expires or is deleted by its age does not depend on one machine's clock."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.utils import timezone

from common import clock
from delivery import tasks
from delivery.lifecycle import RouteStatus
from delivery.models import Delivery
from tests.factories import DeliveryFactory

pytestmark = pytest.mark.django_db
LATER = timedelta(days=1)  # than any offer lasts


@pytest.fixture
def move_clock(monkeypatch):
    def move(by):
        monkeypatch.setattr(clock, "timezone", SimpleNamespace(now=lambda: timezone.now() + by))

    return move


@pytest.mark.parametrize("seconds", [-25, 0, 25])
def test_a_small_difference_is_accepted(move_clock, seconds):
    move_clock(timedelta(seconds=seconds))

    assert abs(clock.agreed_now() - timezone.now() - timedelta(seconds=seconds)) < timedelta(seconds=4)


@pytest.mark.parametrize("seconds", [-35, 35, 3600])
def test_a_larger_one_is_not(move_clock, seconds):
    move_clock(timedelta(seconds=seconds))

    with pytest.raises(clock.ClocksDiffer, match=r"differ by \d+ s"):
        clock.agreed_now()


def test_a_worker_whose_clock_is_ahead_expires_no_offer(move_clock):
    delivery = DeliveryFactory.create()
    move_clock(LATER)

    with pytest.raises(clock.ClocksDiffer):
        tasks.expire_offers()

    assert Delivery.objects.get(pk=delivery.pk).route_status == RouteStatus.AVAILABLE
