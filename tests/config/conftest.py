"""The people and the shop of the panel's tests."""

from tests.panel.conftest import as_role, person, shop, with_url, world

__all__ = ["as_role", "person", "shop", "with_url", "world"]
