"""The service's RSGI application with the database of the tests."""

import os

from django.conf import settings

from common import page_updates

settings.DATABASES["default"]["NAME"] = os.environ["TEST_DATABASE"]
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher", *settings.PASSWORD_HASHERS]
page_updates._TIMEOUT_SECONDS = 40  # no message to a page is lost because Redis answers late

from config.rsgi import application  # noqa: E402  # reads the settings

__all__ = ["application"]
