"""Model fields and constraints that both areas use."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import Q


class _PlainInMigrations:
    """Migrations record it as the Django field that it extends, without default and validators.

    Those are Python code of this project, which may move; a migration imports nothing of ours.
    """

    def deconstruct(self) -> tuple[str, str, list[Any], dict[str, Any]]:
        name, _path, arguments, options = super().deconstruct()  # type: ignore[misc]  # of the field it is mixed into
        extended = next(base for base in type(self).__mro__ if base.__module__.startswith("django.db.models."))
        options = {key: value for key, value in options.items() if key not in {"default", "validators"}}
        return name, f"django.db.models.{extended.__name__}", list(arguments), options


class CharField(_PlainInMigrations, models.CharField[str, str]):
    """A CharField whose default or validators are functions of this project."""


class UUIDField(_PlainInMigrations, models.UUIDField[UUID, UUID]):
    """A UUIDField whose default is a function of this project."""


class CiphertextField(_PlainInMigrations, models.TextField[str, str]):
    """Text that `credentials.encrypt` has made, or an empty string.

    `config.reencryption` finds the columns to re-encrypt by this type, so every encrypted column has to have it.
    """


def one_of(name: str, field: str, choices: Iterable[str]) -> models.CheckConstraint:
    """Constraint that `field` holds one of these words."""
    return models.CheckConstraint(name=name, condition=Q(**{f"{field}__in": list(choices)}))
