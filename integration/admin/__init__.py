"""Admin screens of area B. Importing the modules registers them."""

from integration.admin import carriers, freight, invoices, manifests, orders, sellers, webhooks

__all__ = ["carriers", "freight", "invoices", "manifests", "orders", "sellers", "webhooks"]
