"""Admin screens of area B. Importing the modules registers them; leaves have their own."""

from integration.admin import invoices, orders, webhooks

__all__ = ["invoices", "orders", "webhooks"]
