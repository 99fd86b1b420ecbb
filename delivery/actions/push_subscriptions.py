"""Where drivers' phones receive Web Push messages."""

import json
from datetime import datetime

from django.conf import settings

from common import credentials, web_push
from delivery.driver_errors import InvalidReport
from delivery.errors import InvalidWebhookUrl
from delivery.models import DriverDevice, PushSubscription
from delivery.webhooks.address_guard import check_url


def public_key() -> str | None:
    """The key with which browsers subscribe; None where this service sends no Web Push messages."""
    if not settings.VAPID_PRIVATE_KEY:
        return None
    return web_push.public_key(web_push.private_key(settings.VAPID_PRIVATE_KEY))


def save(*, device: DriverDevice, endpoint: str, p256dh: str, auth: str, at: datetime) -> None:
    """Send messages for this phone to the browser's push service from now on. Raises InvalidReport.

    The addresses of its host are checked when a message is sent, as those of webhooks are.
    """
    try:
        check_url(endpoint, allow_loopback=settings.WEBHOOK_ALLOW_LOOPBACK)
        web_push.Recipient.read(p256dh, auth)
    except (InvalidWebhookUrl, web_push.InvalidKey) as error:
        raise InvalidReport("'%(name)s' is not what it should be.", name="subscription") from error
    subscription = {"endpoint": endpoint, "keys": {"p256dh": p256dh, "auth": auth}}
    PushSubscription.objects.update_or_create(
        device=device,
        defaults={"ciphertext": credentials.encrypt(json.dumps(subscription)), "created_at": at, "silent_since": None},
    )


def delete(*, device: DriverDevice) -> None:
    """Send no more messages to this phone."""
    PushSubscription.objects.filter(device=device).delete()
