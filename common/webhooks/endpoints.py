"""Changes of endpoints: URL, filter, signing secret, switching on and off, test events."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from typing import Annotated, Any, TypedDict, TypeVar

from django.conf import settings
from django.db import transaction

from common import clock, credentials
from common.api.json_body import Json
from common.api.openapi import sent
from common.pages.page_updates import publish_on_commit
from common.postgresql import batches
from common.webhooks import address_guard, breaker, feed, queue, recording, signing
from common.webhooks.errors import EndpointCannotSend, EndpointStays, SecretRotatedLately, TooManyEndpoints
from common.webhooks.models import BREAKER_FIELDS, MOST_ENDPOINTS, Endpoint, EndpointAction, Event, OffBecause
from common.webhooks.outbox import outbox_of, outboxes
from common.workers import wake_up

E = TypeVar("E", bound=Endpoint)
_log = logging.getLogger(__name__)
SECRET_OVERLAP = timedelta(hours=24)
# For each endpoint. Each test is a row that is kept and a request to a server of others.
TESTS_PER_HOUR = 60
# That one transaction deletes, with their attempts.
_EVENTS_OF_BATCH = 1000
_LONGEST_SUBJECT = 2000
# Within it, a change has committed that has read its endpoints.
_LONGEST_CHANGE = timedelta(minutes=1)


@dataclass(frozen=True)
class CheckedUrl:
    """A URL that `check_url` has accepted. Empty: events are recorded and not sent."""

    text: str


class SandboxWebhook(TypedDict):
    """The first webhook endpoint of the sandbox."""

    url: str
    signingSecret: (
        Annotated[str, Json("whsec_ and base64; null once it was shown, here or in the panel, unless it was rotated")]
        | None
    )


# For `BodySerializer.conditions`: a body sets the URL or asks for a new secret.
URL_OR_SECRET = {"if": {"not": sent("url")}, "then": sent("rotateSecret", {"const": True})}


def create(model: type[E], *, owner: Any, environment: str, **fields: Any) -> E:
    """Create an endpoint of one environment of an owner, given by its key: the first one, without a URL."""
    fields |= {f"{model.OWNER}_id": owner, "environment": environment}
    return model._default_manager.create(secret_ciphertext=_encrypted_secret(), **fields)


def first(model: type[E], *, owner: Any, environment: str) -> E:
    """The first endpoint of one environment of an owner, given by its key. It is made if there is none."""
    whose = {f"{model.OWNER}_id": owner, "environment": environment}
    defaults = {"secret_ciphertext": _encrypted_secret}  # called if there is none
    found, _is_new = model._default_manager.get_or_create(**whose, number=1, defaults=defaults)
    return found


def _encrypted_secret() -> str:
    return credentials.encrypt(signing.new_secret())


@transaction.atomic
def add(*, beside: E, url: CheckedUrl, statuses: Sequence[str], by: str, at: datetime) -> E:
    """Add a further endpoint of the owner and environment whose first one is `beside`.

    It is sent the events of changes from now on that have one of `statuses`; none: all.

    Raises TooManyEndpoints, InvalidWebhookUrl for the URL of another endpoint, or AccountSuspended.
    """
    # Under the lock of the first one, so that two that are added at once get different numbers.
    _refuse_repeated(lock_of_active(beside), url)
    model, owner, environment = type(beside), beside.owner_id, beside.environment
    taken = set(_endpoints(model).of(owner, environment).values_list("number", flat=True))
    number = next((each for each in range(2, MOST_ENDPOINTS + 1) if each not in taken), None)
    if number is None:
        raise TooManyEndpoints(
            "There are %(most)s endpoints, the most there may be. Remove one first.", most=MOST_ENDPOINTS
        )
    chosen = _filter(model, statuses)
    endpoint = create(model, owner=owner, environment=environment, number=number, url=url.text, statuses=chosen)
    record_in_audit_trail(endpoint, EndpointAction.ADDED, url.text, by=by, at=at)
    return endpoint


@transaction.atomic
def remove(*, endpoint: Endpoint, by: str, at: datetime) -> None:
    """Remove a further endpoint: nothing more is sent to it. `delete_removed` deletes its events later.

    Raises EndpointStays for the first one. Raises DoesNotExist, as the other actions do, for one that was removed.
    """
    locked = _endpoints(type(endpoint)).present().select_for_update(no_key=True).get(pk=endpoint.pk)
    if locked.number == 1:
        raise EndpointStays("The first endpoint stays. Remove its URL, and nothing is sent to it.")
    record_in_audit_trail(locked, EndpointAction.REMOVED, locked.url, by=by, at=at)
    locked.number, locked.url = None, ""
    locked.save(update_fields=["number", "url"])
    publish_on_commit(outbox_of(type(locked)).endpoint_changed(locked.pk))


def delete_removed() -> int:
    """Delete the endpoints of every area that were removed, with their events and attempts. Returns how many.

    In batches of events that are committed one by one. Must not be called within a transaction.
    """
    removed = (_endpoints(outbox.endpoints).filter(number=None).order_by("pk") for outbox in outboxes())
    return sum(batches.each(chain(*removed), _delete, doing="delete the removed webhook endpoint"))


def _delete(endpoint: Endpoint) -> bool:
    while keys := list(endpoint.events.order_by("created_at").values_list("pk", flat=True)[:_EVENTS_OF_BATCH]):
        endpoint.events.filter(pk__in=keys).delete()
    endpoint.delete()
    return True


@transaction.atomic
def set_filter(*, endpoint: E, statuses: Sequence[str], by: str, at: datetime) -> E:
    """Send the events of changes from now on that have one of these statuses; none: all. Raises AccountSuspended.

    Records nothing, as the other changes, if they are chosen already.
    """
    locked = lock_of_active(endpoint)
    chosen = _filter(type(locked), statuses)
    if chosen == locked.statuses:
        return locked
    locked.statuses = chosen
    locked.save(update_fields=["statuses"])
    record_in_audit_trail(locked, EndpointAction.FILTER_SET, " ".join(locked.statuses) or "*", by=by, at=at)
    publish_on_commit(outbox_of(type(locked)).endpoint_changed(locked.pk))
    return locked


def _refuse_repeated(endpoint: Endpoint, url: CheckedUrl, *, but: int | None = None) -> None:
    """Raises InvalidWebhookUrl if an endpoint of the environment has the URL, except the one with the number `but`."""
    others = _endpoints(type(endpoint)).of(endpoint.owner_id, endpoint.environment).exclude(number=but)
    if url.text and (found := others.filter(url=url.text).first()):
        raise address_guard.InvalidWebhookUrl("Endpoint %(number)s has this URL already.", number=found.number)


def _filter(model: type[Endpoint], statuses: Sequence[str]) -> list[str]:
    """These statuses in the order of a subject's life; empty where all are chosen."""
    possible = model.all_statuses()
    chosen = [status for status in possible if status in statuses]
    return [] if len(chosen) == len(possible) else chosen


