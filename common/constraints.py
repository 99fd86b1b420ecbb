"""Database constraints that both areas use."""

from collections.abc import Iterable

from django.db import models
from django.db.models import Q


def one_of(name: str, field: str, choices: Iterable[str]) -> models.CheckConstraint:
    """Constraint that `field` holds one of these words."""
    return models.CheckConstraint(name=name, condition=Q(**{f"{field}__in": list(choices)}))
