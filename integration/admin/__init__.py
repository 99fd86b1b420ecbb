"""Admin screens of area B. Importing the modules registers them."""

from integration.admin import freight, invoices, orders, sellers, webhooks

__all__ = ["freight", "invoices", "orders", "sellers", "webhooks"]
