"""Fixtures of both areas and of the panel."""

import pytest

from tests.factories import DeliveryFactory
from tests.integration.conftest import seller, tariff
from tests.integration.factories import key_of
from tests.panel.conftest import person, shop, with_url, world

__all__ = ["person", "seller", "shop", "tariff", "with_url", "world"]


@pytest.fixture
def headers_for(token, seller, tariff):
    """Headers of a JSON body for a path of either area."""
    area_a, area_b = f"Bearer {token.clear_text}", f"Basic {key_of(seller)}"

    def make(path):
        authorization = area_b if path.startswith("/api/integration/") else area_a
        return {"Authorization": authorization, "Content-Type": "application/json"}

    return make


@pytest.fixture
def address_of(token):
    """A path with a delivery's id in the place of {}."""
    delivery = DeliveryFactory.create(token=token)
    return lambda path: path.format(delivery.pk)
