"""Admin screens of area B. Importing the modules registers them; leaves have their own."""

from integration.admin import orders, webhooks

__all__ = ["orders", "webhooks"]
