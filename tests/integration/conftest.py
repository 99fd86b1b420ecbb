"""Fixtures of area B."""

from collections.abc import Callable

import pytest
from rest_framework.test import APIClient

from integration.models import Seller
from tests.integration.factories import OTHER_COMPANY, SellerFactory, key_of, load_tariff


@pytest.fixture
def seller(db: None) -> Seller:
    """A seller with one company."""
    return SellerFactory.create()


@pytest.fixture
def other_seller(db: None) -> Seller:
    """Another seller, whose company has an alphanumeric CNPJ."""
    return SellerFactory.create(documents=(OTHER_COMPANY,))


@pytest.fixture
def seller_client() -> Callable[[Seller], APIClient]:
    """A client that calls with a new key of a seller."""

    def make(seller: Seller) -> APIClient:
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Basic {key_of(seller)}")
        return client

    return make


@pytest.fixture
def api(seller: Seller, seller_client: Callable[[Seller], APIClient]) -> APIClient:
    """A client that calls with a key of `seller`."""
    return seller_client(seller)


@pytest.fixture
def tariff(db: None) -> None:
    load_tariff()
