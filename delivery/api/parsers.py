"""Parses request bodies with limits on size and nesting."""

from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework.parsers import BaseParser

from common import json_body
from common.json_body import Fault
from delivery.api.errors import BodyTooLarge, MalformedBody

# Levels of objects and lists. The deepest object of the API, dropoffs[0].address, is at level 4.
_MAX_LEVELS = 20
_FAULTS = {
    Fault.EMPTY: "The body is empty. Send a JSON object.",
    Fault.COMPRESSED: "The body is compressed with gzip. Send it uncompressed.",
    Fault.UTF_16: "The body is in UTF-16 or UTF-32. Send it in UTF-8.",
    Fault.NOT_UTF_8: "The body is not in UTF-8: the byte at offset {position} does not fit. It may be in Latin-1.",
    Fault.NOT_A_NUMBER: "The body holds NaN or Infinity, which are no JSON values.",
    Fault.LONG_NUMBER: "The body holds a number with too many digits.",
    Fault.SYNTAX: "The body is not JSON: {detail}.",
}


class BoundedJSONParser(BaseParser):
    """A JSON object of at most MAX_BODY_BYTES and 20 levels. Raises BodyTooLarge or MalformedBody otherwise."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        try:
            return json_body.read_object(stream, most_bytes=settings.MAX_BODY_BYTES, most_levels=_MAX_LEVELS)
        except json_body.BodyTooLarge as error:
            raise BodyTooLarge(f"The body is larger than {settings.MAX_BODY_BYTES // 1024} KiB.") from error
        except json_body.BodyTooDeep as error:
            raise MalformedBody(f"The body is nested deeper than {_MAX_LEVELS} levels.") from error
        except json_body.NotAnObject as error:
            raise MalformedBody("The body must be a JSON object.") from error
        except json_body.InvalidJSON as error:
            raise MalformedBody(_FAULTS[error.fault].format(position=error.position, detail=error.detail)) from error
