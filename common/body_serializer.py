"""Serializers of request bodies, whose fields, with everything below them, are made once for each class.

REST framework copies the declared fields for each serializer, which takes longer than validating a body. Validation
stores nothing in a field, so all bodies and threads share them. Their `parent` is a serializer without a body.
"""

from functools import cache
from typing import Any

from django.utils.functional import cached_property
from rest_framework import serializers
from rest_framework.utils.serializer_helpers import BindingDict


class BodySerializer(serializers.Serializer[Any]):
    # Without a docstring, which subclasses would inherit as the description of their bodies.

    @cached_property
    def fields(self) -> BindingDict:
        return _fields_of(type(self))


@cache
def _fields_of(of: type[BodySerializer]) -> BindingDict:
    owner = of()
    fields = BindingDict(owner)
    for name, field in owner.get_fields().items():
        fields[name] = field
    return fields
