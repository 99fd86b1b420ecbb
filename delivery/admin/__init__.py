"""Screens of dispatchers and account staff. Importing the modules registers them."""

from delivery.accounts import admin as accounts
from delivery.admin import deliveries, tariffs, webhooks
from delivery.drivers import admin as drivers
from delivery.hours import admin as service_hours

__all__ = ["accounts", "deliveries", "drivers", "service_hours", "tariffs", "webhooks"]
