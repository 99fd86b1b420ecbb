"""The municipalities of Brazil, by the codes and names of IBGE. Pure.

Source: IBGE, Divisão Territorial Brasileira.
"""

import unicodedata
from functools import cache
from typing import NamedTuple

from common.brazil.states import DATA, rows


class Municipality(NamedTuple):
    """A city. `state` is its two-letter code."""

    state: str
    name: str

    def __str__(self) -> str:
        return f"{self.name}/{self.state}"


def with_code(code: str) -> Municipality | None:
    """The municipality with this code of seven digits."""
    return _by_code().get(code)


def named(name: str, state: str) -> Municipality | None:
    """The municipality of a state with this name, whatever its case, accents and punctuation."""
    return _by_name().get((state, plain(name)))


@cache
def _by_code() -> dict[str, Municipality]:
    return {row["code"]: Municipality(row["uf"], row["name"]) for row in rows(DATA / "municipalities.csv")}


@cache
def _by_name() -> dict[tuple[str, str], Municipality]:
    return {(each.state, plain(each.name)): each for each in _by_code().values()}


def plain(text: str) -> str:
    """Words in lower case, without accents and punctuation, so that spellings of one name are equal."""
    letters = unicodedata.normalize("NFKD", text.replace(".", "")).lower()
    return " ".join(
        "".join(each if each.isalnum() else " " for each in letters if not unicodedata.combining(each)).split()
    )
