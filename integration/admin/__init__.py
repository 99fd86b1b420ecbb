"""Admin screens of area B. Importing the modules registers them."""

from integration.accounts import admin as sellers
from integration.admin import orders, webhooks
from integration.carriers import admin as carriers
from integration.freight import admin as freight
from integration.invoices import admin as invoices
from integration.manifests import admin as manifests

__all__ = ["carriers", "freight", "invoices", "manifests", "orders", "sellers", "webhooks"]
