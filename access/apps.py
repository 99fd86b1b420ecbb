from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class AccessConfig(AppConfig):
    """Roles, rights and log-in."""

    name = "access"
    verbose_name = _("People")

    def ready(self) -> None:
        """Import the modules that connect signal receivers."""
        from access import enrolment, middleware, roles, throttle  # noqa: F401

        post_migrate.connect(roles.synchronise, sender=self)
