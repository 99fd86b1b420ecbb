"""The people and the shop of the panel's tests, and a seller's client."""

import pytest
from rest_framework.test import APIClient

from tests.integration.factories import SellerFactory, key_of
from tests.panel.conftest import as_role, person, shop, with_url, world

__all__ = ["as_role", "person", "shop", "with_url", "world"]


@pytest.fixture
def buyer(db):
    """A client that calls area B with a seller's key."""
    return APIClient(HTTP_AUTHORIZATION=f"Basic {key_of(SellerFactory.create())}")
