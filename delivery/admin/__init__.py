"""Screens of dispatchers and account staff. Importing the modules registers them."""

from delivery.admin import accounts, deliveries, drivers, service_hours, tariffs, webhooks

__all__ = ["accounts", "deliveries", "drivers", "service_hours", "tariffs", "webhooks"]
