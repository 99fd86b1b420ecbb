"""Removes personal data and secrets from JSON, so that its structure can be kept. Pure.

Only what is known to be harmless stays: the keys of objects, null, and the values of listed keys if they look like
codes or measures. Everything else is replaced by its type and length, such as `<text, 12>`.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

# A code such as MOTORCYCLE, A-1, 10x20x30,1.5 or 2026-01-01T12:00:00+00:00. Shorter than every credential of ours.
_CODE = re.compile(r"[\w.,:+-]{1,40}", re.ASCII)
_FEWEST_DIGITS_OF_A_PERSON = 8  # of a phone number
_KEY = re.compile(r"[\w.-]{1,40}")
_POSTCODE = re.compile(r"([0-9]{2}[. ]?[0-9]{3})[ .-]?[0-9]{0,4}")
_DECIMALS = 2  # of coordinates: about a kilometre
# Shorter values are not looked for in other text, where they would be found everywhere.
_SHORTEST_FOUND = 3
_MOST_FOUND = 200
MOST_VALUES = 2000  # of one body

T = TypeVar("T")


@dataclass(frozen=True)
class Keys:
    """Names of keys, wherever they are in the JSON, whose values stay in a form that does not identify a person."""

    codes: frozenset[str]  # and measures, amounts, dates
    postcodes: frozenset[str]  # their first five digits stay
    coordinates: frozenset[str]  # rounded


@dataclass
class Masker:
    """Masks JSON, and then other text that may repeat its values."""

    keys: Keys
    _hidden: set[str] = field(default_factory=set)
    _masked: int = 0

    def mask(self, value: Any, key: str = "") -> Any:
        """`value`, which is JSON and the value of `key`, without what identifies a person."""
        self._masked += 1
        if isinstance(value, dict):
            return {self._name(name): self.mask(inner, name) for name, inner in self._first(value.items())}
        if isinstance(value, list):
            return [self.mask(inner, key) for inner in self._first(value)]
        if value is None:
            return None
        if isinstance(value, bool):
            return "<boolean>"
        shown = self._shown(value, key)
        if shown != value:
            self._hide(str(value).strip())
        return shown

    def _first(self, items: Iterable[T]) -> Iterator[T]:
        """The items until MOST_VALUES are masked. The others are left out, which bounds the cost of a hostile body."""
        for item in items:
            if self._masked >= MOST_VALUES:
                return
            yield item

    def without_repetitions(self, texts: Any) -> Any:
        """JSON in which no text contains a value that was masked or left out. With too many every text is masked."""
        hidden = sorted((text for text in self._hidden if len(text) >= _SHORTEST_FOUND), key=len, reverse=True)
        is_complete = len(hidden) <= _MOST_FOUND and self._masked < MOST_VALUES
        return _replaced(texts, hidden if is_complete else None)

    def _name(self, key: str) -> str:
        """A key; one that is no name of a field may be a person's."""
        if _KEY.fullmatch(key) and not _is_long_number(key):
            return key
        self._hide(key.strip())
        return f"<key, {len(key)}>"

    def _hide(self, text: str) -> None:
        self._hidden.add(text)
        if _is_long_number(text):  # may be repeated without its punctuation
            self._hidden.add("".join(filter(str.isalnum, text)))

    def _shown(self, value: Any, key: str) -> Any:
        if key in self.keys.coordinates:
            return _rounded(value)
        text = str(value)
        if key in self.keys.postcodes and (postcode := _POSTCODE.fullmatch(text)):
            return postcode[1] + "*" * (len(text) - len(postcode[1]))
        if key in self.keys.codes and _CODE.fullmatch(text) and not _is_long_number(text):
            return value
        return described(value)


def described(value: Any) -> str:
    """Type and length of a text or number."""
    return f"<{'text' if isinstance(value, str) else 'number'}, {len(str(value))}>"


def _rounded(value: Any) -> Any:
    try:
        return round(float(value), _DECIMALS)
    except (ValueError, OverflowError):
        return described(value)


def _is_long_number(text: str) -> bool:
    """Whether it may be a phone number or a document: many digits and hardly anything else."""
    characters = set(text)  # few, also in the longest of texts, where a step of Python for each place takes long
    if any(map(str.isalpha, characters)):
        return False
    return sum(map(text.count, filter(str.isdigit, characters))) >= _FEWEST_DIGITS_OF_A_PERSON


def _replaced(value: Any, hidden: list[str] | None) -> Any:
    if isinstance(value, dict):
        return {_without(key, hidden or []): _replaced(inner, hidden) for key, inner in value.items()}
    if isinstance(value, list):
        return [_replaced(inner, hidden) for inner in value]
    return _without(value, hidden) if isinstance(value, str) else value


def _without(text: str, hidden: Iterable[str] | None) -> str:
    if hidden is None:
        return described(text)
    for found in hidden:
        if found in text:
            text = text.replace(found, described(found))
    return text
