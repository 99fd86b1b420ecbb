"""The states of Brazil, by postcode, by name and by coordinates. Pure.

The ranges of postcodes are those that the Correios assign to each state, split into its capital and the rest
("interior"). The boxes contain each state with its inhabited islands, rounded outwards to a tenth of a degree; they
overlap.
"""

import csv
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

DATA = Path(__file__).parent / "data"
# A CEP as people write it: `01310100`, `01310-100`, `01.310-100`, `01310 - 100`, `01310 100`. In the descriptions of
# the APIs too, in which a `\d` would be any digit of Unicode for some validators.
WRITTEN_POSTCODE = re.compile(r"[0-9]{2}[. ]?[0-9]{3}( ?- ?|[. ])?[0-9]{3}")
# What word processors and pages put in the place of a blank and a hyphen.
_TYPESET = str.maketrans(
    {
        **dict.fromkeys("\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}", " "),
        **dict.fromkeys("\N{HYPHEN}\N{NON-BREAKING HYPHEN}\N{EN DASH}\N{EM DASH}\N{MINUS SIGN}", "-"),
    }
)
_BETWEEN_DIGITS = str.maketrans("", "", " .-")
LONGEST_POSTCODE = 20  # characters
_LONGEST_NAME = 40  # characters


class Kind(StrEnum):
    """Part of a state."""

    CAPITAL = "capital"
    INTERIOR = "interior"


@dataclass(frozen=True)
class Region:
    """The capital of a state, or the rest of it. `state` is its two-letter code."""

    state: str
    kind: Kind
    name: str

    def __str__(self) -> str:
        return f"{self.name}/{self.state}"


@dataclass(frozen=True)
class State:
    """A state with its two-letter code, the edges of its box in decimal degrees, and the time zone of most of it."""

    code: str
    name: str
    macro_region: str
    south: float
    west: float
    north: float
    east: float
    zone: str


def rows(file: Path) -> Iterator[dict[str, str]]:
    """Rows of a CSV file, by column name."""
    with file.open(encoding="utf-8", newline="") as table:
        yield from csv.DictReader(table)


_TABLE = sorted(
    (row["start"], row["end"], Region(row["uf"], Kind(row["kind"]), row["name"]))
    for row in rows(DATA / "postcodes.csv")
)
_STARTS = [start for start, _end, _region in _TABLE]
STATES = {
    row["uf"]: State(
        code=row["uf"],
        name=row["name"],
        macro_region=row["macro_region"],
        south=float(row["south"]),
        west=float(row["west"]),
        north=float(row["north"]),
        east=float(row["east"]),
        zone=row["zone"],
    )
    for row in rows(DATA / "states.csv")
}


def postcode_of(text: str) -> str:
    """The eight digits of a postcode, however it is written, without white space around it. Empty for another text."""
    if len(text) > LONGEST_POSTCODE:
        return ""
    plain = text.strip().translate(_TYPESET)
    return plain.translate(_BETWEEN_DIGITS) if WRITTEN_POSTCODE.fullmatch(plain) else ""


def with_hyphen(text: str) -> str:
    """A postcode as people write it, `01310-100`, however it is written; another text itself."""
    digits = postcode_of(text)
    return f"{digits[:5]}-{digits[5:]}" if digits else text


def region_of(text: str) -> Region | None:
    """Region of a postcode, however it is written. None unless it is within an assigned range."""
    postcode = postcode_of(text)
    index = bisect_right(_STARTS, postcode) - 1
    if index < 0 or postcode > _TABLE[index][1]:
        return None
    return _TABLE[index][2]


def state_named(text: str) -> str:
    """The code of the state with this code or name, whatever its case and accents. Empty for any other text."""
    text = text.strip()
    if text in STATES:
        return text
    return _CODES.get(_plain(text), "") if len(text) <= _LONGEST_NAME else ""


def may_lie_in(code: str, latitude: float, longitude: float) -> bool:
    """Whether a place can be in this state. Also true of places outside of Brazil, of which nothing is known here."""
    return _contains(STATES[code], latitude, longitude) or not any(
        _contains(state, latitude, longitude) for state in STATES.values()
    )


def contains(code: str, latitude: float, longitude: float) -> bool:
    """Whether a place is in the box of this state. False for NaN."""
    return _contains(STATES[code], latitude, longitude)


def _contains(state: State, latitude: float, longitude: float) -> bool:
    return state.south <= latitude <= state.north and state.west <= longitude <= state.east


def _plain(text: str) -> str:
    letters = unicodedata.normalize("NFD", text.lower())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


_CODES = {_plain(text): state.code for state in STATES.values() for text in (state.code, state.name)}
