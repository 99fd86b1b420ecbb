"""What a caller may have meant by a path that no endpoint has."""

import difflib
import heapq
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import accumulate
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

Route = tuple[str, ...]

_LONGEST_COMPARED = 32  # characters of a part; comparing takes quadratic time
_MOST_PARTS = 10
_BEGINNINGS = (("api",), ("api", "integration"))
_PARTS_OF_A_LIST = 3  # of the paths whose ends are listed, at least: `api/sandbox/deliveries`
# Costs. Of another word it is what it lacks of being the same, at most 0.3.
_LEAST_RATIO = 0.7
_WORD_ADDED, _PARAMETER_ADDED, _VALUE_TAKEN_OUT = 0.5, 0.25, 0.5
_WORD_AS_VALUE = 0.35  # values have digits nearly always
_NEVER = 1
_MOST = 0.7


def nearest(path: str) -> str:
    """The path of an endpoint that differs little from this one, with its parameters in braces; or an empty text."""
    parts = _parts(path)
    if len(parts) > _MOST_PARTS or all(map(_is_value, parts[1:])):
        return ""
    costs: dict[tuple[str, str], float] = {}

    def cost(part: str, known: str) -> float:
        if known.startswith("{"):
            return 0 if _is_value(part) else _WORD_AS_VALUE
        if (part, known) not in costs:
            costs[part, known] = _difference(part, known)
        return costs[part, known]

    first, second = heapq.nsmallest(
        2,
        (
            (_distance(parts, [part.lower() for part in route], cost), -_words_in(route, parts), route)
            for route in _routes()
        ),
    )
    least, _words, route = first
    is_clear = not least or first[:2] != second[:2]
    return _written_out(route) if is_clear and least <= _MOST else _of_action(parts[-1])


def below_api(path: str) -> str:
    """The path of the endpoint that this one would be, if it did not lack its beginning; or an empty text."""
    parts = _parts(path)
    found = (
        route
        for beginning in _BEGINNINGS
        for route in _routes()
        if len(route) == len(beginning) + len(parts) and all(map(_is_of, (*beginning, *parts), route))
    )
    return next(map(_written_out, found), "") if parts else ""


def known_ends(path: str) -> list[str]:
    """What may follow this path, or stand in the place of its last part: the names of a resource's actions."""
    parts = _parts(path)
    return _ends_of(parts) or _ends_of(parts[:-1])


def _ends_of(parts: list[str]) -> list[str]:
    if len(parts) < _PARTS_OF_A_LIST:
        return []
    return [
        "/".join(route[len(parts) :])
        for route in _routes()
        if len(route) > len(parts) and all(map(_is_of, parts, route)) and not route[len(parts)].startswith("{")
    ]


def _of_action(word: str) -> str:
    """The path with an action in its name: `cancel` for `/api/cancel-delivery/{deliveryId}`."""
    found = [route for route in _routes() if any(part.startswith(f"{word}-") for part in route)]
    return _written_out(found[0]) if len(found) == 1 else ""


def _written_out(route: Route) -> str:
    return "/" + "/".join(route)


def _parts(path: str) -> list[str]:
    """The parts of a path, without the number of a version behind its beginning, which our paths have not."""
    parts = [part.lower()[:_LONGEST_COMPARED] for part in path.split("/") if part]
    for beginning in _BEGINNINGS:
        place = len(beginning)
        if tuple(parts[:place]) == beginning and len(parts) > place and _is_version(parts[place]):
            del parts[place]
    return parts


def _is_version(part: str) -> bool:
    return part.startswith("v") and part[1:].isdigit()


def _is_value(part: str) -> bool:
    return len(part) == 1 or not part.replace("-", "").isalpha()


def _is_of(part: str, known: str) -> bool:
    return _is_value(part) if known.startswith("{") else part == known.lower()


def _words_in(route: Route, parts: Iterable[str]) -> int:
    """How many of the route's words the path has: of two that are as near, the one with fewer parameters is meant."""
    return len({word.lower() for word in route} & {*parts})


def _distance(parts: list[str], route: list[str], difference: Callable[[str, str], float]) -> float:
    """The least cost of making one the other, by parts: changed, added and left out."""
    # A word at the end says what is done, which nobody can guess.
    added = [_PARAMETER_ADDED if known.startswith("{") else _WORD_ADDED for known in route[:-1]]
    added.append(_PARAMETER_ADDED if route[-1].startswith("{") else _NEVER)
    row = [*accumulate(added, initial=0.0)]
    for part in parts:
        taken_out = _VALUE_TAKEN_OUT if _is_value(part) else _NEVER
        above, row = row, [row[0] + taken_out]
        for index, known in enumerate(route):
            row.append(
                min(above[index] + difference(part, known), above[index + 1] + taken_out, row[index] + added[index])
            )
    return row[-1]


def _difference(part: str, known: str) -> float:
    if part == known:
        return 0
    matcher = difflib.SequenceMatcher(None, part, known, autojunk=False)
    if matcher.real_quick_ratio() < _LEAST_RATIO or matcher.quick_ratio() < _LEAST_RATIO:
        return 1
    ratio = matcher.ratio()
    return 1 if ratio < _LEAST_RATIO else 1 - ratio


@cache
def _routes() -> list[Route]:
    """The paths of the APIs, by their parts; parameters as `{deliveryId}`."""
    found = {
        tuple(_named(part) for part in route.split("/") if part) for route in _written(get_resolver().url_patterns)
    }
    return sorted(route for route in found if route[:1] == ("api",) and len(route) > 1)


def _written(patterns: list[Any], before: str = "") -> Iterator[str]:
    for pattern in patterns:
        route = f"{before}{pattern.pattern}"
        if isinstance(pattern, URLResolver):
            yield from _written(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern):
            yield route


def _named(part: str) -> str:
    """`<str:delivery_id>` as `{deliveryId}`; another part as it is."""
    if not part.startswith("<"):
        return part
    first, *others = part.strip("<>").rpartition(":")[2].split("_")
    return "{" + first + "".join(map(str.capitalize, others)) + "}"
