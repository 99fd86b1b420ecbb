from datetime import timedelta

import pytest
from django.utils import timezone

from delivery.models import Delivery
from tests.delivery.drivers.phones import Phone, phone
from tests.factories import DeliveryFactory


@pytest.fixture
def ana(db: None) -> Phone:
    """On duty."""
    return phone(name="Ana")


@pytest.fixture
def delivery(ana: Phone) -> Delivery:
    """A route of two stops that Ana has accepted."""
    at = timezone.now() - timedelta(hours=1)
    made: Delivery = DeliveryFactory.create(stops=2, accepted=True, driver=ana.driver, at=at)
    return made
