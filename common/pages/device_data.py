"""Reads what pages of `common.pages.offline_pages` send: JSON, of which everything is checked before it is used."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from io import BytesIO
from typing import IO, Any, TypeVar
from uuid import UUID

from django.http import HttpRequest, JsonResponse, RawPostDataException
from django.utils.dateparse import parse_datetime
from prometheus_client import Counter

from common.api.json_body import UNSTORABLE, BodyTooDeep, InvalidJSON, NotAnObject, read_object
from common.errors import DomainError
from common.fields import parse_id
from common.observability.metrics import REGISTRY

MOST_AT_ONCE = 50  # moves in one call: `common/static/offline/sending.js`
MOST_BYTES = 128 * 1024
_MOST_LEVELS = 6
_LONGEST_MOMENT, _LENGTH_OF_ID = 40, 36
# Of a device's clock that was never set, and of one that is some years ahead. No arithmetic with them overflows.
_YEARS = range(1969, 2200)
T = TypeVar("T")
# The name is that of docs/monitoring.md.
_UNREADABLE = Counter(
    "rota_unreadable_items",
    "Items and fields that devices sent and that could not be read",
    ["list"],
    registry=REGISTRY,
)


class InvalidDeviceData(DomainError):
    """What a device has sent, whose form the service does not understand."""

    code = "invalid_report"
    title = "What was sent is not valid"


def error(status: int, code: str, detail: str) -> JsonResponse:
    """The answer to a request that is refused as a whole."""
    return JsonResponse({"code": code, "detail": detail}, status=status)


def read_body(request: HttpRequest) -> dict[str, Any]:
    """The request's JSON object. Raises BodyTooLarge and InvalidDeviceData."""
    try:
        content = request.body
    except RawPostDataException as fault:  # a form with parts was read by the check against forgery
        raise _no_object() from fault
    return read_content(BytesIO(content))


def read_content(stream: IO[bytes]) -> dict[str, Any]:
    """The JSON object of a body. Raises BodyTooLarge and InvalidDeviceData."""
    try:
        return read_object(stream, most_bytes=MOST_BYTES, most_levels=_MOST_LEVELS)
    except (BodyTooDeep, InvalidJSON, NotAnObject) as fault:
        raise _no_object() from fault


def _no_object() -> InvalidDeviceData:
    return InvalidDeviceData("What was sent is no JSON object.")


def clock_error(body: Mapping[str, Any], *, at: datetime) -> timedelta:
    """How much the device's clock is behind: to be added to its moments. From `sentAt`.

    Without it, or where it cannot be read, nothing is known of the clock, so it is taken to be right. Whoever uses a
    moment keeps it from lying ahead of now.
    """
    sent_at = readable(body, "sentAt", moment) if "sentAt" in body else None
    return timedelta(0) if sent_at is None else at - sent_at


@dataclass(frozen=True)
class Unreadable:
    """An item of a list that cannot be read, why, and the id that the device gave it; None if that is no short text."""

    id: str | None
    error: InvalidDeviceData


def items(body: Mapping[str, Any], name: str, most: int, read: Callable[[dict[str, Any]], T]) -> list[T | Unreadable]:
    """The objects of a list, each by itself: as `read` returns it, or why it cannot be read, which is counted.

    Raises InvalidDeviceData for what is no list, or too long.
    """
    found = body.get(name)
    if not isinstance(found, list):
        raise InvalidDeviceData("'%(name)s' is no list.", name=name)
    if len(found) > most:
        raise InvalidDeviceData("'%(name)s' has more than %(most)s items.", name=name, most=most)
    return [_item(item, name, read) for item in found]


def _item(item: Any, name: str, read: Callable[[dict[str, Any]], T]) -> T | Unreadable:
    fields = item if isinstance(item, dict) else {}  # which has nothing that is required
    try:
        return read(fields)
    except InvalidDeviceData as error:
        _UNREADABLE.labels(name).inc()
        sent = fields.get("id")
        is_text = isinstance(sent, str) and len(sent) <= _LENGTH_OF_ID and not UNSTORABLE.search(sent)
        return Unreadable(sent if is_text else None, error)


def readable(item: Mapping[str, Any], name: str, read: Callable[[Mapping[str, Any], str], T]) -> T | None:
    """The field as `read` returns it; None where it cannot be read, which is counted.

    For what a request can do without: its other fields are used.
    """
    try:
        return read(item, name)
    except InvalidDeviceData:
        _UNREADABLE.labels(name).inc()
        return None


def wrong(name: str) -> InvalidDeviceData:
    return InvalidDeviceData("'%(name)s' is not what it should be.", name=name)


def text(item: Mapping[str, Any], name: str, longest: int) -> str:
    """A text that can be stored; empty if there is none. Raises InvalidDeviceData."""
    value = item.get(name)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > longest or UNSTORABLE.search(value):
        raise wrong(name)
    return value


def identifier(item: Mapping[str, Any], name: str) -> UUID:
    """Raises InvalidDeviceData."""
    value = parse_id(text(item, name, _LENGTH_OF_ID))
    if value is None:
        raise wrong(name)
    return value


def moment(item: Mapping[str, Any], name: str) -> datetime:
    """A moment in ISO 8601 with its offset, by a clock that can be years wrong. Raises InvalidDeviceData."""
    try:
        value = parse_datetime(text(item, name, _LONGEST_MOMENT))
    except ValueError:
        value = None
    if value is None or value.tzinfo is None or value.year not in _YEARS:
        raise wrong(name)
    return value
