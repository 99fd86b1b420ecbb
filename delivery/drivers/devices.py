"""Phones of drivers: the links with which they log in, duty, the positions that they send, and push messages."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F
from prometheus_client import Counter as Metric

from common import credentials
from common.observability.metrics import REGISTRY
from common.pages.device_data import wrong
from common.pages.page_updates import publish_on_commit
from common.webhooks.address_guard import InvalidWebhookUrl, check_url
from common.workers import moments
from delivery import page_updates
from delivery.actions import drivers
from delivery.drivers import web_push
from delivery.errors import (
    LogInLinkUnknown,
    LogInLinkUnusable,
    NotOnDuty,
    OtherPhoneSends,
    RouteStillOpen,
)
from delivery.geo.position_filter import Limits, Reason, SentPosition, plausible
from delivery.models import Delivery, Driver, DriverDevice, DriverLogInLink, LatestPosition, PushSubscription

# The name is that of docs/monitoring.md.
_POSITIONS = Metric("rota_positions", "Positions that drivers' phones sent", ["outcome"], registry=REGISTRY)
_LINK_PREFIX = "rota_in_"
_SESSION_PREFIX = "rota_driver_"
LINK_TTL = timedelta(minutes=15)
_LONGEST_NAME = 60
# Longer than every token that this module makes.
LONGEST_TEXT = 100


def issue_link(*, driver: Driver, by: str, at: datetime) -> str:
    """The token of a new link for this driver. Links that were issued before and not used end."""
    token = credentials.random_token(_LINK_PREFIX)
    with transaction.atomic():
        driver.log_in_links.filter(used_at=None, expires_at__gt=at).update(expires_at=at)
        driver.log_in_links.create(
            digest=credentials.digest(token), created_at=at, created_by=by, expires_at=at + LINK_TTL
        )
    return token


def find_link(token: str, *, at: datetime) -> DriverLogInLink:
    """The link with this token, with its driver. Raises LogInLinkUnusable, whose text says why."""
    link = _link(token)
    _check(link, at=at)
    return link


@transaction.atomic
def log_in(
    *, token: str, phone: str, language: str, at: datetime, former: DriverDevice | None = None
) -> tuple[DriverDevice, str]:
    """Use the link, once, and return the new phone with the text of its session. Raises LogInLinkUnusable.

    `former`: the same phone with the session that it has had until now, which ends. The new session sends positions
    if the former one did and is of the same driver.
    """
    link = _link(token)
    link = DriverLogInLink.objects.select_for_update(of=("self",)).select_related("driver").get(pk=link.pk)
    _check(link, at=at)
    link.used_at = at
    link.save(update_fields=["used_at"])
    session = credentials.random_token(_SESSION_PREFIX)
    device = DriverDevice.objects.create(
        driver=link.driver,
        digest=credentials.digest(session),
        hint=credentials.hint(_SESSION_PREFIX, session),
        name=phone[:_LONGEST_NAME],
        language=language,
        created_at=at,
        created_by=link.created_by,
        expires_at=at + settings.DRIVER_SESSION,
    )
    if former is not None:
        _replace(former, device, at=at)
    return device, session


def find(session: str, *, at: datetime) -> DriverDevice | None:
    """The phone with this session that has not ended, with its driver. Records its use, once a minute at most."""
    if len(session) > LONGEST_TEXT:
        return None
    device = DriverDevice.find(session, at=at)
    if device is not None:
        device.record_use(at=at)
    return device


@transaction.atomic
def end(*, device: DriverDevice, by: str, at: datetime) -> None:
    """End the session of a phone. A driver whose positions it sent goes off duty, unless holding a route."""
    # Before the phone, as in `go_on_duty`; in the other order the two could deadlock.
    driver = _lock(device.driver_id)
    device.revoke(by=by, at=at)
    unsubscribe(device=device)
    publish_on_commit(page_updates.session_ended(device.pk))
    was_reporting = DriverDevice.objects.filter(pk=device.pk, reports_positions=True).update(reports_positions=False)
    if was_reporting and not _holds_a_route(driver):
        drivers.set_duty([driver], on_duty=False)


@transaction.atomic
def go_on_duty(*, device: DriverDevice) -> None:
    """Let the driver take routes. From now on this phone sends the positions, and no other of the driver."""
    driver = _lock(device.driver_id)
    _permit(device)
    drivers.set_duty([driver], on_duty=True)


@transaction.atomic
def permit_positions(*, device: DriverDevice, at: datetime) -> None:
    """Let this phone send the positions. Raises OtherPhoneSends while another one that is logged in does."""
    _lock(device.driver_id)
    if not device.may_send(at=at):
        raise OtherPhoneSends("Another phone of yours sends your position.")
    _permit(device)


def _permit(device: DriverDevice) -> None:
    others = DriverDevice.objects.filter(driver=device.driver_id, reports_positions=True).exclude(pk=device.pk)
    others.update(reports_positions=False)
    DriverDevice.objects.filter(pk=device.pk).update(reports_positions=True)


@transaction.atomic
def go_off_duty(*, driver: Driver) -> None:
    """End the duty. Raises RouteStillOpen while the driver holds a route, because nobody could follow it then."""
    locked = _lock(driver.pk)
    if _holds_a_route(locked):
        raise RouteStillOpen("Finish your route first, or ask the dispatcher to give it to somebody else.")
    drivers.set_duty([locked], on_duty=False)


def _replace(former: DriverDevice, device: DriverDevice, *, at: datetime) -> None:
    _lock(former.driver_id)  # before the phone, as in `end`
    reporting = DriverDevice.objects.filter(pk=former.pk, driver=device.driver_id, reports_positions=True)
    if reporting.update(reports_positions=False):  # so that its driver stays on duty
        device.reports_positions = True
        device.save(update_fields=["reports_positions"])
    end(device=former, by=f"driver {former.driver.name}", at=at)


def _lock(driver_id: UUID) -> Driver:
    """The driver, row locked until the transaction ends."""
    return Driver.objects.select_for_update(no_key=True).get(pk=driver_id)


def _holds_a_route(driver: Driver) -> bool:
    return Delivery.objects.held_by(driver).exists()


def _link(token: str) -> DriverLogInLink:
    found = None
    if len(token) <= LONGEST_TEXT:
        found = DriverLogInLink.objects.filter(digest=credentials.digest(token)).select_related("driver").first()
    if found is None:
        raise LogInLinkUnknown("This link is not complete. Ask your dispatcher to send it again.")
    return found


def _check(link: DriverLogInLink, *, at: datetime) -> None:
    if link.used_at is not None:
        raise LogInLinkUnusable("This link was used already. Ask your dispatcher for a new one.")
    if link.expires_at <= at or not link.driver.active:
        raise LogInLinkUnusable("This link has expired. Ask your dispatcher for a new one.")


def public_key() -> str | None:
    """The key with which browsers subscribe; None where this service sends no Web Push messages."""
    if not settings.VAPID_PRIVATE_KEY:
        return None
    return web_push.public_key(web_push.private_key(settings.VAPID_PRIVATE_KEY))


def subscribe(*, device: DriverDevice, endpoint: str, p256dh: str, auth: str, at: datetime) -> None:
    """Send messages for this phone to the browser's push service from now on. Raises InvalidDeviceData.

    The addresses of its host are checked when a message is sent, as those of webhooks are.
    """
    try:
        check_url(endpoint, allow_loopback=settings.WEBHOOK_ALLOW_LOOPBACK)
        web_push.Recipient.read(p256dh, auth)
    except (InvalidWebhookUrl, web_push.InvalidKey) as error:
        raise wrong("subscription") from error
    subscription = {"endpoint": endpoint, "keys": {"p256dh": p256dh, "auth": auth}}
    PushSubscription.objects.update_or_create(
        device=device,
        defaults={"ciphertext": credentials.encrypt(json.dumps(subscription)), "created_at": at, "silent_since": None},
    )


def unsubscribe(*, device: DriverDevice) -> None:
    """Send no more messages to this phone."""
    PushSubscription.objects.filter(device=device).delete()


@transaction.atomic
def receive_positions(*, device: DriverDevice, sent: Sequence[SentPosition], at: datetime) -> Counter[Reason]:
    """Record the positions that can be true. Returns the number of the others by reason, which is also counted.

    Raises NotOnDuty, so that nobody is followed in their free time, unless the driver holds a route; and
    OtherPhoneSends.
    """
    driver = device.driver
    if not driver.on_duty and not _holds_a_route(driver):
        raise NotOnDuty("You are off duty, so your position is not recorded.")
    if not device.reports_positions:
        permit_positions(device=device, at=at)
    # Serialises the positions of a driver, so that each is compared with the one before.
    if LatestPosition.objects.select_for_update().filter(pk=device.driver_id).first() is None:
        # There is no row yet that could be locked.
        DriverDevice.objects.select_for_update(no_key=True).get(pk=device.pk)
    latest = driver.latest_position()
    if latest is not None and latest.recorded_at > at + moments.TOLERANCE:
        # How long ago the driver was there is not known any more, so nothing is too fast.
        drivers.pull_back_positions(driver=driver, before=min((each.at for each in sent), default=at), at=at)
        latest = None
    last = SentPosition(latest.point, latest.recorded_at, latest.accuracy_m, latest.told_at) if latest else None
    limits = Limits(settings.SERVICE_AREA, settings.DRIVER_MAX_SPEED_KMH)
    kept, dropped = plausible(sent, last=last, limits=limits, at=at)
    if kept:
        drivers.store_positions(driver=driver, sent=kept, by=f"driver {driver.name}")
    if dropped:
        DriverDevice.objects.filter(pk=device.pk).update(dropped_positions=F("dropped_positions") + dropped.total())
    count_on_commit(kept, dropped)
    return dropped


def count_on_commit(kept: Sequence[SentPosition], dropped: Counter[Reason]) -> None:
    outcomes = {"kept": len(kept), **{str(reason): number for reason, number in dropped.items()}}
    transaction.on_commit(partial(_count, outcomes), robust=True)


def _count(outcomes: Mapping[str, int]) -> None:
    for outcome, number in outcomes.items():
        _POSITIONS.labels(outcome).inc(number)
