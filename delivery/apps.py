from django.apps import AppConfig


class DeliveryConfig(AppConfig):
    """Area A: immediate delivery."""

    name = "delivery"
    verbose_name = "Immediate delivery"
