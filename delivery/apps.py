from importlib import import_module

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class DeliveryConfig(AppConfig):
    """Area A: immediate delivery."""

    name = "delivery"
    verbose_name = _("Immediate delivery")

    def ready(self) -> None:
        """Make the outbox known, see `outbox_of`."""
        import_module("delivery.webhooks.outbox")
