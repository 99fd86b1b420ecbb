"""Reads what pages of `common.offline_pages` report: JSON, of which everything is checked before it is used."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from io import BytesIO
from typing import Any, TypeVar
from uuid import UUID

from django.http import HttpRequest, JsonResponse, RawPostDataException
from django.utils.dateparse import parse_datetime

from common.errors import DomainError
from common.fields import parse_id
from common.json_body import UNSTORABLE, BodyTooDeep, InvalidJSON, NotAnObject, read_object

MOST_AT_ONCE = 50  # moves in one call: `common/static/offline/sending.js`
_MOST_BYTES = 128 * 1024
_MOST_LEVELS = 6
_LONGEST_MOMENT, _LENGTH_OF_ID = 40, 36
T = TypeVar("T")


class InvalidReport(DomainError):
    """A report whose form the service does not understand."""

    code = "invalid_report"
    title = "The report is not valid"


def error(status: int, code: str, detail: str) -> JsonResponse:
    """The answer to a report that is refused as a whole."""
    return JsonResponse({"code": code, "detail": detail}, status=status)


def read_body(request: HttpRequest) -> dict[str, Any]:
    """The request's JSON object. Raises BodyTooLarge and InvalidReport."""
    try:
        return read_object(BytesIO(request.body), most_bytes=_MOST_BYTES, most_levels=_MOST_LEVELS)
    # A form with parts was read by the check against forgery.
    except (BodyTooDeep, InvalidJSON, NotAnObject, RawPostDataException) as fault:
        raise InvalidReport("The report is no JSON object.") from fault


def clock_error(body: Mapping[str, Any], *, at: datetime) -> timedelta:
    """How much the device's clock is behind: to be added to its moments. From `sentAt`. Raises InvalidReport."""
    return at - moment(body, "sentAt")


def items(body: Mapping[str, Any], name: str, most: int, read: Callable[[dict[str, Any]], T]) -> list[T]:
    """The objects of a list, each as `read` returns it. Raises InvalidReport."""
    found = body.get(name)
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise InvalidReport("'%(name)s' is no list of objects.", name=name)
    if len(found) > most:
        raise InvalidReport("'%(name)s' has more than %(most)s items.", name=name, most=most)
    return [read(item) for item in found]


def wrong(name: str) -> InvalidReport:
    return InvalidReport("'%(name)s' is not what it should be.", name=name)


def text(item: Mapping[str, Any], name: str, longest: int) -> str:
    """A text that can be stored; empty if there is none. Raises InvalidReport."""
    value = item.get(name)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > longest or UNSTORABLE.search(value):
        raise wrong(name)
    return value


def identifier(item: Mapping[str, Any], name: str) -> UUID:
    """Raises InvalidReport."""
    value = parse_id(text(item, name, _LENGTH_OF_ID))
    if value is None:
        raise wrong(name)
    return value


def moment(item: Mapping[str, Any], name: str) -> datetime:
    """A moment in ISO 8601 with its offset, of this century, so that no arithmetic with it overflows.

    Raises InvalidReport.
    """
    try:
        value = parse_datetime(text(item, name, _LONGEST_MOMENT))
    except ValueError:
        value = None
    if value is None or value.tzinfo is None or not 2000 < value.year < 2100:  # noqa: PLR2004  # years
        raise wrong(name)
    return value
