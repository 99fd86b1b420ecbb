"""Owners of rows, and a delivery, an order and an invoice of which others are copies."""

from functools import partial

import pytest

from delivery.models import Environment
from tests.counted.moments import NOON, REQUESTED
from tests.counted.rows import copy, delivery, order
from tests.factories import DeliveryFactory, DriverFactory, IntegratorFactory, TokenFactory
from tests.integration.factories import SellerFactory, access_key, create_order, nfe_xml, send_invoice


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
def seller(db):
    return SellerFactory.create()


@pytest.fixture
def stranger(db):
    """Another seller."""
    return SellerFactory.create(documents=())


@pytest.fixture
def like(seller):
    """An order of the seller."""
    return create_order(seller)


@pytest.fixture
def of_order(like):
    """Makes orders like it, created at noon."""
    return partial(order, like, created_at=NOON)


@pytest.fixture
def of_invoice(seller):
    """Makes invoices of an order that there is not."""
    invoice, numbers = send_invoice(seller, nfe_xml(items=["X"]).encode(), at=NOON), iter(range(100, 999))
    return lambda **values: copy(invoice, **{"access_key": access_key(next(numbers)), "number": "9", **values})


@pytest.fixture
def in_sandbox():
    return {"environment": Environment.SANDBOX}
