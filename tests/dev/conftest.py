"""Servers that the product has not started."""

from tests.config.conftest import external, migrated

__all__ = ["external", "migrated"]
