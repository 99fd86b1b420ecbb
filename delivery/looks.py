"""Who looks at where drivers are. Their phones report every five seconds then, and else every twenty.

Somebody looks at a driver while a page is open that is told of the driver's moves, and for a minute after a look that
was noted. Where Redis is away, at every driver.
"""

import logging
import time
from collections.abc import Collection, Mapping
from uuid import UUID

from redis import RedisError

from common.connections import BackOff, redis
from common.pages.page_updates import CHANNEL, Message, publish, subscribed
from delivery import page_updates

_log = logging.getLogger(__name__)
# Seconds between two reports of a phone.
WATCHED, UNWATCHED = 5, 20
# In place of ids, to a phone: report every five seconds.
REPORT = "report"
_KEY = "rota:looked-at:"  # followed by the id of the driver
_KEPT_SECONDS = 60
_NOTED_SECONDS = 20
_MOST_NOTED = 10_000
# When this process notes a look at a driver again, on the monotonic clock.
_noted: dict[UUID, float] = {}
_back_off = BackOff(2)


def note(driver_id: UUID) -> None:
    """Somebody looks at where this driver is. The first look tells the phone to report. Raises nothing."""
    now = time.monotonic()
    if now < _noted.get(driver_id, 0.0) or _back_off.is_on:
        return
    if len(_noted) >= _MOST_NOTED:
        _noted.clear()
    _noted[driver_id] = now + _NOTED_SECONDS
    key = f"{_KEY}{driver_id}"
    try:
        with redis().pipeline(transaction=False) as pipeline:
            pipeline.set(key, 1, ex=_KEPT_SECONDS, nx=True)
            pipeline.expire(key, _KEPT_SECONDS)
            is_first, _is_kept = pipeline.execute()
    except RedisError as error:
        _back_off.begin()
        _log.warning("A look at a driver was not noted: %s", error)
        return
    if is_first:
        publish(Message(page_updates.driver(driver_id), [REPORT]))


def note_board(environment: str, vehicles: Collection[str]) -> None:
    """A dispatch board opens. The first one tells the phones of drivers with these vehicles to report."""
    if not subscribed([page_updates.board(environment)]):
        publish(*(Message(page_updates.offers(environment, vehicle), [REPORT]) for vehicle in vehicles))


def watched(drivers: Mapping[UUID, Collection[str]]) -> set[UUID]:
    """The drivers at whom somebody looks, by one round trip. `drivers`: with the topics of pages that show them."""
    if not drivers or _back_off.is_on:
        return set(drivers)
    topics = sorted({topic for each in drivers.values() for topic in each})
    try:
        with redis().pipeline(transaction=False) as pipeline:
            pipeline.pubsub_numsub(*(f"{CHANNEL}{topic}" for topic in topics))
            pipeline.mget([f"{_KEY}{driver_id}" for driver_id in drivers])
            counts, looks = pipeline.execute()
    except RedisError as error:
        _back_off.begin()
        _log.warning("Who looks at drivers is not known: %s", error)
        return set(drivers)
    is_open = {channel.decode().removeprefix(CHANNEL) for channel, count in counts if count}
    return {
        driver_id
        for (driver_id, shown), look in zip(drivers.items(), looks, strict=True)
        if look is not None or not is_open.isdisjoint(shown)
    }
