"""Where webhooks go and what signs them."""

import logging
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from delivery import credentials
from delivery.models import Environment, Integrator, WebhookEndpoint
from delivery.webhooks import address_guard, outbox, signing

_log = logging.getLogger(__name__)
SECRET_OVERLAP = timedelta(hours=24)


def create(*, integrator: Integrator, environment: Environment) -> WebhookEndpoint:
    """The endpoint of one environment, without a URL yet."""
    return WebhookEndpoint.objects.create(
        integrator=integrator,
        environment=environment,
        secret_ciphertext=credentials.encrypt(signing.new_secret()),
    )


def set_url(*, endpoint: WebhookEndpoint, url: str, by: str) -> WebhookEndpoint:
    """Send events to `url` from now on; empty stops sending. Raises InvalidWebhookUrl."""
    if url:
        address_guard.check_url(url, allow_loopback=settings.WEBHOOK_ALLOW_LOOPBACK)
    endpoint.url = url
    endpoint.save(update_fields=["url"])
    _log.info("webhook URL of endpoint %s set by %s", endpoint.pk, by)
    if url:
        outbox.wake_on_commit()
    return endpoint


def set_enabled(*, endpoint: WebhookEndpoint, enabled: bool, by: str) -> WebhookEndpoint:
    """Hold events back, or let them go on with whatever was held."""
    endpoint.enabled = enabled
    endpoint.save(update_fields=["enabled"])
    _log.info("webhook endpoint %s %s by %s", endpoint.pk, "enabled" if enabled else "disabled", by)
    if enabled:
        outbox.wake_on_commit()
    return endpoint


@transaction.atomic
def rotate_secret(*, endpoint: WebhookEndpoint, by: str, at: datetime) -> str:
    """A new signing secret in clear text, shown once. The old one signs along for 24 hours."""
    locked = WebhookEndpoint.objects.select_for_update().get(pk=endpoint.pk)
    secret = signing.new_secret()
    locked.previous_secret_ciphertext = locked.secret_ciphertext
    locked.previous_secret_until = at + SECRET_OVERLAP
    locked.secret_ciphertext = credentials.encrypt(secret)
    locked.save(update_fields=["previous_secret_ciphertext", "previous_secret_until", "secret_ciphertext"])
    _log.info("signing secret of endpoint %s rotated by %s", endpoint.pk, by)
    return secret
