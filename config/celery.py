"""The Celery app and the periodic schedule."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("rota")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["delivery", "delivery.webhooks"])

app.conf.beat_schedule = {
    # Retries fall due by the clock, and a wake-up lost with Redis must cost seconds only.
    "send-due-webhooks": {"task": "delivery.webhooks.send_due", "schedule": 2.0, "options": {"expires": 2}},
    # An untaken offer ends within half a minute of its deadline; acceptance checks the deadline itself.
    "expire-offers": {"task": "delivery.expire_offers", "schedule": 30.0, "options": {"expires": 30}},
}
