"""JSON objects of requests, parsed within limits of size and depth, and types of JSON values. Pure."""

import codecs
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import IO, Annotated, Any, NoReturn

# In the texts of a body: NUL, which PostgreSQL's text types cannot hold, and surrogates, which UTF-8 cannot encode.
UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")


class BodyTooLarge(Exception):
    """The body has more than `most_bytes`."""


class BodyTooDeep(Exception):
    """Objects and lists are nested deeper than `most_levels`."""


class Fault(Enum):
    """Why a body is not JSON in UTF-8."""

    EMPTY = "empty"
    COMPRESSED = "compressed with gzip"
    UTF_16 = "UTF-16 or UTF-32"
    BYTE_ORDER_MARK = "a byte order mark before the text"
    NOT_UTF_8 = "another encoding than UTF-8"
    NOT_A_NUMBER = "NaN or Infinity"
    LONG_NUMBER = "a number with too many digits"
    SYNTAX = "a syntax error"


class InvalidJSON(Exception):
    """Not JSON in UTF-8.

    `position`: of NOT_UTF_8, in bytes. Of a SYNTAX error `line` and `column`, from 1 on, and `detail`, its message.
    """

    def __init__(self, fault: Fault, *, position: int = 0, line: int = 0, column: int = 0, detail: str = "") -> None:
        super().__init__(fault, position, line, column, detail)
        self.fault, self.position, self.line, self.column, self.detail = fault, position, line, column, detail


class NotAnObject(Exception):
    """JSON, but a list or a single value. `is_encoded_twice`: it is a text, with an object in it."""

    def __init__(self, *, is_encoded_twice: bool) -> None:
        super().__init__(is_encoded_twice)
        self.is_encoded_twice = is_encoded_twice


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
        body = json.loads(_text(raw), parse_float=parse_float, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise BodyTooDeep from error
    except json.JSONDecodeError as error:
        raise InvalidJSON(Fault.SYNTAX, line=error.lineno, column=error.colno, detail=str(error)) from error
    except ValueError as error:  # integers of thousands of digits, and what parse_float refuses
        raise InvalidJSON(Fault.LONG_NUMBER) from error
    if not isinstance(body, dict):
        raise NotAnObject(is_encoded_twice=isinstance(body, str) and body.lstrip().startswith("{"))
    if _is_deeper(body, most_levels):
        raise BodyTooDeep
    return body


def _text(raw: bytes) -> str:
    if not raw.strip():
        raise InvalidJSON(Fault.EMPTY)
    if raw.startswith(b"\x1f\x8b"):
        raise InvalidJSON(Fault.COMPRESSED)
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in raw[:4]:
        raise InvalidJSON(Fault.UTF_16)
    if raw.startswith(codecs.BOM_UTF8):
        raise InvalidJSON(Fault.BYTE_ORDER_MARK)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidJSON(Fault.NOT_UTF_8, position=error.start) from error


def _refuse_constant(_name: str) -> NoReturn:
    raise InvalidJSON(Fault.NOT_A_NUMBER)


def _is_deeper(body: dict[str, Any], most_levels: int) -> bool:
    # Without a call for each value: there may be 80,000, and where a call's frame begins a new chunk of the Python
    # stack, CPython 3.11 allocates and releases that chunk each time.
    level: list[Any] = [body]
    for _depth in range(most_levels):
        level = [
            child
            for value in level
            for child in (value.values() if isinstance(value, dict) else value)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


@dataclass(frozen=True)
class Json:
    """`format` as in JSON Schema. `one_of`: all values that occur. `about`: a sentence, with the unit of a number."""

    about: str = ""
    format: str = ""
    one_of: tuple[str, ...] = ()


def one_of(values: Iterable[str], about: str = "") -> Json:
    return Json(about, one_of=tuple(values))


Uuid = Annotated[str, Json(format="uuid")]
Moment = Annotated[str, Json(format="date-time")]
Brl = Annotated[float, Json("BRL")]
Kilometres = Annotated[float, Json("kilometres")]
