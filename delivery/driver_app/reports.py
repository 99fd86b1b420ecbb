"""Reads what phones report. Lengths and numbers are checked before anything is done with them."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

from django.utils.dateparse import parse_datetime

from common.json_body import UNSTORABLE
from delivery.actions.deliveries import LONGEST_REASON
from delivery.actions.driver_moves import Report
from delivery.actions.proofs import LONGEST_NAME, MOST_PHOTOS, Proof
from delivery.errors import InvalidReport
from delivery.geo.distance import Point
from delivery.geo.position_filter import Reported
from delivery.lifecycle import Trigger
from delivery.models import parse_id
from delivery.models.driver import REPORTED

MOST_MOVES, MOST_POSITIONS = 50, 100
_LONGEST_MOMENT, _LONGEST_PIN, _LONGEST_CODE = 40, 10, 20
_LONGEST_ENDPOINT, _LONGEST_KEY = 2000, 200
# How far two right clocks may differ.
_ABOUT = timedelta(seconds=5)
T = TypeVar("T")


def moves(body: dict[str, Any], *, at: datetime) -> list[Report]:
    """The moves in their order. Raises InvalidReport."""
    behind = _clock_error(body, at=at)
    return _items(body, "moves", MOST_MOVES, lambda item: _move(item, behind))


def positions(body: dict[str, Any], *, at: datetime) -> list[Reported]:
    """The positions in their order. Raises InvalidReport."""
    behind = _clock_error(body, at=at)
    return _items(body, "positions", MOST_POSITIONS, lambda item: _position(item, behind, at))


def subscription(body: dict[str, Any]) -> dict[str, str]:
    """`endpoint`, `p256dh` and `auth` of a browser's PushSubscription. Raises InvalidReport."""
    keys = body.get("keys")
    if not isinstance(keys, dict):
        raise _wrong("keys")
    texts = {name: _text(keys, name, _LONGEST_KEY) for name in ("p256dh", "auth")}
    return {"endpoint": _text(body, "endpoint", _LONGEST_ENDPOINT), **texts}


@dataclass(frozen=True)
class Photo:
    """What a phone says of a photo that it uploads."""

    upload: UUID
    delivery: UUID
    point: str
    taken_at: datetime


def photo(query: dict[str, Any], *, at: datetime) -> Photo:
    """The photo that the query of an upload describes, with or without `sentAt`. Raises InvalidReport."""
    behind = _clock_error(query, at=at) if "sentAt" in query else timedelta(0)
    return Photo(
        _id(query, "id"), _id(query, "deliveryId"), _text(query, "point", 1), _moment(query, "takenAt") + behind
    )


def _clock_error(body: dict[str, Any], *, at: datetime) -> timedelta:
    """How much the phone's clock is behind: to be added to its moments. From `sentAt`."""
    return at - _moment(body, "sentAt")


def _wrong(name: str) -> InvalidReport:
    return InvalidReport("'%(name)s' is not what it should be.", name=name)


def _items(body: dict[str, Any], name: str, most: int, read: Callable[[dict[str, Any]], T]) -> list[T]:
    items = body.get(name)
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise InvalidReport("'%(name)s' is no list of objects.", name=name)
    if len(items) > most:
        raise InvalidReport("'%(name)s' has more than %(most)s items.", name=name, most=most)
    return [read(item) for item in items]


def _move(item: dict[str, Any], behind: timedelta) -> Report:
    trigger = _text(item, "trigger", 10)
    if trigger not in REPORTED:
        raise _wrong("trigger")
    return Report(
        report=_id(item, "id"),
        delivery=_id(item, "deliveryId"),
        trigger=Trigger(trigger),
        made_at=_moment(item, "madeAt") + behind,
        point=_text(item, "point", 1),
        code=_text(item, "code", _LONGEST_CODE),
        reason=_text(item, "reason", LONGEST_REASON),
        proof=Proof(
            received_by=_text(item, "receivedBy", LONGEST_NAME).strip(),
            pin=_text(item, "pin", _LONGEST_PIN).strip(),
            photos=_photos(item),
            left=_flag(item, "left"),
        ),
    )


def _flag(item: dict[str, Any], name: str) -> bool:
    value = item.get(name, False)
    if not isinstance(value, bool):
        raise _wrong(name)
    return value


def _photos(item: dict[str, Any]) -> tuple[UUID, ...]:
    values = item.get("photos") or []
    if not isinstance(values, list) or len(values) > MOST_PHOTOS:
        raise _wrong("photos")
    return tuple(_id({"photos": value}, "photos") for value in values)


def _position(item: dict[str, Any], behind: timedelta, at: datetime) -> Reported:
    accuracy = item.get("accuracy")
    told = _moment(item, "at")
    return Reported(
        point=Point(_number(item, "latitude"), _number(item, "longitude")),
        at=_fixed_at(told, _moment(item, "heardAt") if "heardAt" in item else told, behind, at),
        accuracy_m=None if accuracy is None else abs(_number(item, "accuracy")),
        told_at=told,
    )


def _fixed_at(told: datetime, heard_at: datetime, behind: timedelta, at: datetime) -> datetime:
    """When a position was found, by the clock of the service, at which it is `at`.

    The position's own moment, `told`, is by the phone's clock or by the satellites', which is right, and nothing says
    by which. The page heard of it at `heard_at` by the phone's clock. So its age at that time is the difference by one
    or the other of them. The smaller one is taken that is possible, because a page is told of a position at once.
    """
    heard = min(heard_at + behind, at)
    ages = [age for age in (heard_at - told, heard - told) if age >= -_ABOUT]
    return heard - max(min(ages, default=timedelta(0)), timedelta(0))


def _number(item: dict[str, Any], name: str) -> float:
    value = item.get(name)
    try:
        number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:  # JSON's integers have any number of digits
        number = math.nan
    if not math.isfinite(number):
        raise _wrong(name)
    return number


def _text(item: dict[str, Any], name: str, longest: int) -> str:
    value = item.get(name)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > longest or UNSTORABLE.search(value):
        raise _wrong(name)
    return value


def _id(item: dict[str, Any], name: str) -> UUID:
    value = parse_id(_text(item, name, 36))
    if value is None:
        raise _wrong(name)
    return value


def _moment(item: dict[str, Any], name: str) -> datetime:
    """A moment in ISO 8601 with its offset, of this century, so that no arithmetic with it overflows."""
    try:
        value = parse_datetime(_text(item, name, _LONGEST_MOMENT))
    except ValueError:
        value = None
    if value is None or value.tzinfo is None or not 2000 < value.year < 2100:  # noqa: PLR2004  # years
        raise _wrong(name)
    return value