def set_url(*, endpoint: E, url: str, by: str, at: datetime) -> E:
    """Check `url`, then store it. A caller with a transaction calls `check_url` before it and `store_url` within it.

    Raises InvalidWebhookUrl or AccountSuspended, and RuntimeError inside a transaction.
    """
    checked = check_url(url, of=endpoint)
    with transaction.atomic(durable=True):
        return store_url(endpoint=endpoint, url=checked, by=by, at=at)


def set_up(*, endpoint: E, url: str | None, by: str, at: datetime, new_secret: bool = False) -> tuple[E, str | None]:
    """As `set_url`, or leaves the URL as it is (None). Returns the signing secret too unless it was shown before.

    It counts as shown from now on. `new_secret`: it is replaced, and the one before it signs too for 24 hours; an older
    one that still did ends.
    """
    checked = None if url is None else check_url(url, of=endpoint)
    with transaction.atomic(durable=True):
        if checked is None:
            stored = lock_of_active(endpoint)
        else:
            stored = store_url(endpoint=endpoint, url=checked, by=by, at=at)
        secret: str | None
        if new_secret:
            secret = rotate_secret(endpoint=stored, by=by, at=at, end_previous=stored.previous_secret_until)
        else:
            secret = None if stored.secret_shown else show_secret(endpoint=stored, by=by, at=at)
    return stored, secret


