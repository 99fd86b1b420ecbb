"""Model fields that both areas use."""

from typing import Any

from django.db import models


class CiphertextField(models.TextField[str, str]):
    """Text that `credentials.encrypt` has made, or an empty string.

    `config.reencryption` finds the columns to re-encrypt by this type, so every encrypted column has to have it.
    """

    def deconstruct(self) -> tuple[str, str, list[Any], dict[str, Any]]:
        """As a TextField, so that migrations do not import this package."""
        name, _path, arguments, options = super().deconstruct()
        return name, "django.db.models.TextField", list(arguments), options
