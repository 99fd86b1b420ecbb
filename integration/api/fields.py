"""Serializer fields that convert no types, unlike DRF's own: `true` is no number, and a number is no text.

Their messages are Portuguese, like all of area B's.
"""

import re
from datetime import datetime
from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal
from typing import Any, NoReturn

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from common.api.json_body import UNSTORABLE
from common.api.openapi import DAY
from common.api.pagination import LONGEST_MOMENT, read_moment
from common.api.serializers import BodyCharField
from common.api.serializers import FlagField as AnyFlagField
from common.brazil.states import LONGEST_POSTCODE, WRITTEN_POSTCODE, postcode_of

_PLAIN_NUMBER = re.compile(r"\d{1,16}(\.\d{1,20})?", re.ASCII)
# In the description too, where a `\d` would be any digit of Unicode for some validators.
_SIDE = re.compile(r"[0-9]{1,3}")
_DIMENSIONS = re.compile(r"[0-9]{1,6}x[0-9]{1,6}x[0-9]{1,6},[0-9]{1,6}(\.[0-9]{1,6})?")
_TIME = "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
_ISSUE_DATE = re.compile(f"[0-9]{{4}}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01]) {_TIME}")
_PLACES = Decimal("0.0001")
_LARGEST_INTEGER = 2**63 - 1  # of PostgreSQL's bigint
_MOST_DIGITS = 19  # that it has

REQUIRED: dict[str, Any] = dict.fromkeys(("required", "null", "blank"), "Campo obrigatório.")
OPTIONAL: dict[str, Any] = {"required": False, "allow_null": True}
_NUMBER: dict[str, Any] = {**REQUIRED, "too_large": "O número é grande demais."}


class TextField(BodyCharField):
    """Text of at most 255 characters, without the white space around it. Numbers are refused."""

    default_error_messages = {
        **REQUIRED,
        "invalid": "Deve ser um texto.",
        "max_length": "No máximo {max_length} caracteres.",
        "unstorable": "Contém um caractere não aceito (U+0000 ou de U+D800 a U+DFFF).",
    }

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"max_length": 255, **kwargs})

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        if UNSTORABLE.search(data):
            self.fail("unstorable")
        return super().to_internal_value(data)


class FlagField(AnyFlagField):
    """Optional `true` or `false`; null is false."""

    default_error_messages = {"invalid": "Deve ser true ou false."}


class OptionalTextField(TextField):
    """Text that may be absent, null or empty."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"required": False, "allow_null": True, "allow_blank": True, **kwargs})


class ChoiceField(serializers.ChoiceField):
    """One of a few values. The message lists them."""

    default_error_messages = {**REQUIRED, "invalid_choice": "Deve ser um destes: {names}."}

    def fail(self, key: str, **values: Any) -> NoReturn:
        super().fail(key, names=", ".join(map(str, self.choices)), **values)


class ShapedTextField(TextField):
    """Text that matches `shape` as a whole."""

    shape: re.Pattern[str]

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str) or not self.shape.fullmatch(data):
            self.fail("invalid")
        return data


@extend_schema_field({"type": "string", "format": "date-time"})
class MomentField(TextField):
    """A moment in ISO 8601, which may be absent or null; without an offset it is in the service's time zone."""

    default_error_messages = {"invalid_moment": "Deve ser um instante em ISO 8601, como 2026-11-20T10:00:00-03:00."}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, allow_null=True, max_length=LONGEST_MOMENT, **kwargs)

    def to_internal_value(self, data: Any) -> Any:
        text = super().to_internal_value(data)
        if len(text) > LONGEST_MOMENT:  # which is validated after this
            self.fail("invalid_moment")
        try:
            return read_moment(text)
        except ValueError:
            self.fail("invalid_moment")

    def run_validators(self, value: Any) -> None:
        """Those of a text are checked above."""


@extend_schema_field({"type": "string", "pattern": f"^{WRITTEN_POSTCODE.pattern}$", "maxLength": LONGEST_POSTCODE})
class PostcodeField(TextField):
    """Eight digits, however they are written. The value is the digits."""

    default_error_messages = {"invalid": 'Deve ser um texto com 8 dígitos, como "01310100".'}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=LONGEST_POSTCODE, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        text = postcode_of(data) if isinstance(data, str) else ""
        if not text:
            self.fail("invalid")
        return text


@extend_schema_field({"type": "string", "pattern": f"^{_SIDE.pattern}$"})
class SideField(ShapedTextField):
    """Centimetres, as text of 1 to 3 digits."""

    default_error_messages = {"invalid": 'Deve ser um texto de 1 a 3 dígitos, em centímetros inteiros, como "40".'}
    shape = _SIDE