def check_url(url: str, *, of: Endpoint | None) -> CheckedUrl:
    """Check that webhooks may be sent to `url`. Raises InvalidWebhookUrl.

    Looks the host up, which takes up to 3 s. To be called outside any transaction, which would keep its row locks and
    its snapshot for that time. `of`: an endpoint of the account that asks; None for staff who open one or change it.
    """
    account = (of.OWNER, of.owner_id) if of else None
    if url:
        host = address_guard.check_url(url, allow_loopback=settings.WEBHOOK_ALLOW_LOOPBACK)
        if host is not None:
            address_guard.check_addresses(host, address_guard.addresses(host, account=account))
    return CheckedUrl(url)


@transaction.atomic
def store_url(*, endpoint: E, url: CheckedUrl, by: str, at: datetime) -> E:
    """Send all events from now on, those that wait included, to `url`; an empty one stops sending.

    Resets the breaker and switches the endpoint on, unless a person had switched it off. Raises AccountSuspended, and
    InvalidWebhookUrl for the URL of another endpoint of the environment.
    """
    if url.text:
        _send_what_waits(endpoint, at=at)
    locked = lock_of_active(endpoint)
    _refuse_repeated(locked, url, but=locked.number)
    before = _values(locked)
    had_none, locked.url = not locked.url, url.text
    if locked.off_because != OffBecause.STAFF:
        locked.switch_on()
    if _values(locked) == before:
        return locked
    locked.save()
    record_in_audit_trail(locked, EndpointAction.URL_SET, url.text, by=by, at=at)
    publish_on_commit(outbox_of(type(locked)).endpoint_changed(locked.pk))
    if url.text and had_none:
        outbox = outbox_of(type(locked))
        outbox.record_rest(locked, at - feed.KEPT)  # of before, which can be recovered

        def start() -> None:
            # `until` is the moment of the commit, which no caller knows.
            arguments = {"endpoint": str(locked.pk), "since": at.isoformat(), "until": clock.now().isoformat()}
            wake_up.start(outbox.missed_task, after=_LONGEST_CHANGE, **arguments)

        transaction.on_commit(start, robust=True)
    return locked


@transaction.atomic
def set_enabled(*, endpoint: E, enabled: bool, by: str, at: datetime) -> E:
    """Switch the endpoint on, which makes everything that waits due, or off, which keeps events until it is on."""
    if enabled:
        _send_what_waits(endpoint, at=at)
    locked: E = _endpoints(type(endpoint)).present().select_for_update(no_key=True).get(pk=endpoint.pk)
    before = _values(locked)
    if enabled:
        locked.switch_on()
    else:
        locked.switch_off(OffBecause.STAFF, at=at)
    if _values(locked) == before:
        return locked
    locked.save()
    record_in_audit_trail(locked, EndpointAction.ON if enabled else EndpointAction.OFF, by=by, at=at)
    publish_on_commit(outbox_of(type(locked)).endpoint_changed(locked.pk))
    return locked


def check_can_send(endpoint: Endpoint, *, at: datetime) -> None:
    """Check that a request can be made to the endpoint. Raises EndpointCannotSend, which says what is missing."""
    if not endpoint.url:
        raise EndpointCannotSend("The webhook endpoint of %(endpoint)s has no URL; set one first.", endpoint=endpoint)
    if not endpoint.enabled:
        raise EndpointCannotSend("Webhooks are off; resume them first.")
    outbox_of(type(endpoint)).check_authorization(endpoint, at)


@transaction.atomic
def send_test(*, endpoint: Endpoint, by: str, at: datetime) -> Event:
    """Send a signed test event before all others, without waiting for the breaker's next probe.

    A pause that the endpoint asked for with Retry-After stays in force; the event is sent when it has ended. Raises
    EndpointCannotSend without a URL, while the endpoint is switched off or nothing authorizes a request to it, and
    after 60 tests within an hour; AccountSuspended.
    """
    locked = lock_of_active(endpoint)
    check_can_send(locked, at=at)
    tests = audit_entries(locked, EndpointAction.TEST_SENT).order_by("-id")
    earlier = tests.values_list("at", flat=True)[TESTS_PER_HOUR - 1 : TESTS_PER_HOUR].first()
    if earlier is not None and at - earlier < timedelta(hours=1):
        raise EndpointCannotSend(
            "%(most)s test events were sent within an hour, the most there may be; try again later.",
            most=TESTS_PER_HOUR,
        )
    locked.breaker_state = breaker.without_probe_pause(locked.breaker_state, at=at)
    locked.save(update_fields=BREAKER_FIELDS)
    event = recording.record_test(outbox_of(type(locked)), endpoint=locked, at=at)
    record_in_audit_trail(locked, EndpointAction.TEST_SENT, by=by, at=at)
    return event


