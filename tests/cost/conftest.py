"""Fixtures of both areas and of the panel."""

import pytest
from django.urls import get_resolver

from tests.factories import DeliveryFactory, TokenFactory
from tests.integration.conftest import seller, tariff
from tests.integration.factories import key_of
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
    others = {"integration": f"Basic {key_of(seller)}", "sandbox": f"Bearer {test_token.clear_text}"}

    def make(path):
        authorization = others.get(path.split("/")[2], f"Bearer {token.clear_text}")
        return {"Authorization": authorization, "Content-Type": "application/json"}

    return make


@pytest.fixture
def address_of(token, test_token):
    """A path with the id of a delivery in the place of {}: a new one, or in the sandbox one that was collected."""
    new = DeliveryFactory.create(token=token)
    collected = DeliveryFactory.create(token=test_token, collected=True)
    return lambda path: path.format(collected.pk if path.startswith("/api/sandbox/") else new.pk)
