"""The endpoints of integrators: URL, filter, signing secret, switching on and off, test events."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction

from common import batches, credentials
from common.page_updates import publish_on_commit
from common.webhooks import address_guard, breaker, queue, signing
from common.webhooks.models import BREAKER_FIELDS
from delivery import page_updates
from delivery.errors import EndpointCannotSend, EndpointStays, SecretRotatedLately, TooManyEndpoints
from delivery.lifecycle import Status
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
from delivery.models.webhook import MOST_ENDPOINTS
from delivery.webhooks import outbox

_log = logging.getLogger(__name__)
SECRET_OVERLAP = timedelta(hours=24)
# For each endpoint. Each test is a row that is kept and a request to a server of others.
TESTS_PER_HOUR = 60
# That one transaction deletes, with their attempts.
_EVENTS_OF_BATCH = 1000
_LONGEST_SUBJECT = 2000


@dataclass(frozen=True)
class CheckedUrl:
    """A URL that `check_url` has accepted. Empty: events are recorded and not sent."""

    text: str


def create(*, integrator: Integrator, environment: Environment) -> WebhookEndpoint:
    """Create the first endpoint of one environment, without a URL."""
    return _create(integrator, environment)


def _create(integrator: Integrator, environment: str, **fields: Any) -> WebhookEndpoint:
    return WebhookEndpoint.objects.create(
        integrator=integrator,
        environment=environment,
        secret_ciphertext=credentials.encrypt(signing.new_secret()),
        **fields,
    )


@transaction.atomic
def add(
    *, integrator: Integrator, environment: Environment, url: CheckedUrl, statuses: Sequence[str], by: str, at: datetime
) -> WebhookEndpoint:
    """Add a further endpoint. It is sent the events of changes from now on that have one of `statuses`; none: all.

    Raises TooManyEndpoints, InvalidWebhookUrl for the URL of another endpoint, or AccountSuspended.
    """
    # Under the lock of the first one, so that two that are added at once get different numbers.
    _refuse_repeated(_lock_of_active(integrator.endpoints.first_ones().get(environment=environment)), url)
    taken = set(WebhookEndpoint.objects.of(integrator.pk, environment).values_list("number", flat=True))
    number = next((each for each in range(2, MOST_ENDPOINTS + 1) if each not in taken), None)
    if number is None:
        raise TooManyEndpoints(
            "There are %(most)s endpoints, the most there may be. Remove one first.", most=MOST_ENDPOINTS
        )
    endpoint = _create(integrator, environment, number=number, url=url.text, statuses=_filter(statuses))
    record_in_audit_trail(endpoint, AuditAction.ENDPOINT_ADDED, url.text, by=by, at=at)
    return endpoint


@transaction.atomic
def remove(*, endpoint: WebhookEndpoint, by: str, at: datetime) -> None:
    """Remove a further endpoint: nothing more is sent to it. `delete_removed` deletes its events later.

    Raises EndpointStays for the first one. Raises DoesNotExist, as the other actions do, for one that was removed.
    """
    locked = WebhookEndpoint.objects.present().select_for_update(no_key=True).get(pk=endpoint.pk)
    if locked.number == 1:
        raise EndpointStays("The first endpoint stays. Remove its URL, and nothing is sent to it.")
    record_in_audit_trail(locked, AuditAction.ENDPOINT_REMOVED, locked.url, by=by, at=at)
    locked.number, locked.url = None, ""
    locked.save(update_fields=["number", "url"])
    publish_on_commit(page_updates.endpoint_changed(locked.pk))


def delete_removed() -> int:
    """Delete the endpoints that were removed, with their events and attempts. Returns how many endpoints.

    In batches of events that are committed one by one. Must not be called within a transaction.
    """
    removed = WebhookEndpoint.objects.filter(number=None).order_by("pk")
    return sum(batches.each(removed, _delete, doing="delete the removed webhook endpoint"))


def _delete(endpoint: WebhookEndpoint) -> bool:
    while keys := list(endpoint.events.order_by("created_at").values_list("pk", flat=True)[:_EVENTS_OF_BATCH]):
        WebhookEvent.objects.filter(pk__in=keys).delete()
    endpoint.delete()
    return True


@transaction.atomic
def set_filter(*, endpoint: WebhookEndpoint, statuses: Sequence[str], by: str, at: datetime) -> WebhookEndpoint:
    """Send the events of changes from now on that have one of these statuses; none: all. Raises AccountSuspended."""
    locked = _lock_of_active(endpoint)
    locked.statuses = _filter(statuses)
    locked.save(update_fields=["statuses"])
    record_in_audit_trail(locked, AuditAction.FILTER_SET, " ".join(locked.statuses) or "*", by=by, at=at)
    publish_on_commit(page_updates.endpoint_changed(locked.pk))
    return locked


def _refuse_repeated(endpoint: WebhookEndpoint, url: CheckedUrl, *, but: int | None = None) -> None:
    """Raises InvalidWebhookUrl if an endpoint of the environment has the URL, except the one with the number `but`."""
    others = WebhookEndpoint.objects.of(endpoint.integrator_id, endpoint.environment).exclude(number=but)
    if url.text and (found := others.filter(url=url.text).first()):
        raise address_guard.InvalidWebhookUrl("Endpoint %(number)s has this URL already.", number=found.number)


def _filter(statuses: Sequence[str]) -> list[str]:
    """These statuses in the order of a delivery's life; empty where all are chosen."""
    chosen = [status.value for status in Status if status.value in statuses]
    return [] if len(chosen) == len(Status) else chosen


