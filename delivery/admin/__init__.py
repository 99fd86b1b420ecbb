"""Screens of dispatchers and account staff. Importing the modules registers them."""

from delivery.admin import accounts, deliveries, delivery_page, dispatch_rules, drivers, events, tariffs, webhooks

__all__ = ["accounts", "deliveries", "delivery_page", "dispatch_rules", "drivers", "events", "tariffs", "webhooks"]
