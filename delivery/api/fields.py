"""Serializer fields that accept what the specification allows, where DRF's own fields accept more."""

import math
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from django.core.exceptions import ValidationError as DjangoValidationError
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.fields import empty

from common.api.serializers import BodyCharField, BodyFloatField
from common.brazil.states import LONGEST_POSTCODE, WRITTEN_POSTCODE, postcode_of
from common.mail import outbox

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_LONGEST_NUMBER = 64  # characters
_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?([Zz]|[+-][0-9]{2}:[0-9]{2})?"
)
_LONGEST_MOMENT = 40


def _is_number(data: Any) -> bool:
    """Whether this is a JSON number, or text in decimal notation. The length is checked before the pattern reads it."""
    if isinstance(data, str):
        return len(data) <= _LONGEST_NUMBER and _NUMBER.fullmatch(data.strip()) is not None
    return isinstance(data, int | float) and not isinstance(data, bool)


class NumberField(BodyFloatField):
    """A finite JSON number, or a string that holds one. Refuses booleans, NaN and infinities."""

    default_error_messages = {
        "invalid": "A number is required, with a point and no comma: -23.55.",
        "overflow": "The number is too large.",
    }

    def to_internal_value(self, data: Any) -> float:
        if not _is_number(data):
            self.fail("invalid")
        try:
            number = float(data)
        except OverflowError:
            self.fail("overflow")
        if not math.isfinite(number):
            self.fail("overflow")
        return number


class LatitudeField(NumberField):
    """Decimal degrees."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=-90, max_value=90, **kwargs)


class LongitudeField(NumberField):
    """Decimal degrees."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=-180, max_value=180, **kwargs)


@extend_schema_field({"type": "number", "exclusiveMinimum": 0, "maximum": 1_000_000_000})
class MeasureField(NumberField):
    """A length in centimetres or a weight in kilograms, greater than 0 and at most 1,000,000,000."""

    default_error_messages = {
        "invalid": "A number is required, with a point, no comma and no unit: 2.5.",
        "not_positive": "Ensure this value is greater than 0.",
    }

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_value=1_000_000_000, **kwargs)

    def to_internal_value(self, data: Any) -> float:
        number = super().to_internal_value(data)
        if number <= 0:
            self.fail("not_positive")
        return number


class QuantityField(serializers.IntegerField):
    """An integer from 1 to 1,000,000,000. Refuses booleans, fractions, and notations that only Python reads ("1_0")."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_value=1, max_value=1_000_000_000, **kwargs)

    def to_internal_value(self, data: Any) -> int:
        if not _is_number(data):
            self.fail("invalid")
        return super().to_internal_value(data)


class NamedChoiceField(serializers.ChoiceField):
    """One of a few words.

    The error lists them and does not repeat the value, which may hold characters that cannot be encoded in UTF-8.
    """

    def __init__(self, choices: Sequence[str], **kwargs: Any) -> None:
        super().__init__(choices, error_messages={"invalid_choice": f"Choose one of: {', '.join(choices)}."}, **kwargs)


class TextField(BodyCharField):
    """Optional text of at most 255 characters. Null is empty text; an integer is the text of its digits.

    Floats are refused: Python's text of one can differ from what was sent (1.10 becomes "1.1"), which would change an
    `externalId`.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"required": False, "allow_null": True, "allow_blank": True, "max_length": 255, **kwargs})

    def run_validation(self, data: Any = empty) -> Any:
        """Of printable text within the length nothing else is left to check. A request has up to 40 of them."""
        if type(self) is TextField and isinstance(data, str) and data.isprintable():
            text = data.strip() if self.trim_whitespace else data
            if text and len(text) <= (self.max_length or 0):
                return text
        return super().run_validation(data)

    def to_internal_value(self, data: Any) -> str:
        if isinstance(data, float):
            self.fail("invalid")
        return super().to_internal_value(data)


class StrictTextField(BodyCharField):
    """Text only; DRF's CharField also takes numbers."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


@extend_schema_field({"type": "string", "format": "date-time", "examples": ["2026-12-01T16:00:00-03:00"]})
class MomentField(serializers.Field[Any, Any, Any, Any]):
    """A moment of RFC 3339, with its offset, as a datetime in UTC."""

    default_error_messages = {
        "invalid_moment": "A moment of RFC 3339 with its offset, such as 2026-12-01T16:00:00-03:00.",
        "missing_offset": "The offset is missing, such as -03:00 at the end, or Z.",
    }

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, allow_null=True, **kwargs)

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str) or len(data) > _LONGEST_MOMENT or not (found := _MOMENT.fullmatch(data)):
            self.fail("invalid_moment")
        if not found[2]:
            self.fail("missing_offset")
        try:
            return datetime.fromisoformat(data.upper()).astimezone(UTC)
        except (ValueError, OverflowError):  # a day that there is not, or the first and last ones of all time
            self.fail("invalid_moment")


# An empty text has not the format `email`, and generators make a class for each case of `oneOf`.
@extend_schema_field({"type": "string", "if": {"minLength": 1}, "then": {"format": "email"}})
class EmailField(TextField):
    """Optional e-mail address, in lower case. Null is empty text."""

    default_error_messages = {"invalid_email": "This is not an email address."}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=outbox.LONGEST_ADDRESS, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        try:
            return outbox.clean_address(text)
        except DjangoValidationError:
            self.fail("invalid_email")


@extend_schema_field({"type": "string", "pattern": f"^{WRITTEN_POSTCODE.pattern}$", "examples": ["01310-100"]})
class ZipcodeField(BodyCharField):
    """Eight digits, however they are written, or blank. The value is the digits."""

    default_error_messages = {"invalid_zipcode": "A zipcode has 8 digits, with or without a hyphen: 01310-100."}

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, allow_null=True, allow_blank=True, max_length=LONGEST_POSTCODE, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        postcode = postcode_of(text)
        if not postcode:
            self.fail("invalid_zipcode")
        return postcode
