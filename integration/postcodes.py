"""Postcode to region, by binary search in a table of ranges. Pure.

The ranges are those that the Correios assign to each state, split into its capital and the rest ("interior").
"""

import csv
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from integration.errors import NoCoverage

DATA = Path(__file__).parent / "data"
# ASCII, because otherwise `\d` matches full-width and Arabic digits.
POSTCODE = re.compile(r"\d{8}", re.ASCII)


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


def rows(file: str) -> Iterator[dict[str, str]]:
    """Rows of a CSV file in `data/`, by column name."""
    with (DATA / file).open(encoding="utf-8", newline="") as table:
        yield from csv.DictReader(table)


_TABLE = sorted(
    (row["start"], row["end"], Region(row["uf"], Kind(row["kind"]), row["name"])) for row in rows("postcodes.csv")
)
_STARTS = [start for start, _end, _region in _TABLE]


def region(postcode: str) -> Region:
    """Region of a postcode. Raises NoCoverage unless it is eight digits within an assigned range."""
    index = bisect_right(_STARTS, postcode) - 1
    if index < 0 or not POSTCODE.fullmatch(postcode) or postcode > _TABLE[index][1]:
        raise NoCoverage(f"CEP {postcode} sem cobertura")
    return _TABLE[index][2]
