from django.apps import AppConfig


class IntegrationConfig(AppConfig):
    """Area B: order integration."""

    name = "integration"
    verbose_name = "Order integration"
