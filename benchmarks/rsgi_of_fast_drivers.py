"""The web server's application for `driver_day`, whose drivers move at the pace of the compressed day."""

import os

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.conf import settings

import config.rsgi

settings.DRIVER_MAX_SPEED_KMH = 1000
application = config.rsgi.application