@extend_schema_field(
    {
        "type": "string",
        "pattern": f"^{_DIMENSIONS.pattern}$",
        "description": "Three sides in centimetres, joined by `x`, then a comma and the weight in kilograms.",
    }
)
class DimensionsField(ShapedTextField):
    """Three integers and a weight, such as `10x20x30,1.5`. Kept as text."""

    default_error_messages = {
        "invalid": (
            "Deve ter a forma 10x20x30,1.5: três lados em centímetros inteiros, uma vírgula e o peso de uma peça em "
            "quilogramas, com ponto. Sem espaços nem unidades."
        )
    }
    shape = _DIMENSIONS


@extend_schema_field({"type": "string", "pattern": f"^{DAY} {_TIME}$"})
class IssueDateField(ShapedTextField):
    """`YYYY-MM-DD HH:MM:SS`, an existing date and time. Kept as text."""

    default_error_messages = {
        "invalid": "Deve ter a forma AAAA-MM-DD HH:MM:SS, como 2026-11-20 10:00:00: a hora local da nota, sem fuso."
    }
    shape = _ISSUE_DATE

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        try:
            datetime.fromisoformat(text)
        except ValueError:
            self.fail("invalid")
        return text


class IdentifierField(TextField):
    """A text by which callers know something of theirs. A JSON integer is the text of its digits, as in area A."""

    # Described as text only, because clients that are generated would have a union.

    def to_internal_value(self, data: Any) -> str:
        is_whole = isinstance(data, int) and not isinstance(data, bool)
        return super().to_internal_value(str(data) if is_whole else data)


class OptionalIdentifierField(IdentifierField, OptionalTextField):
    """One that may be absent, null or empty."""


# Described as a number only, as IdentifierField as a text.
@extend_schema_field({"type": "number", "minimum": 0, "maximum": 999999999999.9999})
class AmountField(serializers.Field[Decimal, Any, Decimal, Any]):
    """A number from 0 to the largest that the column of an order's cost holds: 12 digits and 4 decimal places.

    Also as text without sign or exponent. Rounded half up to four decimal places.
    """

    default_error_messages = {
        **_NUMBER,
        "invalid": "Deve ser um número em reais, a partir de 0, com ponto e sem vírgula: 150.5.",
    }
    largest = Decimal("999999999999.9999")

    def to_internal_value(self, data: Any) -> Decimal:
        if isinstance(data, str) and _PLAIN_NUMBER.fullmatch(data):
            data = Decimal(data)
        # Comparison takes constant time for any exponent; conversion to int would not.
        if isinstance(data, bool) or not isinstance(data, int | Decimal) or data < 0:
            self.fail("invalid")
        if data > self.largest:
            self.fail("too_large")
        return Decimal(data).quantize(_PLACES, ROUND_HALF_UP)


@extend_schema_field({"type": "number", "exclusiveMinimum": 0, "maximum": 1_000_000_000})
class WeightField(serializers.Field[int, Any, int, Any]):
    """Kilograms over 0 as a JSON number. The value is grams, rounded up."""

    default_error_messages = {
        "invalid": "Deve ser um número maior que zero, em quilogramas, com ponto e sem aspas: 2.5."
    }
    _largest = 10**9

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int | Decimal) or not 0 < data <= self._largest:
            self.fail("invalid")
        return int((Decimal(data) * 1000).to_integral_value(ROUND_CEILING))


class WholeNumberField(serializers.Field[int, Any, int, Any]):
    """A JSON integer, 2 or 2.0, from `smallest` to `largest`; with `allow_text` also as text of 1 to 18 digits."""

    default_error_messages = {
        **_NUMBER,
        "invalid": "Deve ser um número inteiro a partir de {smallest}.",
        "out_of_range": "Deve ser um número inteiro de {smallest} a {largest}.",
    }

    def __init__(
        self, *, smallest: int, largest: int = _LARGEST_INTEGER, allow_text: bool = False, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._smallest, self._largest = smallest, largest
        schema = {"type": "integer", "format": "int64", "minimum": smallest, "maximum": largest}
        extend_schema_field(schema)(self)  # type: ignore[type-var]  # an instance too
        self._allow_text = allow_text

    def to_internal_value(self, data: Any) -> int:
        if self._allow_text and isinstance(data, str) and re.fullmatch(r"[0-9]{1,18}", data):
            data = int(data)
        # Not of a number with a large exponent, whose digits take long to compute.
        if isinstance(data, Decimal) and data.adjusted() <= _MOST_DIGITS and data == data.to_integral_value():
            data = int(data)
        if isinstance(data, bool) or not isinstance(data, int) or data < self._smallest:
            self._fail("invalid")
        if data > self._largest:
            self._fail("too_large")
        return data

    def _fail(self, key: str) -> NoReturn:
        """With both limits, if the largest is one that people know."""
        is_known = self._largest < _LARGEST_INTEGER
        self.fail("out_of_range" if is_known else key, smallest=self._smallest, largest=self._largest)
