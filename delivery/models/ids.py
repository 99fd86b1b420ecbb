"""UUIDv7 primary keys, and reading one from text."""

from uuid import UUID

from django.db import models
from uuid_utils import compat

from common import fields

_TEXT_LENGTH = 36


def new_id() -> UUID:
    """A UUIDv7: unique, and sorted by the time it was made."""
    return compat.uuid7()


def parse_id(text: str) -> UUID | None:
    """The UUID that `text` spells in its canonical form, or None. `UUID` alone would also accept braces and URNs."""
    if len(text) != _TEXT_LENGTH:
        return None
    try:
        parsed = UUID(text)
    except ValueError:
        return None
    return parsed if str(parsed) == text.lower() else None


class Identified(models.Model):
    """Abstract model with a UUIDv7 primary key."""

    id = fields.UUIDField(primary_key=True, default=new_id, editable=False)

    class Meta:
        abstract = True
