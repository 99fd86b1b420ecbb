from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class PrivacyConfig(AppConfig):
    """Requests of people about their personal data."""

    name = "privacy"
    verbose_name = _("Personal data")
