"""The texts of refusals, as people read them."""

from datetime import datetime

from django.utils.translation import gettext, gettext_noop

from common import refusals
from common.brazil import formats, zones
from common.errors import DomainError
from delivery import words
from delivery.errors import MoveRefused, StopNotOpen
from delivery.lifecycle import Mode

# Why a move is refused, as drivers are told it, by the status of the route.
_TO_DRIVERS = {
    "ACCEPTED": gettext_noop("The goods have not been collected at A yet."),
    "COLLECTED": gettext_noop("The goods are collected, and not all points are done."),
    "RETURNING": gettext_noop("All points are done. Bring the goods that are left back to A."),
    "FINISHED": gettext_noop("This route is finished."),
    "CANCELLED": gettext_noop("This route was cancelled. There is nothing left to do."),
}
_TO_DRIVERS_IN_REVERSE = _TO_DRIVERS | {
    "ACCEPTED": gettext_noop("Nothing is collected yet. The goods are at the points."),
    "COLLECTED": gettext_noop("Not all points are done."),
    "RETURNING": gettext_noop("All points are done. Bring what you have collected to A."),
}


def refusal_to_driver(error: DomainError) -> str:
    """The message of a refusal to a driver, in the driver's words and language."""
    if isinstance(error, StopNotOpen):
        return gettext("This point is done already.")
    texts = _TO_DRIVERS_IN_REVERSE if error.values.get("mode") == Mode.REVERSE else _TO_DRIVERS
    text = texts.get(str(error.values.get("route"))) if isinstance(error, MoveRefused) else None
    return gettext(text) if text else refusal(error)


def refusal(error: DomainError) -> str:
    """The message of a refusal in the reader's language."""
    return refusals.refusal(error, written=_translated)


def _translated(value: object) -> str:
    if isinstance(value, datetime):
        text, zone = formats.opening(value, value.tzinfo), value.tzinfo and zones.name(value.tzinfo, at=value)
        return f"{text} ({zone})" if zone else text
    parts = str(value).split(", ")
    return ", ".join(gettext(part) for part in parts) if words.CODES.issuperset(parts) else str(value)
