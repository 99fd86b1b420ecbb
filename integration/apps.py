from importlib import import_module

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class IntegrationConfig(AppConfig):
    """Area B: order integration."""

    name = "integration"
    verbose_name = _("Order integration")

    def ready(self) -> None:
        """Make the outbox known, see `outbox_of`."""
        import_module("integration.webhooks.outbox")
