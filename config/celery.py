"""The Celery app and the periodic schedule."""

import os
from typing import Any

from celery import Celery
from celery.app.amqp import AMQP
from kombu import Connection

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


class EagerConnection(Connection):
    """Looks for a broker that is away every two seconds; kombu's own pauses grow to half a minute."""

    def ensure_connection(self, *args: Any, **kwargs: Any) -> Any:
        return super().ensure_connection(*args, **{**kwargs, "interval_max": 2})


class EagerAMQP(AMQP):
    Connection = EagerConnection


app = Celery("rota", amqp=EagerAMQP)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["config", "delivery", "delivery.webhooks", "access"])

app.conf.beat_schedule = {
    # Retries fall due by the clock, and a wake-up lost with Redis must cost seconds only.
    "send-due-webhooks": {"task": "delivery.webhooks.send_due", "schedule": 2.0, "options": {"expires": 30}},
    # Attempts are kept 30 days; those of one more hour go at a time.
    "prune-attempts": {"task": "delivery.webhooks.prune", "schedule": 3600.0, "options": {"expires": 3600}},
    # A session ends twelve hours after the log-in; its row would stay.
    "clear-sessions": {"task": "config.clear_sessions", "schedule": 3600.0, "options": {"expires": 3600}},
    # Counters of failed log-ins whose window is over; they count no more, and only take up room.
    "prune-login-attempts": {"task": "access.prune_attempts", "schedule": 600.0, "options": {"expires": 600}},
    # An untaken offer ends within half a minute of its deadline; acceptance checks the deadline itself.
    "expire-offers": {"task": "delivery.expire_offers", "schedule": 30.0, "options": {"expires": 30}},
}
