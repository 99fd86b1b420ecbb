"""Bodies of an area's API that are made of a shop's order: keys without a value are absent. Pure."""

from collections.abc import Mapping
from typing import Any

Body = dict[str, Any]


def without_blanks(values: Mapping[str, Any]) -> Body:
    """The object without keys whose value is empty or null, also in the objects in it."""
    kept = {key: without_blanks(each) if isinstance(each, dict) else each for key, each in values.items()}
    return {key: each for key, each in kept.items() if each not in (None, "", {})}


def merged(now: Any, *, before: Any, here: Any) -> Any:
    """`here` with what has changed in the shop, between `before` and `now`; the rest stays as it is here."""
    if not any(isinstance(each, dict) for each in (now, before, here)):
        return here if now == before else now
    now, before, here = now or {}, before or {}, here or {}
    keys = dict.fromkeys([*here, *now])
    return without_blanks({key: merged(now.get(key), before=before.get(key), here=here.get(key)) for key in keys})
