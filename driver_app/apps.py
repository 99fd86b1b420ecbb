from django.apps import AppConfig


class DriverAppConfig(AppConfig):
    name = "driver_app"
