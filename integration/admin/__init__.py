"""Admin screens of area B. Importing the modules registers them."""

from integration.admin import freight, invoices, manifests, orders, sellers

__all__ = ["freight", "invoices", "manifests", "orders", "sellers"]
