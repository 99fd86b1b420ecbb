"""Values of a platform's JSON as they are wanted; "" or None where they are something else. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from decimal import Decimal
from typing import Any

from common.api.json_body import UNSTORABLE
from common.shops.order import UnknownForm

# As long as the longest column of either area that takes such a text. Longer ones are cut, so that a pasted novel in a
# note refuses no order.
LONGEST_TEXT = 255
LONGEST_NOTE = 2_000
LONGEST_ID = 64  # ids are 20 digits at most, numbers of orders have a prefix and a suffix of the shop's
MOST_ITEMS = 500  # lines of an order; Shopify has 500 at most
MOST_METHODS = 20  # an order has a shipping method for each of its shipments
MOST_NOTES = 200  # meta data and attributes of an order: plug-ins write dozens
CENTAVO = Decimal("0.01")
_MOST = Decimal(10**9)  # reais of an order, grams, pieces: a greater one is a fault of the sender
_AMOUNT = re.compile(r"-?[0-9]{1,12}(\.[0-9]{1,20})?")
_WHOLE = re.compile(r"[0-9]{1,9}(\.0{1,6})?")
_LONGEST_MOMENT = 40

Object = Mapping[str, Any]


def at(value: Any, *path: str) -> Any:
    """What stands at `path` in nested objects; None if any of them is no object or has no such key."""
    for key in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value


def is_there(value: Object, key: str) -> bool:
    return value.get(key) is not None


def first_there(value: Object, *keys: str) -> Any:
    """The value of the first of `keys` that has one."""
    return next((value[key] for key in keys if is_there(value, key)), None)


def object_at(value: Any, *path: str) -> Object:
    found = at(value, *path)
    return found if isinstance(found, Mapping) else {}


def objects(value: Any, most: int) -> list[Object]:
    """The objects in a list, of its first `most` entries."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        return []
    return [entry for entry in value[:most] if isinstance(entry, Mapping)]


def bounded(value: Any, path: str) -> list[Object]:
    """The objects in a list of items. Raises UnknownForm for no list and for one that is longer than MOST_ITEMS."""
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) > MOST_ITEMS:
        raise UnknownForm((path,))
    return objects(value, MOST_ITEMS)


def text(value: Any, longest: int = LONGEST_TEXT) -> str:
    """A text, or a whole number as text, without what no column can hold and without blanks around it."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    if isinstance(value, int):
        return str(value) if abs(value) < 10**LONGEST_ID else ""
    # Cut before the pattern runs, with room for the blanks around it.
    return UNSTORABLE.sub("", value[: 2 * longest]).strip()[:longest].rstrip()


def first(*values: Any, longest: int = LONGEST_TEXT) -> str:
    """The first of `values` that is a text with something in it."""
    return next((found for value in values if (found := text(value, longest))), "")


def texts(found: Iterable[Any]) -> tuple[str, ...]:
    """Each different text of `found` once, in their order."""
    return tuple(dict.fromkeys(shown for value in found if (shown := text(value))))


def number(value: Any) -> Decimal | None:
    """A number, or a text that is one with a point. None for floats too: bodies are parsed with Decimal."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        value = value.strip() if len(value) < LONGEST_ID else ""
        value = Decimal(value) if _AMOUNT.fullmatch(value) else None
    elif isinstance(value, int):
        value = Decimal(value) if abs(value) < _MOST else None
    if not isinstance(value, Decimal) or not value.is_finite() or abs(value) >= _MOST:
        return None
    return value


def reais(value: Any) -> Decimal | None:
    """An amount with two decimals: platforms write prices of one piece with up to 15."""
    found = number(value)
    return None if found is None else found.quantize(CENTAVO)


def whole(value: Any) -> int | None:
    """A number of pieces, from 0 on."""
    found = number(value)
    if found is None or found < 0 or found != found.to_integral_value():
        return None
    return int(found)


def moment(value: Any, zone: tzinfo = UTC) -> datetime | None:
    """A moment in ISO 8601's notation; in `zone` if it names none."""
    if not isinstance(value, str) or len(value) > _LONGEST_MOMENT:
        return None
    try:
        found = datetime.fromisoformat(value.strip())
        return (found if found.tzinfo else found.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):  # no date; one whose moment in UTC is before the year 1 or after 9999
        return None


def degrees(value: Any, most: int) -> float | None:
    """A coordinate between -`most` and `most`; None for 0, which platforms write for a place that they did not find."""
    found = number(value)
    return float(found) if found and abs(found) <= most else None
