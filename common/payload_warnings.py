"""What of an accepted request has no effect or is probably a mistake.

Sent in the header `Rota-Warnings`, a list of RFC 9651: `"#/packages";code=unknown_key;nearest="orderPackages"`, for
query parameters `"?Status";code=unknown_key;nearest="status";known="limit status"`. If the caller sends
`Prefer: handling=strict` (RFC 7240), the request is refused instead.
"""

import difflib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice, repeat
from typing import Any
from urllib.parse import quote

from rest_framework.serializers import BaseSerializer, ListSerializer, Serializer

from common.serializers import BodySerializer

HEADER = "Rota-Warnings"
UNKNOWN_KEY = "unknown_key"
MOST_WARNINGS = 20
_LONGEST_COMPARED = 64  # characters; comparing takes quadratic time
_LONGEST_SHOWN = 100
_STRICT = re.compile(r'(^|,)\s*handling\s*=\s*("strict"|strict)\s*($|[,;])', re.IGNORECASE)
_LONGEST_PREFER = 500

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class PayloadWarning:
    """`path`: keys and indexes that lead to the value. `known`: what could be in its place, if that is a short list.

    `nearest`: the known key or value that an unknown one resembles.
    """

    path: Path
    code: str
    nearest: str = ""
    known: tuple[str, ...] = ()

    @property
    def pointer(self) -> str:
        """The path as a JSON Pointer (RFC 6901) in its URI fragment form."""
        parts = (str(part)[:_LONGEST_SHOWN].replace("~", "~0").replace("/", "~1") for part in self.path)
        return "#" + "".join("/" + quote(part, safe="~!$&'()*+,;=:@", errors="replace") for part in parts)

    @property
    def dotted(self) -> str:
        """The path with dots: `items.0.price`."""
        return ".".join(str(part)[:_LONGEST_SHOWN] for part in self.path)

    def __str__(self) -> str:
        return (
            f'"{self.pointer}";code={self.code}{_parameter("nearest", self.nearest)}{_parameter("known", *self.known)}'
        )


@dataclass(frozen=True)
class UnknownParameter:
    """A query parameter without effect. `name` is cut if it is long. `known`: the parameters of the endpoint."""

    name: str
    known: tuple[str, ...]
    nearest: str = ""

    def __str__(self) -> str:
        name = quote(self.name, safe="~!$&'()*+,;=:@", errors="replace")
        return f'"?{name}";code={UNKNOWN_KEY}{_parameter("nearest", self.nearest)}{_parameter("known", *self.known)}'


def header_value(warnings: Sequence[PayloadWarning | UnknownParameter]) -> str:
    """The value of the header: the first MOST_WARNINGS."""
    return ", ".join(map(str, warnings[:MOST_WARNINGS]))


def is_strict(prefer: str) -> bool:
    """Whether a Prefer header asks for strict handling."""
    return _STRICT.search(prefer[:_LONGEST_PREFER]) is not None


def unknown_keys(serializer: BodySerializer, body: Any) -> list[PayloadWarning]:
    """The keys of a body that the serializer does not read, the first MOST_WARNINGS of them."""
    if _are_known(serializer, body):
        return []
    return list(islice(_unknown_keys(serializer, body, ()), MOST_WARNINGS))


def unknown_parameters(sent: Iterable[str], *, known: Collection[str]) -> list[UnknownParameter]:
    """The names of query parameters that are not `known`, the first MOST_WARNINGS of them."""
    unknown = islice((name for name in sent if name not in known), MOST_WARNINGS)
    return [UnknownParameter(name[:_LONGEST_SHOWN], tuple(known), nearest(name, known)) for name in unknown]


def _are_known(field: Any, value: Any) -> bool:
    """Whether a value has no unknown key: the usual case, in less time than it takes to visit every key."""
    # Without a call for each value, for the reason that common/json_body.py has.
    left = [(field, value)]
    while left:
        field, value = left.pop()
        if isinstance(field, ListSerializer):
            if isinstance(value, list):
                left += zip(repeat(field.child), value)
        elif isinstance(value, dict):
            names, nested = _names(type(field))  # type: ignore[arg-type]  # a class is hashable
            if not value.keys() <= names:
                return False
            for name, inner in nested:
                if name in value:
                    left.append((inner, value[name]))
    return True


@cache
def _names(serializer: type[BodySerializer]) -> tuple[frozenset[str], list[tuple[str, Any]]]:
    """The keys that a body may have, and those of them whose values have keys too, with their serializers."""
    fields = serializer().fields
    nested = [(name, field) for name, field in fields.items() if isinstance(field, BaseSerializer)]
    return frozenset(fields), nested


def _unknown_keys(field: Any, value: Any, path: Path) -> Iterator[PayloadWarning]:
    if isinstance(field, ListSerializer) and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unknown_keys(field.child, item, (*path, index))
    elif isinstance(field, Serializer) and isinstance(value, Mapping):
        known = field.fields
        for key, inner in value.items():
            if key in known:
                yield from _unknown_keys(known[key], inner, (*path, key))
            else:
                yield PayloadWarning((*path, key), UNKNOWN_KEY, nearest(key, known))


def _parameter(name: str, *values: str) -> str:
    """A parameter of an item of the header; none if its value is empty."""
    text = " ".join(values)
    return f';{name}="{text}"' if text else ""


def nearest(key: str, known: Iterable[str]) -> str:
    """The known key that this one resembles, or an empty text."""
    if len(key) > _LONGEST_COMPARED:
        return ""
    by_letters = {_letters(name): name for name in known}
    found = difflib.get_close_matches(_letters(key), by_letters, n=1)
    return by_letters[found[0]] if found else ""


def _letters(key: str) -> str:
    """A key without what spellings differ in: case, underscores and hyphens."""
    return key.lower().replace("_", "").replace("-", "")
