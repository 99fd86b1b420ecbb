"""What happens to an endpoint, and the alerts about it."""

from datetime import timedelta

from django.utils import timezone

from common.mail.models import Message
from delivery.actions import alerts
from delivery.models import (
    OffBecause,
    WebhookEndpoint,
)

NOW = timezone.now
LATER = alerts.PAUSE + timedelta(seconds=1)


def fail(endpoint, failures=5):
    change(endpoint, failures=failures, failing_since=NOW())


def recover(endpoint, at):
    change(endpoint, failures=0, failing_since=None, last_success_at=at, enabled=True, off_because="", off_since=None)


def switch_off(endpoint, because=OffBecause.GONE):
    change(endpoint, enabled=False, off_because=because, off_since=NOW())


def change(endpoint, **columns):
    WebhookEndpoint.objects.filter(pk=endpoint.pk).update(**columns)


def subjects():
    return list(Message.objects.order_by("pk").values_list("subject", flat=True))


FAILS, OFF, WORKS = (f"Webhooks of Loja {what} (Live)" for what in ("fail", "are switched off", "work again"))
