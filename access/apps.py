from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AccessConfig(AppConfig):
    """Log-in of people."""

    name = "access"
    verbose_name = _("People")

    def ready(self) -> None:
        """Import the modules that connect signal receivers."""
        from access import devices, enrolment, middleware  # noqa: F401
