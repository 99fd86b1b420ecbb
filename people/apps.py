from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class PeopleConfig(AppConfig):
    """Log-in of people."""

    name = "people"
    verbose_name = _("People")

    def ready(self) -> None:
        """Import the module that connects signal receivers."""
        from people import devices  # noqa: F401
