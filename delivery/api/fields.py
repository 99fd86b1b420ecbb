"""Fields stricter than DRF's where JSON and Python disagree on what a number is."""

import math
import re
from collections.abc import Sequence
from typing import Any

from rest_framework import serializers

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_ZIPCODE = re.compile(r"\d{5}-?\d{3}", re.ASCII)
_LONGEST_NUMBER = 64


def _spells_number(text: str) -> bool:
    return len(text) <= _LONGEST_NUMBER and _NUMBER.fullmatch(text.strip()) is not None


class NumberField(serializers.FloatField):
    """A finite JSON number, or a string that spells one. Booleans, NaN and infinities are no numbers."""

    default_error_messages = {"invalid": "A valid number is required.", "overflow": "The number is too large."}

    def to_internal_value(self, data: Any) -> float:
        if isinstance(data, bool) or not isinstance(data, int | float | str):
            self.fail("invalid")
        if isinstance(data, str) and not _spells_number(data):
            self.fail("invalid")
        try:
            number = float(data)
        except OverflowError:
            self.fail("overflow")
        if not math.isfinite(number):
            self.fail("overflow")
        return number


class LatitudeField(NumberField):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=-90, max_value=90, **kwargs)


class LongitudeField(NumberField):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=-180, max_value=180, **kwargs)


class MeasureField(NumberField):
    """Centimetres or kilograms, more than nothing."""

    default_error_messages = {"not_positive": "Ensure this value is greater than 0."}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_value=1_000_000_000, **kwargs)

    def to_internal_value(self, data: Any) -> float:
        number = super().to_internal_value(data)
        if number <= 0:
            self.fail("not_positive")
        return number


class QuantityField(serializers.IntegerField):
    """A whole number of pieces. `true` is not one, and neither are 1.5 and what only Python reads as one: "1_0"."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=1, max_value=1_000_000_000, **kwargs)

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int | float | str):
            self.fail("invalid")
        if isinstance(data, str) and not _spells_number(data):
            self.fail("invalid")
        return super().to_internal_value(data)


class NamedChoiceField(serializers.ChoiceField):
    """One of a few words. The refusal lists them and repeats nothing of what was sent: it may not even be Unicode."""

    def __init__(self, choices: Sequence[str], **kwargs: Any) -> None:
        super().__init__(choices, error_messages={"invalid_choice": f"Choose one of: {', '.join(choices)}."}, **kwargs)


class TextField(serializers.CharField):
    """Optional text of at most 255 characters; null counts as empty. A whole number counts as its digits.

    A fraction is refused: Python would write it in a way of its own, and an order's id would come back changed.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"required": False, "allow_null": True, "allow_blank": True, "max_length": 255, **kwargs})

    def to_internal_value(self, data: Any) -> str:
        if isinstance(data, float):
            self.fail("invalid")
        return super().to_internal_value(data)


class StrictTextField(serializers.CharField):
    """Text only: DRF's own field would also take numbers."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class ZipcodeField(serializers.CharField):
    """Eight digits, with or without the hyphen; the value is the digits alone."""

    default_error_messages = {"invalid_zipcode": "A zipcode has 8 digits, with or without a hyphen: 01310-100."}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, allow_null=True, allow_blank=True, **kwargs)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        # DRF lets a blank value through before it looks at it; an empty zipcode is not eight digits.
        if isinstance(data, str) and not data.strip():
            self.fail("invalid_zipcode")
        return super().run_validation(data)

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if not _ZIPCODE.fullmatch(text):
            self.fail("invalid_zipcode")
        return text.replace("-", "")
