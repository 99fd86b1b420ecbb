"""Tells drivers of a new offer by Web Push while the page is closed on their phones. Imported by workers only.

A message that is lost does little harm: the page shows all offers when it is opened. So none is stored or repeated.
"""

import asyncio
import json
import logging
from collections import deque
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from cryptography.fernet import InvalidToken
from django.conf import settings
from django.utils import translation
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from common import clock, credentials
from common.pages.page_updates import subscribed
from common.postgresql.batches import each
from common.webhooks import http_client
from common.webhooks.http_client import Request, Result, new_event_loop
from common.workers.wake_up import BackgroundWork
from delivery import page_updates
from delivery.actions import drivers
from delivery.drivers import web_push
from delivery.lifecycle import RouteStatus
from delivery.models import Delivery, PushSubscription

_log = logging.getLogger(__name__)
MOST_DRIVERS = 50
_MOST_WAITING = 1000
# After a time without workers there may be hundreds of older ones, which pages of drivers have shown meanwhile.
_NEW = timedelta(minutes=1)
_OFFERS_AT_ONCE = 20
_REQUESTS_AT_ONCE = 200
_SECONDS = 3
# For so long a push service may answer nothing at all before its subscription is deleted. The phone subscribes anew
# when its page is opened.
_GIVEN_UP_AFTER = timedelta(hours=1)
# The browser has discarded the subscription, or its permission was withdrawn.
_GONE = {404, 410}
_Message = tuple[PushSubscription, Request | Result]
_waiting: deque[UUID] = deque(maxlen=_MOST_WAITING)


def push_waiting(is_stopping: Callable[[], bool] = lambda: False) -> None:
    """Push the offers that wait, up to 20 at the same time; all their messages at once, each within 3 s."""
    while _waiting and not is_stopping():
        push([_waiting.popleft() for _number in range(min(len(_waiting), _OFFERS_AT_ONCE))], at=clock.now())


_pushing = BackgroundWork("offer pushes", push_waiting)


def push_soon(delivery_id: UUID) -> None:
    """Push the offer in the thread of this process. Returns at once. The oldest of too many are dropped."""
    _waiting.append(delivery_id)
    _pushing.wake()


def stop(*, seconds: float) -> None:
    """Push nothing more, and wait for what is being sent for at most `seconds`."""
    _pushing.stop(seconds=seconds)


def push(deliveries: Sequence[UUID], *, at: datetime) -> None:
    """Send these offers to their nearest eligible drivers whose page is closed, if they are still open and new."""
    of_each = each(deliveries, partial(_messages, at=at), doing="push the offer of delivery")
    messages = [message for of_one in of_each for message in of_one]
    if not messages:
        return
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        results = runner.run(_send([request for _subscription, request in messages]))
    for (subscription, _request), result in zip(messages, results, strict=True):
        _settle(subscription, result, at=at)


def _messages(delivery_id: UUID, *, at: datetime) -> list[_Message]:
    delivery = Delivery.objects.filter(
        pk=delivery_id, route_status=RouteStatus.AVAILABLE, offer_expires_at__gt=at, transitions__at__gt=at - _NEW
    ).first()
    if delivery is None:
        return []
    nearest = drivers.nearest_with_push(delivery, at=at, count=MOST_DRIVERS)
    open_pages = subscribed([page_updates.driver(driver.pk) for driver in nearest])
    away = [driver.pk for driver in nearest if page_updates.driver(driver.pk) not in open_pages]
    subscriptions = PushSubscription.objects.of_drivers(away, at=at)
    return each(subscriptions, lambda one: (one, _request(one, delivery, at)), doing="push to the phone")


def _request(subscription: PushSubscription, delivery: Delivery, at: datetime) -> Request | Result:
    try:
        stored = json.loads(credentials.decrypt(subscription.ciphertext))
    except InvalidToken:
        return Result(error="undecryptable", was_sent=False)
    keys = web_push.Recipient.read(stored["keys"]["p256dh"], stored["keys"]["auth"])
    key = web_push.private_key(settings.VAPID_PRIVATE_KEY)
    url = stored["endpoint"]
    headers = {
        "Authorization": web_push.authorization(url, key=key, subject=settings.VAPID_SUBJECT, at=at),
        "Content-Encoding": "aes128gcm",
        "Content-Type": "application/octet-stream",
        "TTL": str(int((delivery.offer_expires_at - at).total_seconds())),
        "Urgency": "high",
    }
    return Request(url=url, headers=headers, body=web_push.encrypt(_text(subscription, delivery), keys))


def _text(subscription: PushSubscription, delivery: Delivery) -> bytes:
    """What the service worker shows, in the phone's language. No addresses: it appears on locked screens."""
    with translation.override(subscription.device.language):
        stops = len(delivery.ordered_stops)
        body = ngettext("%(km)s km, %(count)s stop", "%(km)s km, %(count)s stops", stops) % {
            "km": number_format(round(delivery.distance_km, 1), 1),
            "count": stops,
        }
        return json.dumps({"title": _("New offer"), "body": body, "deliveryId": str(delivery.pk)}).encode()


async def _send(requests: Sequence[Request | Result]) -> list[Result]:
    places = asyncio.Semaphore(_REQUESTS_AT_ONCE)

    async def send(request: Request | Result) -> Result:
        if isinstance(request, Result):
            return request
        async with places:
            return await http_client.send(session, request)

    async with http_client.open_session(allow_loopback=settings.WEBHOOK_ALLOW_LOOPBACK, seconds=_SECONDS) as session:
        return await asyncio.gather(*map(send, requests))


def _settle(subscription: PushSubscription, result: Result, *, at: datetime) -> None:
    # Unless the phone has subscribed anew meanwhile.
    current = PushSubscription.objects.filter(pk=subscription.pk, ciphertext=subscription.ciphertext)
    silent_since = subscription.silent_since
    is_silent = result.error == "timeout"
    if result.status_code in _GONE or (is_silent and silent_since and silent_since <= at - _GIVEN_UP_AFTER):
        current.delete()
    elif is_silent and silent_since is None:
        current.update(silent_since=at)
    elif silent_since and result.status_code is not None:
        current.update(silent_since=None)
    if not result.succeeded:
        _log.warning("A push to the phone %s was not taken: %s", subscription.pk, result.status_code or result.error)
