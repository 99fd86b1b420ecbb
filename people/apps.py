from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class PeopleConfig(AppConfig):
    """Log-in of people."""

    name = "people"
    verbose_name = _("People")

    def ready(self) -> None:
        """Import the modules that connect signal receivers."""
        from people import devices, enrolment, middleware  # noqa: F401
