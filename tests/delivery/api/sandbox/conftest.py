"""A test token and its delivery."""

import pytest

from tests.factories import DeliveryFactory, TariffFactory, TokenFactory


@pytest.fixture
def token():
    TariffFactory.create()
    return TokenFactory.create(sandbox=True)


@pytest.fixture
def delivery(token):
    return DeliveryFactory.create(token=token)
