"""Fixtures of both areas and of the panel."""

from tests.integration.conftest import seller, tariff
from tests.panel.conftest import person, shop, with_url, world

__all__ = ["person", "seller", "shop", "tariff", "with_url", "world"]
