"""Admin screens of area B. Importing the modules registers them."""

from integration.admin import carriers, freight, invoices, orders, sellers

__all__ = ["carriers", "freight", "invoices", "orders", "sellers"]
