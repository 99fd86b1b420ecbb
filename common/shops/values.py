"""Values of a platform's JSON as they are wanted; "" or None where they are something else. Pure.

But for `require` and `lines`, which raise UnknownForm, nothing raises, whatever the value is.
"""

import re
from collections.abc import Callable, Iterable, Mapping
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
MOST_NOTES = 200  # meta data, attributes and refunds of an order: plug-ins write dozens
ZERO = Decimal("0.00")
_CENTAVO = Decimal("0.01")
_MOST = Decimal(10**9)  # reais, pieces, grams: a greater number is a fault of the sender
_HEAVIEST_G = Decimal(10**6)
_LONGEST_CM = Decimal(10**3)
_AMOUNT = re.compile(r"-?[0-9]{1,12}(\.[0-9]{1,20})?")
_LONGEST_NUMBER = 40
_LONGEST_MOMENT = 40

Object = Mapping[str, Any]
# Paths of what makes a body an order of the platform, and what reads each.
Form = Mapping[str, Callable[[Any], object]]


def require(order: Any, form: Form, *, prefix: str = "") -> None:
    """Raise UnknownForm with the paths of `form` at which nothing is found; each begins with `prefix`."""
    missing = [path for path, kind in form.items() if kind(at(order, *path.split("."))) in (None, "")]
    if missing:
        raise UnknownForm(tuple(f"{prefix}{path}" for path in missing))


def lines(value: Any, path: str) -> list[Object]:
    """The lines of an order. Raises UnknownForm for more than MOST_ITEMS: an order is taken whole or not at all."""
    found = listing(value) or []
    if len(found) > MOST_ITEMS:
        raise UnknownForm((f"{path}[:{MOST_ITEMS}]",))
    return objects(found, MOST_ITEMS)


def at(value: Any, *path: str) -> Any:
    """What stands at `path` in nested objects; None if any of them is no object or has no such key."""
    for key in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value


def mapping(value: Any) -> Object | None:
    return value if isinstance(value, Mapping) else None


def listing(value: Any) -> list[Any] | None:
    return value if isinstance(value, list) else None


def object_at(value: Any, *path: str) -> Object:
    return mapping(at(value, *path)) or {}


def objects(value: Any, most: int) -> list[Object]:
    """The objects in a list, of its first `most` entries."""
    return [entry for entry in (listing(value) or [])[:most] if isinstance(entry, Mapping)]


def present(value: Object, *keys: str) -> Any:
    """The value of the first of `keys` that has one."""
    return next((value[key] for key in keys if value.get(key) is not None), None)


def text(value: Any, longest: int = LONGEST_TEXT) -> str:
    """A text, or a whole number as text, without what no column can hold and without blanks around it."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if abs(value) < 10**LONGEST_ID else ""
    if not isinstance(value, str):
        return ""
    # Cut before the pattern runs, with room for the blanks around it.
    return UNSTORABLE.sub("", value[: 2 * longest]).strip()[:longest].rstrip()


def identifier(value: Any) -> str:
    return text(value, LONGEST_ID)


def first(*found: Any) -> str:
    """The first of `found` that is a text with something in it."""
    return next((shown for value in found if (shown := text(value))), "")


def texts(found: Iterable[Any]) -> tuple[str, ...]:
    """Each different text of `found` once, in their order."""
    return tuple(dict.fromkeys(shown for value in found if (shown := text(value))))


def joined(*parts: Any, by: str = " ") -> str:
    """The texts among `parts`, with `by` between them."""
    return text(by.join(shown for part in parts if (shown := text(part))))


def number(value: Any) -> Decimal | None:
    """A number, or a text that is one with a point, below a thousand million.

    None for floats: a body is parsed with Decimal for numbers with a fraction or exponent.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Decimal(value) if abs(value) < _MOST else None
    if isinstance(value, str):
        shown = value.strip() if len(value) < _LONGEST_NUMBER else ""
        value = Decimal(shown) if _AMOUNT.fullmatch(shown) else None
    if not isinstance(value, Decimal) or not value.is_finite():
        return None
    # `abs` raises for an exponent that the context does not allow.
    return value if value.copy_abs() < _MOST else None


def reais(value: Any) -> Decimal | None:
    """An amount with two decimals: platforms write the price of one piece with up to 15."""
    found = number(value)
    return None if found is None else found.quantize(_CENTAVO)


def price(value: Any) -> Decimal:
    """An amount as `reais`; 0 for a negative one, and for what is no amount."""
    return max(reais(value) or ZERO, ZERO)


def pieces(value: Any) -> int:
    """A whole number from 0 on; 0 for all else."""
    found = number(value)
    return int(found) if found is not None and found > 0 and found == found.to_integral_value() else 0


def grams(value: Any, *, of_unit: int = 1) -> int | None:
    """A weight in units of `of_unit` grams, at least a gram; None for 0, which is written for no weight."""
    found = number(value)
    if found is None or not 0 < found * of_unit <= _HEAVIEST_G:
        return None
    return max(int(found * of_unit), 1)


def size(*sides: Any) -> tuple[Decimal, Decimal, Decimal] | None:
    """Width, height and length in centimetres; None unless each is known."""
    found = [side for value in sides if (side := reais(value)) and 0 < side <= _LONGEST_CM]
    match found:
        case [width, height, length]:
            return width, height, length
    return None


def moment(value: Any, zone: tzinfo = UTC) -> datetime | None:
    """A moment in ISO 8601's notation, in UTC; it is of `zone` if it names none."""
    shown = text(value)
    if not isinstance(value, str) or len(shown) > _LONGEST_MOMENT:
        return None
    try:
        found = datetime.fromisoformat(shown)
        return (found if found.tzinfo else found.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):  # no date; one whose moment in UTC is before the year 1 or after 9999
        return None


def degrees(value: Any, most: int) -> float | None:
    """A coordinate between -`most` and `most`; None for 0, which is written for a place that was not found."""
    found = number(value)
    return float(found) if found and abs(found) <= most else None
