"""Parses JSON objects of requests within limits of size and depth. Pure."""

import json
from collections.abc import Callable
from typing import IO, Any, NoReturn


class BodyTooLarge(Exception):
    """The body has more than `most_bytes`."""


class BodyTooDeep(Exception):
    """Objects and lists are nested deeper than `most_levels`."""


class InvalidJSON(Exception):
    """Not JSON in UTF-8. `str(error)` is the decoder's message with the position, or empty."""


class NotAnObject(Exception):
    """JSON, but a list or a single value."""


def read_object(
    stream: IO[bytes], *, most_bytes: int, most_levels: int, parse_float: Callable[[str], Any] = float
) -> dict[str, Any]:
    """The JSON object in `stream`. `parse_float` converts numbers with a fraction or exponent.

    Raises BodyTooLarge, BodyTooDeep, InvalidJSON (also for NaN and infinities) or NotAnObject.
    """
    raw = stream.read(most_bytes + 1)
    if len(raw) > most_bytes:
        raise BodyTooLarge
    try:
        body = json.loads(raw.decode("utf-8"), parse_float=parse_float, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise BodyTooDeep from error
    except json.JSONDecodeError as error:
        raise InvalidJSON(str(error)) from error
    except ValueError as error:  # not UTF-8, NaN, integers of thousands of digits, what parse_float refuses
        raise InvalidJSON from error
    if not isinstance(body, dict):
        raise NotAnObject
    if _is_deeper(body, most_levels):
        raise BodyTooDeep
    return body


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


def _is_deeper(body: dict[str, Any], most_levels: int) -> bool:
    level: list[Any] = [body]
    for _depth in range(most_levels):
        level = [child for value in level for child in _containers(value)]
        if not level:
            return False
    return True


def _containers(value: Any) -> list[Any]:
    items = value.values() if isinstance(value, dict) else value
    return [item for item in items if isinstance(item, dict | list)]
