from django.apps import AppConfig
from django.contrib.admin import apps


class ConfigConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        from config import celery as celery  # noqa: PLC0414  # makes it the default app of `shared_task`


class AdminConfig(apps.AdminConfig):
    """Django's admin with `config.site.Site`. Not the configuration of the app `config`."""

    default = False
    default_site = "config.site.Site"
