"""Screens of dispatchers and account staff. Importing the modules registers them; leaves have their own."""

from delivery.admin import deliveries, tariffs, webhooks

__all__ = ["deliveries", "tariffs", "webhooks"]
