"""Reads what phones send. Lengths and numbers are checked before anything is done with them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from common.pages.device_data import (
    MOST_AT_ONCE,
    Unreadable,
    clock_error,
    identifier,
    items,
    moment,
    readable,
    text,
    wrong,
)
from delivery.actions.deliveries import LONGEST_REASON
from delivery.actions.proofs import LONGEST_NAME, MOST_PHOTOS, Proof
from delivery.drivers.moves import SentMove
from delivery.geo.distance import Point
from delivery.geo.position_filter import SentPosition
from delivery.lifecycle import Trigger
from delivery.models.driver import FROM_PHONES

MOST_POSITIONS = 100
_LONGEST_PIN, _LONGEST_CODE = 10, 20
_LONGEST_ENDPOINT, _LONGEST_KEY = 2000, 200
# How far two right clocks may differ.
_ABOUT = timedelta(seconds=5)
_OLDEST = timedelta(days=365)
_NOWHERE = Point(math.nan, math.nan)


def moves(body: dict[str, Any], *, at: datetime) -> list[SentMove | Unreadable]:
    """The moves in their order, each by itself. Raises InvalidDeviceData."""
    behind = clock_error(body, at=at)
    return items(body, "moves", MOST_AT_ONCE, lambda item: _move(item, behind))


def positions(body: dict[str, Any], *, at: datetime) -> list[SentPosition]:
    """The positions in their order. One that cannot be read is at no place on earth. Raises InvalidDeviceData."""
    behind = clock_error(body, at=at)
    found = items(body, "positions", MOST_POSITIONS, lambda item: _position(item, behind, at))
    return [SentPosition(_NOWHERE, at) if isinstance(each, Unreadable) else each for each in found]


def subscription(body: dict[str, Any]) -> dict[str, str]:
    """`endpoint`, `p256dh` and `auth` of a browser's PushSubscription. Raises InvalidDeviceData."""
    keys = body.get("keys")
    if not isinstance(keys, dict):
        raise wrong("keys")
    texts = {name: text(keys, name, _LONGEST_KEY) for name in ("p256dh", "auth")}
    return {"endpoint": text(body, "endpoint", _LONGEST_ENDPOINT), **texts}


@dataclass(frozen=True)
class Photo:
    """What a phone says of a photo that it uploads."""

    upload: UUID
    delivery: UUID
    point: str
    taken_at: datetime


def photo(query: dict[str, Any], *, at: datetime) -> Photo:
    """The photo that the query of an upload describes, with or without `sentAt`. Raises InvalidDeviceData."""
    behind = clock_error(query, at=at)
    return Photo(
        identifier(query, "id"),
        identifier(query, "deliveryId"),
        text(query, "point", 1),
        moment(query, "takenAt") + behind,
    )


def _move(item: dict[str, Any], behind: timedelta) -> SentMove:
    trigger = text(item, "trigger", 10)
    if trigger not in FROM_PHONES:
        raise wrong("trigger")
    return SentMove(
        id=identifier(item, "id"),
        delivery=identifier(item, "deliveryId"),
        trigger=Trigger(trigger),
        made_at=moment(item, "madeAt") + behind,
        point=text(item, "point", 1),
        code=text(item, "code", _LONGEST_CODE),
        reason=text(item, "reason", LONGEST_REASON),
        was_tried=_flag(item, "wasTried") if "wasTried" in item else None,
        proof=Proof(
            received_by=text(item, "receivedBy", LONGEST_NAME).strip(),
            pin=text(item, "pin", _LONGEST_PIN).strip(),
            photos=_photos(item),
            left=_flag(item, "left"),
        ),
    )


def _flag(item: dict[str, Any], name: str) -> bool:
    value = item.get(name, False)
    if not isinstance(value, bool):
        raise wrong(name)
    return value


def _photos(item: dict[str, Any]) -> tuple[UUID, ...]:
    """Without those that cannot be read. Where a photo is needed and none is left, the delivery is refused for that."""
    values = item.get("photos") or []
    if not isinstance(values, list) or len(values) > MOST_PHOTOS:
        raise wrong("photos")
    found = [readable({"photos": value}, "photos", identifier) for value in values]
    return tuple(each for each in found if each is not None)


def _position(item: dict[str, Any], behind: timedelta, at: datetime) -> SentPosition:
    told, heard_at = _told(item)
    accuracy = None if item.get("accuracy") is None else readable(item, "accuracy", _number)
    return SentPosition(
        point=Point(_number(item, "latitude"), _number(item, "longitude")),
        at=_fixed_at(told, heard_at, behind, at),
        accuracy_m=None if accuracy is None else abs(accuracy),
        told_at=told,
    )


def _told(item: dict[str, Any]) -> tuple[datetime, datetime]:
    """The position's own moment, and when the page heard of it. One stands for the other where that cannot be read.

    A receiver of satellites can tell a date that there cannot be. A page of the version before does not say when it
    heard.
    """
    heard_at = readable(item, "heardAt", moment) if "heardAt" in item else None
    if heard_at is None:
        told = moment(item, "at")
        return told, told
    return readable(item, "at", moment) or heard_at, heard_at


def _fixed_at(told: datetime, heard_at: datetime, behind: timedelta, at: datetime) -> datetime:
    """When a position was found, by the clock of the service, at which it is `at`.

    The position's own moment, `told`, is by the phone's clock or by the satellites', which is right, and nothing says
    by which. The page heard of it at `heard_at` by the phone's clock. So its age at that time is the difference by one
    or the other of them. The smaller one is taken that is possible, because a page is told of a position at once.
    A receiver that counts the weeks of satellites with ten bits is 1024 weeks late: no position is a year old.
    """
    heard = min(heard_at + behind, at)
    ages = [age for age in (heard_at - told, heard - told) if -_ABOUT <= age <= _OLDEST]
    return heard - max(min(ages, default=timedelta(0)), timedelta(0))


def _number(item: Mapping[str, Any], name: str) -> float:
    value = item.get(name)
    try:
        number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:  # JSON's integers have any number of digits
        number = math.nan
    if not math.isfinite(number):
        raise wrong(name)
    return number
