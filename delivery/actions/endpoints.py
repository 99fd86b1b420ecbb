"""Where webhooks go and what signs them."""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from common import credentials
from delivery.errors import EndpointCannotSend, SecretRotatedLately
from delivery.models import (
    AuditAction,
    AuditEntry,
    Environment,
    Integrator,
    OffBecause,
    Token,
    WebhookEndpoint,
    WebhookEvent,
)
from delivery.webhooks import address_guard, look_ups, outbox, queue, signing

_log = logging.getLogger(__name__)
SECRET_OVERLAP = timedelta(hours=24)
# Of one endpoint. Each is a row of the outbox that stays, and a request to somebody else's server.
TESTS_PER_HOUR = 60


@dataclass(frozen=True)
class CheckedUrl:
    """An address that `check_url` has let through. Empty: nothing is sent."""

    text: str


def create(*, integrator: Integrator, environment: Environment) -> WebhookEndpoint:
    """The endpoint of one environment, without a URL yet."""
    return WebhookEndpoint.objects.create(
        integrator=integrator,
        environment=environment,
        secret_ciphertext=credentials.encrypt(signing.new_secret()),
    )


def set_url(*, endpoint: WebhookEndpoint, url: str, by: str, at: datetime) -> WebhookEndpoint:
    """Check `url`, then store it. For callers without a transaction; others call `check_url` before they begin one.

    Raises InvalidWebhookUrl or AccountSuspended, and RuntimeError inside a transaction.
    """
    checked = check_url(url)
    with transaction.atomic(durable=True):
        return store_url(endpoint=endpoint, url=checked, by=by, at=at)


def check_url(url: str) -> CheckedUrl:
    """Raise InvalidWebhookUrl unless webhooks may be sent to `url`. Looks its host up, which may take 3 s.

    To be called outside any transaction: a slow DNS server would keep row locks and a snapshot for as long.
    """
    if url:
        host = address_guard.check_url(url, allow_loopback=settings.WEBHOOK_ALLOW_LOOPBACK)
        if host is not None:
            address_guard.check_addresses(host, look_ups.addresses(host))
    return CheckedUrl(url)


@transaction.atomic
def store_url(*, endpoint: WebhookEndpoint, url: CheckedUrl, by: str, at: datetime) -> WebhookEndpoint:
    """Send events to `url` from now on, what waits for the old one too; empty stops sending.

    The new address starts without the old one's failures, switched on unless a person had switched it off.
    Raises AccountSuspended.
    """
    locked = _lock_of_active(endpoint)
    locked.url = url.text
    if locked.off_because != OffBecause.STAFF:
        locked.switch_on()
    locked.save()
    _note(locked, AuditAction.URL_SET, url.text, by=by, at=at)
    if url.text:
        queue.bring_forward(endpoint_id=locked.pk, at=at, poisoned_too=True)
        outbox.wake_on_commit()
    return locked


@transaction.atomic
def set_enabled(*, endpoint: WebhookEndpoint, enabled: bool, by: str, at: datetime) -> WebhookEndpoint:
    """Hold events back, or let them go on with whatever was held, at once."""
    locked = WebhookEndpoint.objects.select_for_update(no_key=True).get(pk=endpoint.pk)
    if enabled:
        locked.switch_on()
        queue.bring_forward(endpoint_id=locked.pk, at=at, poisoned_too=True)
        outbox.wake_on_commit()
    else:
        locked.switch_off(OffBecause.STAFF, at=at)
    locked.save()
    _note(locked, AuditAction.ENDPOINT_ON if enabled else AuditAction.ENDPOINT_OFF, by=by, at=at)
    return locked


@transaction.atomic
def send_test(*, endpoint: WebhookEndpoint, by: str, at: datetime) -> WebhookEvent:
    """Send a signed test event, whatever the breaker thinks; its attempts tell what came of it.

    Raises EndpointCannotSend without a URL or a valid token, while the endpoint is switched off, and after too many
    tests within an hour; AccountSuspended.
    """
    locked = _lock_of_active(endpoint)
    if not locked.url:
        raise EndpointCannotSend("The endpoint has no URL; set one first.")
    if not locked.enabled:
        raise EndpointCannotSend("The endpoint is switched off; switch it on first.")
    if not Token.objects.valid(at=at).filter(integrator=locked.integrator_id, environment=locked.environment).exists():
        raise EndpointCannotSend("The account has no valid token, which every webhook carries; issue one first.")
    if _tested_too_often(locked, at=at):
        raise EndpointCannotSend(
            "%(most)s test events were sent within an hour, the most there may be; try again later.",
            most=TESTS_PER_HOUR,
        )
    locked.paused_until = None
    locked.save(update_fields=["paused_until"])
    event = outbox.record_test(endpoint=locked, at=at)
    _note(locked, AuditAction.TEST_SENT, by=by, at=at)
    return event


@transaction.atomic
def rotate_secret(*, endpoint: WebhookEndpoint, by: str, at: datetime, even_so: bool = False) -> str:
    """A new signing secret in clear text. The old one signs along for 24 hours.

    Two sign at most. Raises SecretRotatedLately while the one before still does, unless that may end now (`even_so`).
    Raises AccountSuspended.
    """
    locked = _lock_of_active(endpoint)
    if not even_so and locked.previous_secret_until is not None and locked.previous_secret_until > at:
        raise SecretRotatedLately("The secret was rotated lately, and the one before it still signs along.")
    secret = signing.new_secret()
    locked.previous_secret_ciphertext = locked.secret_ciphertext
    locked.previous_secret_until = at + SECRET_OVERLAP
    locked.secret_ciphertext = credentials.encrypt(secret)
    locked.save(update_fields=["previous_secret_ciphertext", "previous_secret_until", "secret_ciphertext"])
    _note(locked, AuditAction.SECRET_ROTATED, by=by, at=at)
    return secret


def show_secret(*, endpoint: WebhookEndpoint, by: str, at: datetime) -> str:
    """The signing secret in force, for somebody who asked to read it, which is written down."""
    _note(endpoint, AuditAction.SECRET_SHOWN, by=by, at=at)
    return endpoint.secret


def _tested_too_often(endpoint: WebhookEndpoint, *, at: datetime) -> bool:
    tests = AuditEntry.objects.filter(
        integrator=endpoint.integrator_id, environment=endpoint.environment, action=AuditAction.TEST_SENT
    ).order_by("-id")
    earlier = tests.values_list("at", flat=True)[TESTS_PER_HOUR - 1 : TESTS_PER_HOUR].first()
    return earlier is not None and at - earlier < timedelta(hours=1)


def _lock_of_active(endpoint: WebhookEndpoint) -> WebhookEndpoint:
    """Lock the endpoint until the transaction ends. Raises AccountSuspended."""
    endpoints = WebhookEndpoint.objects.select_related("integrator").select_for_update(of=("self",), no_key=True)
    locked = endpoints.get(pk=endpoint.pk)
    locked.integrator.check_active()
    return locked


def _note(endpoint: WebhookEndpoint, action: AuditAction, subject: str = "", *, by: str, at: datetime) -> None:
    AuditEntry.objects.create(
        integrator_id=endpoint.integrator_id,
        environment=endpoint.environment,
        action=action,
        subject=subject,
        by=by,
        at=at,
    )
    _log.info("webhook endpoint %s: %s by %s", endpoint.pk, action, by)
