"""Figures that are stored in one unit, and typed and shown in another, with a comma or a point.

The model keeps integers of centavos, grams or hundredths of a percent; people read and write reais, kilograms, percent.
"""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from django import forms
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.formats import number_format
from django.utils.text import capfirst
from django.utils.translation import gettext as _

from common.fields import PlainInMigrations

_LARGEST = 1_000_000
_LONGEST = 30  # characters of a number
_LONGEST_SHOWN = 40  # of a wrong one, in its message
_GROUP = 3  # digits between separators of thousands
_HUNDRED = 100
_CENTAVO = Decimal("0.01")


@dataclass(frozen=True)
class Unit:
    """How a figure is written. `factor`: stored units in a written one. `is_fixed`: trailing zeros are written."""

    places: int
    prefix: str = ""
    suffix: str = ""
    factor: int = 1
    is_fixed: bool = False

    def number(self, value: Any, *, is_grouped: bool = False) -> str:
        """The stored value as people write it, without its unit."""
        number = Decimal(value) / self.factor
        places = self.places if self.is_fixed else decimal_places(number)
        return number_format(number, places, use_l10n=True, force_grouping=is_grouped)

    def write(self, value: Any) -> str:
        """The stored value with its unit: `R$ 1.234,50`, `30 kg`, `1%`."""
        number = self.number(value, is_grouped=True)
        if self.prefix:
            return f"{self.prefix} {number}"
        space = " " if self.suffix and self.suffix != "%" else ""
        return f"{number}{space}{self.suffix}"

    @property
    def name(self) -> str:
        return self.prefix or self.suffix

    @property
    def is_money(self) -> bool:
        return self.prefix == "R$"


REAIS = Unit(places=2, prefix="R$", is_fixed=True)
CENTAVOS = Unit(places=2, prefix="R$", factor=100, is_fixed=True)
GRAMS = Unit(places=3, suffix="kg", factor=1000)
BASIS_POINTS = Unit(places=2, suffix="%", factor=100)
PERCENT = Unit(places=2, suffix="%")
SHARE = Unit(places=3)
NUMBER = Unit(places=0)
KILOMETRES = Unit(places=2, suffix="km")
KILOGRAMS = Unit(places=2, suffix="kg")
CENTIMETRES = Unit(places=2, suffix="cm")
LITRES = Unit(places=2, suffix="l")


def decimal_places(number: Decimal) -> int:
    """How many places a number needs: 1 for 2.50."""
    exponent = number.normalize().as_tuple().exponent
    return max(-exponent, 0) if isinstance(exponent, int) else 0


def to_the_centavo(reais: Decimal) -> Decimal:
    """An amount with two places, rounded half up as pages show it."""
    return reais.quantize(_CENTAVO, ROUND_HALF_UP)


def rise(old: Any, new: Any) -> int | None:
    """Whole percent by which a price has risen, negative if it has fallen; None without an old price."""
    return round((Decimal(new) / Decimal(old) - 1) * _HUNDRED) if old and new is not None else None


def shown(text: str) -> str:
    """A cell's text, cut to what a message can show."""
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def with_value(text: str, fault: str) -> str:
    """What is wrong with a cell, with its value unless the sentence has it."""
    return fault if not text or shown(text) in fault else f"'{shown(text)}': {fault}"


