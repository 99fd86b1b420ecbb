"""Columns of a table that people edit as CSV: their headings, and how the text of a cell becomes a value and back."""

import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

from django.conf import settings
from django.utils import formats, translation
from django.utils.translation import gettext as _

from common.folded import folded

REAIS = "R$"  # the unit of prices
_LONGEST_NUMBER = 30  # characters
_LONGEST_SHOWN = 40  # of a wrong cell, in its message
_GROUP = 3  # digits between separators of thousands


class InvalidCell(Exception):
    """`str` says what is wrong with a cell, in the reader's language."""


@dataclass(frozen=True)
class Column:
    """A column of text. `attribute`: of the model. `unit` follows the label in the heading, in parentheses.

    `names`: further headings under which the column is accepted, compared like the label.
    """

    attribute: str
    label: Any
    names: tuple[str, ...] = ()
    unit: Any = ""
    is_required: bool = True

    @property
    def heading(self) -> str:
        return f"{self.label} ({self.unit})" if self.unit else str(self.label)

    @property
    def accepts(self) -> str:
        """What cells hold, for a person who fills them in."""
        return ""

    @property
    def is_price(self) -> bool:
        return bool(self.unit == REAIS)

    def headings(self) -> set[str]:
        """Every heading under which the column is recognised, in comparable form."""
        labels = in_every_language(lambda: self.label)
        return {*(comparable(name) for name in self.names), *labels, *in_every_language(lambda: self.heading)}

    def parser(self, texts: Iterable[str]) -> Callable[[str], Any]:
        """A function from a cell's text to its value, for these texts. It raises InvalidCell."""
        del texts  # for columns that look them up together
        return self.parse

    def parse(self, text: str) -> Any:
        return text

    def write(self, value: Any) -> str:
        """The text of a cell, as `parse` reads it."""
        return "" if value is None else str(value)

    def default(self, field: Any) -> Any:
        """The value of an empty cell: the model's default. Raises InvalidCell if the column is required."""
        if self.is_required:
            raise InvalidCell(_("is empty"))
        return field.get_default()


@dataclass(frozen=True)
class Choice(Column):
    """One of `choices`, pairs of a value and its label; either is accepted, in any of the site's languages."""

    choices: tuple[tuple[str, Any], ...] = ()

    @property
    def accepts(self) -> str:
        return ", ".join(str(label) for _value, label in self.choices)

    def parser(self, texts: Iterable[str]) -> Callable[[str], Any]:
        known = {comparable(value): value for value, _label in self.choices}
        for value, label in self.choices:
            known |= dict.fromkeys(in_every_language(partial(str, label)), value)

        def parse(text: str) -> str:
            value = known.get(comparable(text))
            if value is None:
                raise InvalidCell(
                    _("'%(text)s' is none of: %(choices)s") % {"text": shown(text), "choices": self.accepts}
                )
            return value

        return parse

    def write(self, value: Any) -> str:
        return str(dict(self.choices).get(value, value))


@dataclass(frozen=True)
class Whole(Column):
    """A whole number."""

    @property
    def accepts(self) -> str:
        return _("a whole number")

    def parse(self, text: str) -> int:
        return int(decimal(text, places=0))


@dataclass(frozen=True)
class Number(Column):
    """A decimal number of at most `places` places."""

    places: int = 2

    @property
    def accepts(self) -> str:
        return _("a number such as %(example)s") % {"example": formats.number_format("44.9", self.places)}

    def parse(self, text: str) -> Any:
        return decimal(text, places=self.places)

    def write(self, value: Any) -> str:
        if value is None:
            return ""
        return formats.number_format(value, decimal_pos=self.places, use_l10n=True, force_grouping=False)


@dataclass(frozen=True)
class Hundredths(Number):
    """A number of two places, stored as an integer of hundredths."""

    def parse(self, text: str) -> int:
        return int(decimal(text, places=2) * 100)

    def write(self, value: Any) -> str:
        return super().write(None if value is None else Decimal(value) / 100)


def comparable(text: str) -> str:
    """Without accents, case and repeated spaces. Some computers write a letter and its accent as two characters."""
    return " ".join(folded(unicodedata.normalize("NFC", text)).split())


def shown(text: str) -> str:
    """A cell's text, cut to what a message can show."""
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def decimal(text: str, *, places: int) -> Decimal:
    """A number as people write it: `44,90`, `44.90`, `1.234,56`, `1,234.56` and `R$ 44,90`.

    The last of two kinds of separators is the decimal one. One separator before exactly three digits is refused where
    it may be either, as in `1.234`, because guessing wrong multiplies a price by a thousand. Raises InvalidCell.
    """
    compact = "".join(text.removeprefix(REAIS).split())
    whole, fraction = _split(compact, text, places)
    sign, digits = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    if not _is_digits(digits) or (fraction and not _is_digits(fraction)) or len(compact) > _LONGEST_NUMBER:
        raise _not_a_number(text)
    if len(fraction) > places:
        detail = {"text": shown(text), "places": places}
        raise InvalidCell(_("'%(text)s' has more than %(places)s decimal places") % detail)
    return Decimal(f"{sign}{digits}.{fraction or '0'}")


def _split(compact: str, text: str, places: int) -> tuple[str, str]:
    """Whole part, without separators of thousands, and fraction."""
    separators = [letter for letter in compact if letter in ",."]
    if not separators:
        return compact, ""
    last = separators[-1]
    whole, _separator, fraction = compact.rpartition(last)
    if len(set(separators)) == 1 and len(separators) > 1:  # 1.234.567
        return _ungrouped(compact, last, text), ""
    if not fraction:
        raise _not_a_number(text)
    if len(separators) > 1:
        if separators.count(last) > 1:
            raise _not_a_number(text)
        return _ungrouped(whole, separators[0], text), fraction
    if len(fraction) == _GROUP and places < _GROUP and whole.lstrip("-") not in {"", "0"} and _is_digits(fraction):
        detail = {"text": shown(text), "example": f"{whole}{fraction}"}
        raise InvalidCell(
            _("'%(text)s' can be read in two ways: write thousands without a separator, as %(example)s") % detail
        )
    return whole or "0", fraction


def _ungrouped(whole: str, separator: str, text: str) -> str:
    first, *groups = whole.split(separator)
    if not 1 <= len(first.removeprefix("-")) <= _GROUP or any(len(group) != _GROUP for group in groups):
        raise _not_a_number(text)
    return "".join([first, *groups])


def _is_digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _not_a_number(text: str) -> InvalidCell:
    return InvalidCell(_("'%(text)s' is not a number") % {"text": shown(text)})


def in_every_language(text: Callable[[], Any]) -> set[str]:
    """A text in comparable form, in each language of the site."""
    found = set()
    for language, _name in settings.LANGUAGES:
        with translation.override(language):
            found.add(comparable(str(text())))
    return found


def by_heading(columns: Iterable[Column]) -> Mapping[str, Column]:
    """The columns by each of their headings, in comparable form. The first of two with the same heading counts."""
    found: dict[str, Column] = {}
    for column in columns:
        for heading in column.headings():
            found.setdefault(heading, column)
    return found
