"""The endpoints of integrators: URL, signing secret, switching on and off, test events."""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from common import credentials
from common.page_updates import publish_on_commit
from common.webhooks import address_guard, breaker, queue, signing
from common.webhooks.models import BREAKER_FIELDS
from delivery import page_updates
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
from delivery.webhooks import outbox

_log = logging.getLogger(__name__)
SECRET_OVERLAP = timedelta(hours=24)
# For each endpoint. Each test is a row that is kept and a request to a server of others.
TESTS_PER_HOUR = 60


@dataclass(frozen=True)
class CheckedUrl:
    """A URL that `check_url` has accepted. Empty: events are recorded and not sent."""

    text: str


def create(*, integrator: Integrator, environment: Environment) -> WebhookEndpoint:
    """Create the endpoint of one environment, without a URL."""
    return WebhookEndpoint.objects.create(
        integrator=integrator,
        environment=environment,
        secret_ciphertext=credentials.encrypt(signing.new_secret()),
    )


def set_url(*, endpoint: WebhookEndpoint, url: str, by: str, at: datetime) -> WebhookEndpoint:
    """Check `url`, then store it. A caller with a transaction calls `check_url` before it and `store_url` within it.

    Raises InvalidWebhookUrl or AccountSuspended, and RuntimeError inside a transaction.
    """
    checked = check_url(url)
    with transaction.atomic(durable=True):
        return store_url(endpoint=endpoint, url=checked, by=by, at=at)


def check_url(url: str) -> CheckedUrl:
    """Check that webhooks may be sent to `url`. Raises InvalidWebhookUrl.

    Looks the host up, which takes up to 3 s. To be called outside any transaction, which would keep its row locks and
    its snapshot for that time.
    """
    if url:
        host = address_guard.check_url(url, allow_loopback=settings.WEBHOOK_ALLOW_LOOPBACK)
        if host is not None:
            address_guard.check_addresses(host, address_guard.addresses(host))
    return CheckedUrl(url)


@transaction.atomic
def store_url(*, endpoint: WebhookEndpoint, url: CheckedUrl, by: str, at: datetime) -> WebhookEndpoint:
    """Send all events from now on, those that wait included, to `url`; an empty one stops sending.

    Resets the breaker and switches the endpoint on, unless a person had switched it off. Raises AccountSuspended.
    """
    locked = _lock_of_active(endpoint)
    locked.url = url.text
    if locked.off_because != OffBecause.STAFF:
        locked.switch_on()
    locked.save()
    record_in_audit_trail(locked, AuditAction.URL_SET, url.text, by=by, at=at)
    publish_on_commit(page_updates.endpoint_changed(locked.pk))
    if url.text:
        queue.bring_forward(outbox.OUTBOX, endpoint_id=locked.pk, at=at, poisoned_too=True)
        outbox.wake_on_commit()
    return locked


@transaction.atomic
def set_enabled(*, endpoint: WebhookEndpoint, enabled: bool, by: str, at: datetime) -> WebhookEndpoint:
    """Switch the endpoint on, which makes everything that waits due, or off, which keeps events until it is on."""
    locked = WebhookEndpoint.objects.select_for_update(no_key=True).get(pk=endpoint.pk)
    if enabled:
        locked.switch_on()
        queue.bring_forward(outbox.OUTBOX, endpoint_id=locked.pk, at=at, poisoned_too=True)
        outbox.wake_on_commit()
    else:
        locked.switch_off(OffBecause.STAFF, at=at)
    locked.save()
    record_in_audit_trail(locked, AuditAction.ENDPOINT_ON if enabled else AuditAction.ENDPOINT_OFF, by=by, at=at)
    publish_on_commit(page_updates.endpoint_changed(locked.pk))
    return locked


