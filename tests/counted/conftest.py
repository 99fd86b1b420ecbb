"""Owners of rows, and a delivery and an order of which others are copies. The order is of the fixture `seller`."""

from functools import partial

import pytest

from delivery.models import Environment
from tests.counted.moments import NOON, REQUESTED
from tests.counted.rows import delivery, order
from tests.factories import DeliveryFactory, DriverFactory, IntegratorFactory, TokenFactory
from tests.integration.factories import create_order


@pytest.fixture
def shop(db):
    return TokenFactory.create()


@pytest.fixture
def account(shop):
    return shop.integrator


@pytest.fixture
def other(db):
    """Another account."""
    return IntegratorFactory.create()


@pytest.fixture
def driver(db):
    return DriverFactory.create()


@pytest.fixture
def pattern(shop):
    """A live delivery of the account with a stop, offered since `REQUESTED`."""
    return DeliveryFactory.create(token=shop, stops=1, at=REQUESTED)


@pytest.fixture
def of_delivery(pattern):
    """Makes a delivery like it: of the status of its route and values that differ."""
    return partial(delivery, pattern)


@pytest.fixture
def like(seller):
    """An order of the seller."""
    return create_order(seller)


@pytest.fixture
def of_order(like):
    """Makes orders like it, created at noon."""
    return partial(order, like, created_at=NOON)


@pytest.fixture
def in_sandbox():
    return {"environment": Environment.SANDBOX}
