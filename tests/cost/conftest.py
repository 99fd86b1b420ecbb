"""Fixtures of both areas and of the panel."""

import pytest
from django.urls import get_resolver
from django.utils import timezone

from common.accounts import Environment
from integration.actions import orders
from integration.lifecycle import Status
from integration.manifests import actions as manifests
from tests.factories import BY, DeliveryFactory, TokenFactory
from tests.integration.conftest import seller, tariff
from tests.integration.factories import create_order, key_of, make_carrier, nfe_xml, send_invoice
from tests.panel.conftest import person, shop, with_url, world

__all__ = ["person", "seller", "shop", "tariff", "with_url", "world"]


@pytest.fixture(scope="session", autouse=True)
def _modules_are_imported() -> None:
    """The modules of all views. Otherwise each child process would import them within its first call."""
    assert get_resolver().url_patterns


def pytest_itemcollected(item: pytest.Item) -> None:
    """A deadline by the clock that a loaded machine keeps. The limits of the tests are CPU seconds."""
    item.add_marker(pytest.mark.timeout(600))


@pytest.fixture
def test_token(token):
    return TokenFactory.create(integrator=token.integrator, sandbox=True)


@pytest.fixture
def headers_for(token, test_token, seller, tariff):
    """Headers of a JSON body for a path of either area."""
    others = {
        "/api/integration/sandbox/": f"Basic {key_of(seller, Environment.SANDBOX)}",
        "/api/integration/carrier/": f"Basic {make_carrier('Of the cost')[1]}",
        "/api/integration/": f"Basic {key_of(seller)}",
        "/api/sandbox/": f"Bearer {test_token.clear_text}",
    }

    def make(path):
        found = (credential for start, credential in others.items() if path.startswith(start))
        authorization = next(found, f"Bearer {token.clear_text}")
        return {"Authorization": authorization, "Content-Type": "application/json"}

    return make


@pytest.fixture
def address_of(token, test_token, seller):
    """A path with an id in the place of {}: of a new delivery, in the sandbox of one that was collected.

    In area B of an order, or of a manifest with the order that the examples of bodies name, which exists, or of an
    invoice.
    """
    new = DeliveryFactory.create(token=token)
    collected = DeliveryFactory.create(token=test_token, collected=True)

    def make(path):
        if path.startswith("/api/integration/"):
            order = create_order(seller, orderId="A-1001")
            if path.startswith("/api/integration/sandbox/"):
                tested = create_order(seller, Environment.SANDBOX)
                orders.move(order=tested, to=Status.COLLECTED, by=BY, at=timezone.now())
                return path.format(tested.code)
            if "orders/{}" in path:
                return path.format(order.code)
            if "invoices/{}" in path:
                return path.format(send_invoice(seller, nfe_xml().encode()).access_key)
            if "manifests/{}" in path:
                if path.endswith("/orders"):  # which adds the order of the example
                    order = create_order(seller, orderId="A-1002")
                at = timezone.now()
                made = manifests.create(seller=seller, environment=Environment.LIVE, orders=[order], by=BY, at=at)
                return path.format(made.pk)
        return path.format(collected.pk if path.startswith("/api/sandbox/") else new.pk)

    return make
