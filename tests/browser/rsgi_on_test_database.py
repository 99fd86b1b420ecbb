"""The service's RSGI application with the database of the tests."""

import os

from django.conf import settings

settings.DATABASES["default"]["NAME"] = os.environ["TEST_DATABASE"]

from config.rsgi import application  # noqa: E402  # reads the settings

__all__ = ["application"]