@transaction.atomic
def rotate_secret(*, endpoint: Endpoint, by: str, at: datetime, end_previous: datetime | None = None) -> str:
    """Replace the signing secret and return the new one in clear text. The old one also signs for 24 hours.

    At most two secrets sign. Raises SecretRotatedLately while the one before the old one still does, unless it signs
    until `end_previous`, which says that it may end now, and not the one that a rotation meanwhile has made previous;
    AccountSuspended.
    """
    locked = lock_of_active(endpoint)
    until = locked.previous_secret_until
    if until is not None and until > at and until != end_previous:
        raise SecretRotatedLately("The secret was rotated recently, and the previous one is still valid.")
    secret = signing.new_secret()
    locked.previous_secret_ciphertext = locked.secret_ciphertext
    locked.previous_secret_until = at + SECRET_OVERLAP
    locked.secret_ciphertext = credentials.encrypt(secret)
    locked.secret_shown = True
    locked.save(
        update_fields=["previous_secret_ciphertext", "previous_secret_until", "secret_ciphertext", "secret_shown"]
    )
    record_in_audit_trail(locked, EndpointAction.SECRET_ROTATED, by=by, at=at)
    return secret


def show_secret(*, endpoint: Endpoint, by: str, at: datetime) -> str:
    """The current signing secret in clear text, for a person. Records this in the audit trail."""
    _endpoints(type(endpoint)).filter(pk=endpoint.pk, secret_shown=False).update(secret_shown=True)
    record_in_audit_trail(endpoint, EndpointAction.SECRET_SHOWN, by=by, at=at)
    return endpoint.secret


def lock_of_active(endpoint: E) -> E:
    """Lock the endpoint until the transaction ends. Raises the owner's AccountSuspended."""
    endpoints = _endpoints(type(endpoint)).present().select_related(endpoint.OWNER)
    locked: E = endpoints.select_for_update(of=("self",), no_key=True).get(pk=endpoint.pk)
    locked.owner.check_active()
    return locked


def _values(endpoint: Endpoint) -> dict[str, Any]:
    return {field.attname: getattr(endpoint, field.attname) for field in endpoint._meta.concrete_fields}


def _endpoints(model: type[Endpoint]) -> Any:  # an EndpointQuerySet
    return model._default_manager.all()


def _send_what_waits(endpoint: Endpoint, *, at: datetime) -> None:
    """Lock its queue items and make them due. To be called before the endpoint is locked.

    Settlements and replays lock items before their endpoint too. In the opposite order, each could wait for the other.
    Once more when this transaction has committed: an item in flight may be settled as a failure before the endpoint is
    locked.
    """
    outbox = outbox_of(type(endpoint))
    bring_forward = partial(queue.bring_forward, outbox, endpoint_id=endpoint.pk, at=at, poisoned_too=True)
    bring_forward()
    transaction.on_commit(bring_forward, robust=True)
    wake_up.send_on_commit(outbox.task)


def audit_entries(endpoint: Endpoint, action: str) -> Any:
    """The entries with this action of the endpoint's owner and environment, as a queryset."""
    of_owner = {endpoint.OWNER: endpoint.owner_id, "environment": endpoint.environment}
    return outbox_of(type(endpoint)).audit._default_manager.filter(action=action, **of_owner)


def record_in_audit_trail(endpoint: Endpoint, action: str, subject: str = "", *, by: str, at: datetime) -> None:
    entry: dict[str, Any] = {f"{endpoint.OWNER}_id": endpoint.owner_id, "environment": endpoint.environment}
    entry |= {"action": action, "subject": audit_subject(endpoint, subject), "by": by, "at": at}
    outbox_of(type(endpoint)).audit._default_manager.create(**entry)
    _log.info("webhook endpoint %s: %s by %s", endpoint.pk, action, by)


def audit_subject(endpoint: Endpoint, subject: str = "") -> str:
    """The subject of an entry about this endpoint: it begins with the number of a further one."""
    return subject if endpoint.number == 1 else f"#{endpoint.number} {subject}".strip()[:_LONGEST_SUBJECT]