def check_can_send(endpoint: WebhookEndpoint, *, at: datetime) -> None:
    """Check that a request can be made to the endpoint. Raises EndpointCannotSend, which says what is missing."""
    if not endpoint.url:
        raise EndpointCannotSend("The webhook endpoint of %(endpoint)s has no URL; set one first.", endpoint=endpoint)
    if not endpoint.enabled:
        raise EndpointCannotSend("Webhooks are off; resume them first.")
    tokens = Token.objects.valid(at=at).filter(integrator=endpoint.integrator_id, environment=endpoint.environment)
    if not tokens.exists():
        raise EndpointCannotSend("The account has no valid token, which every webhook carries; issue one first.")


@transaction.atomic
def send_test(*, endpoint: WebhookEndpoint, by: str, at: datetime) -> WebhookEvent:
    """Send a signed test event before all others, without waiting for the breaker's next probe.

    A pause that the endpoint asked for with Retry-After stays in force; the event is sent when it has ended. Raises
    EndpointCannotSend without a URL or a valid token, while the endpoint is switched off, and after 60 tests within an
    hour; AccountSuspended.
    """
    locked = _lock_of_active(endpoint)
    check_can_send(locked, at=at)
    tests = AuditEntry.objects.filter(
        integrator=locked.integrator_id, environment=locked.environment, action=AuditAction.TEST_SENT
    ).order_by("-id")
    earlier = tests.values_list("at", flat=True)[TESTS_PER_HOUR - 1 : TESTS_PER_HOUR].first()
    if earlier is not None and at - earlier < timedelta(hours=1):
        raise EndpointCannotSend(
            "%(most)s test events were sent within an hour, the most there may be; try again later.",
            most=TESTS_PER_HOUR,
        )
    locked.breaker_state = breaker.without_probe_pause(locked.breaker_state, at=at)
    locked.save(update_fields=BREAKER_FIELDS)
    event = outbox.record_test(endpoint=locked, at=at)
    record_in_audit_trail(locked, AuditAction.TEST_SENT, by=by, at=at)
    return event


@transaction.atomic
def rotate_secret(*, endpoint: WebhookEndpoint, by: str, at: datetime, end_previous: bool = False) -> str:
    """Replace the signing secret and return the new one in clear text. The old one also signs for 24 hours.

    At most two secrets sign. Raises SecretRotatedLately while the one before the old one still does, unless
    `end_previous` says that it may end now; AccountSuspended.
    """
    locked = _lock_of_active(endpoint)
    if not end_previous and locked.previous_secret_until is not None and locked.previous_secret_until > at:
        raise SecretRotatedLately("The secret was rotated recently, and the previous one is still valid.")
    secret = signing.new_secret()
    locked.previous_secret_ciphertext = locked.secret_ciphertext
    locked.previous_secret_until = at + SECRET_OVERLAP
    locked.secret_ciphertext = credentials.encrypt(secret)
    locked.save(update_fields=["previous_secret_ciphertext", "previous_secret_until", "secret_ciphertext"])
    record_in_audit_trail(locked, AuditAction.SECRET_ROTATED, by=by, at=at)
    return secret


def show_secret(*, endpoint: WebhookEndpoint, by: str, at: datetime) -> str:
    """The current signing secret in clear text, for a person. Records this in the audit trail."""
    record_in_audit_trail(endpoint, AuditAction.SECRET_SHOWN, by=by, at=at)
    return endpoint.secret


def _lock_of_active(endpoint: WebhookEndpoint) -> WebhookEndpoint:
    """Lock the endpoint until the transaction ends. Raises AccountSuspended."""
    endpoints = WebhookEndpoint.objects.select_related("integrator").select_for_update(of=("self",), no_key=True)
    locked = endpoints.get(pk=endpoint.pk)
    locked.integrator.check_active()
    return locked


def record_in_audit_trail(
    endpoint: WebhookEndpoint, action: AuditAction, subject: str = "", *, by: str, at: datetime
) -> None:
    AuditEntry.objects.create(
        integrator_id=endpoint.integrator_id,
        environment=endpoint.environment,
        action=action,
        subject=subject,
        by=by,
        at=at,
    )
    _log.info("webhook endpoint %s: %s by %s", endpoint.pk, action, by)
