"""Serializers of request bodies and queries, which read no forms. Their fields are made once for each class.

REST framework copies the declared fields for each serializer, which takes longer than validating a body. Validation
stores nothing in a field, so all bodies and threads share them. Their `parent` is a serializer without a body.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar

from django.core.exceptions import ValidationError as DjangoValidationError
from django.utils.functional import cached_property
from rest_framework import serializers
from rest_framework.fields import SkipField, empty, get_error_detail
from rest_framework.utils.serializer_helpers import BindingDict


class BodySerializer(serializers.Serializer[Any]):
    # Without a docstring, which subclasses would inherit as the description of their bodies.

    # What unknown keys mean, in lower case without signs, where they resemble no field or a wrong one: a field, the
    # header in which it is sent, or nothing.
    synonyms: ClassVar[Mapping[str, str]] = {}
    # What `validate` checks of keys together, as keywords of JSON Schema for the description.
    conditions: ClassVar[Mapping[str, Any]] = {}

    @cached_property
    def fields(self) -> BindingDict:
        return _fields_of(type(self))

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """As REST framework does it, without what forms and partial updates need."""
        if not isinstance(data, Mapping):
            self.fail("invalid", datatype=type(data).__name__)
        values: dict[str, Any] = {}
        errors: dict[str, Any] = {}
        for name, validate, is_optional in _validated(type(self)):
            value = data.get(name, empty)
            if is_optional and value is empty:
                continue
            try:
                values[name] = validate(value)
            except serializers.ValidationError as error:
                errors[name] = error.detail
            except DjangoValidationError as error:
                errors[name] = get_error_detail(error)
            except SkipField:
                pass
        if errors:
            raise serializers.ValidationError(errors)
        return values

    def run_validators(self, value: Any) -> None:
        """Without validators there is nothing to prepare for them."""
        if self.validators:
            super().run_validators(value)


@cache
def _fields_of(of: type[BodySerializer]) -> BindingDict:
    owner = of()
    fields = BindingDict(owner)
    for name, field in owner.get_fields().items():
        fields[name] = field
    return fields


@cache
def _validated(of: type[BodySerializer]) -> Sequence[tuple[str, Callable[[Any], Any], bool]]:
    """Of each field its name, what validates its value, and whether nothing is done when it is absent."""
    found = []
    for name, field in _fields_of(of).items():
        if field.read_only or field.source != name or hasattr(of, f"validate_{name}"):
            raise TypeError(f"{of.__name__}.{name}: a body has no read-only field, no source, and no validate_{name}")
        found.append((name, field.run_validation, not field.required and field.default is empty))
    return found


class BodyCharField(serializers.CharField):
    def run_validators(self, value: Any) -> None:
        """Printable text has neither NUL nor surrogates."""
        if not value.isprintable() or self.min_length is not None or len(value) > (self.max_length or 0):
            super().run_validators(value)


class BodyFloatField(serializers.FloatField):
    def run_validators(self, value: Any) -> None:
        low, high = self.min_value, self.max_value
        if (low is not None and value < low) or (high is not None and value > high):
            super().run_validators(value)


class FlagField(serializers.BooleanField):
    """Optional `true` or `false`; null is false. Refuses the numbers and texts that DRF takes for them."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"required": False, "allow_null": True, **kwargs})

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=type(data).__name__)
        return data
