"""Reading a request's body within bounds."""

import json
from collections.abc import Mapping
from typing import IO, Any, NoReturn

from django.conf import settings
from rest_framework.parsers import BaseParser

from delivery.errors import BodyTooLarge, MalformedBody

# The deepest value that the API knows, dropoffs[0].address.city, is at depth 4.
_DEEPEST = 20


class BoundedJSONParser(BaseParser):
    """A JSON object of at most MAX_BODY_BYTES and 20 levels. Raises BodyTooLarge or MalformedBody otherwise."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        raw = stream.read(settings.MAX_BODY_BYTES + 1)
        if len(raw) > settings.MAX_BODY_BYTES:
            raise BodyTooLarge(f"The body is larger than {settings.MAX_BODY_BYTES // 1024} KiB.")
        try:
            body = json.loads(raw.decode("utf-8"), parse_constant=_refuse_constant)
        except RecursionError as error:
            raise MalformedBody(f"The body is nested deeper than {_DEEPEST} levels.") from error
        except json.JSONDecodeError as error:
            raise MalformedBody(f"The body is not JSON: {error}.") from error
        except ValueError as error:  # what is not UTF-8, NaN, integers of thousands of digits
            raise MalformedBody("The body is not JSON in UTF-8, or holds a number that JSON does not know.") from error
        if not isinstance(body, dict):
            raise MalformedBody("The body must be a JSON object.")
        _refuse_depth(body)
        return body


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


def _refuse_depth(body: dict[str, Any]) -> None:
    level: list[Any] = [body]
    for _depth in range(_DEEPEST):
        level = [child for value in level for child in _children(value)]
        if not level:
            return
    raise MalformedBody(f"The body is nested deeper than {_DEEPEST} levels.")


def _children(value: Any) -> list[Any]:
    items = value.values() if isinstance(value, dict) else value
    return [item for item in items if isinstance(item, dict | list)]
