"""The service's RSGI application with the database of the tests."""

import os
from decimal import Decimal

from django.conf import settings

from common import connections

settings.DATABASES["default"]["NAME"] = os.environ["TEST_DATABASE"]
settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher", *settings.PASSWORD_HASHERS]
connections.REDIS_SECONDS = 40  # no message to a page is lost because Redis answers late

from config.server.rsgi import application  # noqa: E402  # reads the settings
from delivery.models import Rules, dispatch_rules  # noqa: E402  # after the settings
from tests.dispatch_rules import known  # noqa: E402

dispatch_rules._CACHED = known(Rules(driver_share_percent=Decimal(70)))

__all__ = ["application"]
