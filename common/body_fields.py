"""What REST framework's fields check with a list of validators, checked at once where the value is an ordinary one."""

from typing import Any

from rest_framework import serializers


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
