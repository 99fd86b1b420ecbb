"""Identifiers and the coordinates that several nouns share."""

from uuid import UUID

from django.db import models
from uuid_utils import compat


def new_id() -> UUID:
    """A UUIDv7: unique, and sorted by the time it was made."""
    return compat.uuid7()


class Identified(models.Model):
    """Something whose id is a UUIDv7."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)

    class Meta:
        abstract = True