def set_url(*, endpoint: WebhookEndpoint, url: str, by: str, at: datetime) -> WebhookEndpoint:
    """Check `url`, then store it. A caller with a transaction calls `check_url` before it and `store_url` within it.

    Raises InvalidWebhookUrl or AccountSuspended, and RuntimeError inside a transaction.
    """
    checked = check_url(url)
    with transaction.atomic(durable=True):
        return store_url(endpoint=endpoint, url=checked, by=by, at=at)


def set_up(*, endpoint: WebhookEndpoint, url: str, by: str, at: datetime) -> tuple[WebhookEndpoint, str | None]:
    """As `set_url`, and returns the signing secret too unless it was shown before. It counts as shown from now on."""
    checked = check_url(url)
    with transaction.atomic(durable=True):
        stored = store_url(endpoint=endpoint, url=checked, by=by, at=at)
        secret = None if stored.secret_shown else show_secret(endpoint=stored, by=by, at=at)
    return stored, secret


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

    Resets the breaker and switches the endpoint on, unless a person had switched it off. Raises AccountSuspended, and
    InvalidWebhookUrl for the URL of another endpoint of the environment.
    """
    locked = _lock_of_active(endpoint)
    _refuse_repeated(locked, url, but=locked.number)
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
    locked = WebhookEndpoint.objects.present().select_for_update(no_key=True).get(pk=endpoint.pk)
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
    locked.secret_shown = True
    locked.save(
        update_fields=["previous_secret_ciphertext", "previous_secret_until", "secret_ciphertext", "secret_shown"]
    )
    record_in_audit_trail(locked, AuditAction.SECRET_ROTATED, by=by, at=at)
    return secret


def show_secret(*, endpoint: WebhookEndpoint, by: str, at: datetime) -> str:
    """The current signing secret in clear text, for a person. Records this in the audit trail."""
    WebhookEndpoint.objects.filter(pk=endpoint.pk, secret_shown=False).update(secret_shown=True)
    record_in_audit_trail(endpoint, AuditAction.SECRET_SHOWN, by=by, at=at)
    return endpoint.secret


def _lock_of_active(endpoint: WebhookEndpoint) -> WebhookEndpoint:
    """Lock the endpoint until the transaction ends. Raises AccountSuspended."""
    endpoints = WebhookEndpoint.objects.present().select_related("integrator")
    locked = endpoints.select_for_update(of=("self",), no_key=True).get(pk=endpoint.pk)
    locked.integrator.check_active()
    return locked


def record_in_audit_trail(
    endpoint: WebhookEndpoint, action: AuditAction, subject: str = "", *, by: str, at: datetime
) -> None:
    AuditEntry.objects.create(
        integrator_id=endpoint.integrator_id,
        environment=endpoint.environment,
        action=action,
        subject=audit_subject(endpoint, subject),
        by=by,
        at=at,
    )
    _log.info("webhook endpoint %s: %s by %s", endpoint.pk, action, by)


def audit_subject(endpoint: WebhookEndpoint, subject: str = "") -> str:
    """The subject of an entry about this endpoint: it begins with the number of a further one."""
    return subject if endpoint.number == 1 else f"#{endpoint.number} {subject}".strip()[:_LONGEST_SUBJECT]
