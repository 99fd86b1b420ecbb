"""Fields stricter than DRF's where JSON and Python disagree on what a text or a number is."""

import re
from datetime import datetime
from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal
from typing import Any

from rest_framework import serializers

from integration import postcodes

_PLAIN_NUMBER = re.compile(r"\d{1,16}(\.\d{1,20})?", re.ASCII)
_SIDE = re.compile(r"\d{1,3}", re.ASCII)
_DIMENSIONS = re.compile(r"\d{1,6}x\d{1,6}x\d{1,6},\d{1,6}(\.\d{1,6})?", re.ASCII)
_ISSUE_DATE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", re.ASCII)
_PLACES = Decimal("0.0001")
_LARGEST_INTEGER = 2**63 - 1

REQUIRED: dict[str, Any] = {
    "required": "Campo obrigatório.",
    "null": "Campo obrigatório.",
    "blank": "Campo obrigatório.",
    "invalid": "Deve ser um texto.",
    "max_length": "No máximo {max_length} caracteres.",
}


class TextField(serializers.CharField):
    """Text and nothing else: DRF's own field would also take numbers."""

    default_error_messages = REQUIRED

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"max_length": 255, **kwargs})

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class OptionalTextField(TextField):
    """Text that may be left out; null counts as left out."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"required": False, "allow_null": True, "allow_blank": True, **kwargs})


class ShapedTextField(TextField):
    """Text of one shape."""

    shape: re.Pattern[str]

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str) or not self.shape.fullmatch(data):
            self.fail("invalid")
        return data


class PostcodeField(TextField):
    default_error_messages = {"invalid": "Deve ter 8 dígitos, sem hífen."}

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str) or not postcodes.is_postcode(data):
            self.fail("invalid")
        return data


class SideField(ShapedTextField):
    """Centimetres, as a text of 1 to 3 digits."""

    default_error_messages = {"invalid": "Deve ser um texto de 1 a 3 dígitos, em centímetros."}
    shape = _SIDE


class DimensionsField(ShapedTextField):
    """Three whole numbers and a weight: 10x20x30,1.5."""

    default_error_messages = {"invalid": "Deve ter a forma 10x20x30,1.5 (três inteiros e o peso)."}
    shape = _DIMENSIONS


class IssueDateField(ShapedTextField):
    """YYYY-MM-DD HH:MM:SS, and a moment that exists."""

    default_error_messages = {"invalid": "Deve ter a forma AAAA-MM-DD HH:MM:SS."}
    shape = _ISSUE_DATE

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        try:
            datetime.fromisoformat(text)
        except ValueError:
            self.fail("invalid")
        return text


class TextOrNumberField(OptionalTextField):
    """A number that is a name, such as an invoice's: text, or a whole JSON number."""

    def to_internal_value(self, data: Any) -> str:
        is_whole = isinstance(data, int) and not isinstance(data, bool)
        return super().to_internal_value(str(data) if is_whole else data)


class AmountField(serializers.Field[Decimal, Any, Decimal, Any]):
    """A number from 0 to 10^12, or a text that spells one plainly; rounded to four places."""

    default_error_messages = {
        "required": "Campo obrigatório.",
        "null": "Campo obrigatório.",
        "invalid": "Deve ser um número maior ou igual a zero.",
        "too_large": "O número é grande demais.",
    }
    largest = Decimal(10**12)

    def to_internal_value(self, data: Any) -> Decimal:
        if isinstance(data, str) and _PLAIN_NUMBER.fullmatch(data):
            data = Decimal(data)
        # Judged by comparison, which is quick however large the exponent is.
        if isinstance(data, bool) or not isinstance(data, int | Decimal) or data < 0:
            self.fail("invalid")
        if data > self.largest:
            self.fail("too_large")
        return Decimal(data).quantize(_PLACES, ROUND_HALF_UP)

    def to_representation(self, value: Decimal) -> Decimal:
        return value


class WeightField(serializers.Field[int, Any, int, Any]):
    """Kilograms, more than nothing, as a JSON number; the value is grams, rounded up."""

    default_error_messages = {"invalid": "Deve ser um número maior que zero, em quilogramas."}
    _largest = 10**9

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int | Decimal) or not 0 < data <= self._largest:
            self.fail("invalid")
        return int((Decimal(data) * 1000).to_integral_value(ROUND_CEILING))

    def to_representation(self, value: int) -> int:
        return value


class WholeNumberField(serializers.Field[int, Any, int, Any]):
    """A whole JSON number of at most 64 bits; with `allow_text` a text of digits too. `true` is no number."""

    default_error_messages = {
        "required": "Campo obrigatório.",
        "null": "Campo obrigatório.",
        "invalid": "Deve ser um número inteiro a partir de {smallest}.",
        "too_large": "O número é grande demais.",
    }

    def __init__(self, *, smallest: int, allow_text: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._smallest = smallest
        self._allow_text = allow_text

    def to_internal_value(self, data: Any) -> int:
        if self._allow_text and isinstance(data, str) and re.fullmatch(r"[0-9]{1,18}", data):
            data = int(data)
        if isinstance(data, bool) or not isinstance(data, int) or data < self._smallest:
            self.fail("invalid", smallest=self._smallest)
        if data > _LARGEST_INTEGER:
            self.fail("too_large")
        return data

    def to_representation(self, value: int) -> int:
        return value
