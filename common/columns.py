"""What is shown of a kind of row: for each column its label, and what gives the value.

A column stands on the row's page, in the admin and in the file of the list, unless it names the places. A file has the
value itself, and pages and the admin what `write` makes of it, each with its own markup for a `State`, a `Code` and
another row.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Flag, auto
from typing import Any

from django_stubs_ext import StrOrPromise


class Place(Flag):
    """Where a column is shown."""

    FILE = auto()
    PAGE = auto()
    ADMIN = auto()


FILE, PAGE, ADMIN = Place


@dataclass(frozen=True)
class State:
    """A status: what pages call it, the API's code, and the colour of its badge.

    The colour is good, info, warn or bad; empty for grey.
    """

    name: StrOrPromise
    code: str
    colour: str

    def __str__(self) -> str:
        return str(self.name)


class Code(str):
    """A text that people compare and copy whole."""

    __slots__ = ()


@dataclass(frozen=True)
class Column:
    """One column of a kind of row.

    `get`: the name of an attribute, after dots one of a related row, or a function of the row. `heading`: that of the
    file, where it is not the label.
    """

    label: StrOrPromise
    get: str | Callable[[Any], Any]
    write: Callable[[Any], Any] | None = None
    on: Place = FILE | PAGE | ADMIN
    heading: StrOrPromise = ""

    @property
    def name(self) -> str:
        return self.get if isinstance(self.get, str) else self.get.__name__

    def value(self, row: Any) -> Any:
        if not isinstance(self.get, str):
            return self.get(row)
        value = row
        for name in self.get.split("."):
            if value is None:
                return None
            value = getattr(value, name)
        return value() if callable(value) else value  # such as `get_mode_display`

    def text(self, row: Any) -> Any:
        """The value as people read it; None without one."""
        value = self.value(row)
        if value is None or value == "":
            return None
        return value if self.write is None else self.write(value)


def shown(columns: Iterable[Column], on: Place) -> list[Column]:
    return [column for column in columns if on in column.on]