def decimal(text: str, *, places: int) -> Decimal:
    """A number as people write it: `44,90`, `44.90`, `1.234,56`, `1,234.56` and `R$ 44,90`.

    The last of two kinds of separators is the decimal one. One separator before exactly three digits is refused where
    it may be either, as in `1.234`, because guessing wrong multiplies a price by a thousand. Raises ValueError with a
    sentence in the reader's language.
    """
    compact = "".join(text.removeprefix(REAIS.prefix).split())
    whole, fraction = _split(compact, text, places)
    sign, digits = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    if not _is_digits(digits) or (fraction and not _is_digits(fraction)) or len(compact) > _LONGEST:
        raise _not_a_number(text)
    if len(fraction) > places:
        detail = {"text": shown(text), "places": places}
        raise ValueError(_("'%(text)s' has more than %(places)s decimal places") % detail)
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
        raise ValueError(
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


def _not_a_number(text: str) -> ValueError:
    return ValueError(_("'%(text)s' is not a number") % {"text": shown(text)})


class NumberField(forms.CharField):
    """A number of at least `smallest`, or over 0 if it is `positive`. None if it is empty.

    It may have a comma or a point, as `decimal` reads it, and is shown in the reader's notation.
    """

    def __init__(
        self, *, places: int = 0, smallest: Any = 0, largest: Any = _LARGEST, positive: bool = False, **kwargs: Any
    ) -> None:
        kwargs.setdefault("widget", forms.TextInput({"inputmode": "decimal"}))
        super().__init__(max_length=_LONGEST, **kwargs)
        self.places, self._positive = places, positive
        self._smallest, self._largest = smallest, largest

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if not text:
            return None
        try:
            number = decimal(text, places=self.places)
        except ValueError as error:
            raise forms.ValidationError(str(error)) from error
        if not self._smallest <= number <= self._largest:
            limits = [number_format(limit, force_grouping=True) for limit in (self._smallest, self._largest)]
            raise forms.ValidationError(
                _("From %(smallest)s to %(largest)s.") % {"smallest": limits[0], "largest": limits[1]}
            )
        if self._positive and not number:
            raise forms.ValidationError(_("More than 0, or empty."))
        return number

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Whether it is another number, however both are written."""
        try:
            return self._number(data) != self._number(initial)
        except ValueError:
            return True

    def _number(self, value: Any) -> Decimal | None:
        text = "" if value is None else str(value).strip()
        return decimal(text, places=self.places) if text else None

    def prepare_value(self, value: Any) -> Any:
        """A number that was typed, in the reader's notation; what is no number stays as it is."""
        if not isinstance(value, str) or len(value) > _LONGEST:
            return value
        try:
            number = decimal(value.strip(), places=self.places)
        except ValueError:
            return value
        return number_format(number, decimal_places(number), use_l10n=True, force_grouping=False)


class MeasureField(NumberField):
    """A figure as its unit is written. Its value is in the stored unit: an integer where the unit has a factor."""

    def __init__(self, *, unit: Unit, **kwargs: Any) -> None:
        super().__init__(places=unit.places, **kwargs)
        self._unit = unit

    def clean(self, value: Any) -> Any:
        number = super().clean(value)
        return int(number * self._unit.factor) if number is not None and self._unit.factor > 1 else number

    def prepare_value(self, value: Any) -> Any:
        """What was typed is written as the unit is too: an amount has two places. What is no figure stays as it is."""
        if isinstance(value, str):
            try:
                value = self.clean(value)
            except forms.ValidationError:
                return super().prepare_value(value)
        return value if value is None else self._unit.number(value)

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return bool(self.clean(data) != initial)
        except forms.ValidationError:
            return True


class _Measured(PlainInMigrations):
    """A model field with a `unit`, which migrations do not record."""

    not_recorded = ()

    def __init__(self, *args: Any, unit: Unit = REAIS, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.unit = unit

    def formfield(self, **kwargs: Any) -> Any:
        """A `MeasureField` within the limits of the field's validators."""
        field: Any = self
        limits = {
            name: max(found) if name == "smallest" else min(found)
            for name, kind in (("smallest", MinValueValidator), ("largest", MaxValueValidator))
            if (
                found := [
                    Decimal(each.limit_value) / self.unit.factor for each in field.validators if type(each) is kind
                ]
            )
        }
        if isinstance(self, models.DecimalField):
            limits.setdefault("largest", Decimal(10) ** (self.max_digits - self.decimal_places) - 1)
        options = {"label": capfirst(field.verbose_name), "help_text": field.help_text, "required": not field.blank}
        widget = {"widget": kwargs["widget"]} if "widget" in kwargs else {}
        initial = field.get_default() if field.has_default() else None
        return MeasureField(unit=self.unit, initial=initial, **limits, **options, **widget)


class MeasuredInteger(_Measured, models.PositiveIntegerField):  # type: ignore[type-arg]
    """An integer that is written in another unit than it is stored in."""


class MeasuredDecimal(_Measured, models.DecimalField):  # type: ignore[type-arg]
    """A decimal number with a unit."""
