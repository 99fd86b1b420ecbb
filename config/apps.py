from django.contrib.admin import apps


class AdminConfig(apps.AdminConfig):
    """Django's admin with `config.site.Site`. Not the configuration of the app `config`."""

    default = False
    default_site = "config.site.Site"
