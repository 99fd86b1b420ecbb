"""Model fields, constraints and SQL expressions that both areas use and Django does not have."""

import unicodedata
from collections.abc import Collection, Iterable
from typing import Any, TypeVar
from uuid import UUID

from django.db import models
from django.db.models import BooleanField, F, Func, Q, TextField, Transform, Value
from django.db.models.functions import Lower
from uuid_utils import compat

_TEXT_LENGTH = 36  # of a UUID
_Field = TypeVar("_Field", bound="models.Field[Any, Any]")


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


class PlainInMigrations:
    """Migrations record it as the Django field that it extends, without the options `not_recorded`.

    Those are Python code of this project, which may move; a migration imports nothing of ours.
    """

    not_recorded: Collection[str] = ("default", "validators")

    def deconstruct(self) -> tuple[str, str, list[Any], dict[str, Any]]:
        name, _path, arguments, options = super().deconstruct()  # type: ignore[misc]  # of the field it is mixed into
        extended = next(base for base in type(self).__mro__ if base.__module__.startswith("django.db.models."))
        options = {key: value for key, value in options.items() if key not in self.not_recorded}
        return name, f"django.db.models.{extended.__name__}", list(arguments), options


class CharField(PlainInMigrations, models.CharField[str, str]):
    """A CharField whose default or validators are functions of this project."""


class UUIDField(PlainInMigrations, models.UUIDField[UUID, UUID]):
    """A UUIDField whose default is a function of this project."""


class CiphertextField(PlainInMigrations, models.TextField[str, str]):
    """Text that `credentials.encrypt` has made, or an empty string.

    `manage.py reencrypt_credentials` finds the columns by this type, so every encrypted column has to have it.
    """


def personal(field: _Field) -> _Field:
    """The field, whose column holds data about a person: docs/personal-data.md says of whom, and when it ends."""
    field.personal = True  # type: ignore[attr-defined]  # a mark of ours, which copies of the field keep
    return field


def not_personal(field: _Field) -> _Field:
    """The field, whose column could hold data about a person by its kind, and does not."""
    field.personal = False  # type: ignore[attr-defined]  # see above
    return field


def one_of(name: str, field: str, choices: Iterable[str]) -> models.CheckConstraint:
    """Constraint that `field` holds one of these words."""
    return models.CheckConstraint(name=name, condition=Q(**{f"{field}__in": list(choices)}))


# The letters of Latin-1, which has those of Portuguese. `translate` compares each character with each of them, so
# further alphabets would make searches slower.
_ACCENTED = "ÀÁÂÃÄÅÇÈÉÊËÌÍÎÏÑÒÓÔÕÖÙÚÛÜÝàáâãäåçèéêëìíîïñòóôõöùúûüýÿ"
_PLAIN = "AAAAAACEEEEIIIINOOOOOUUUUYaaaaaaceeeeiiiinooooouuuuyy"
_TABLE = str.maketrans(_ACCENTED, _PLAIN)


def any_of(field: str, values: Any) -> Func:
    """The condition that `field`, the name of a column, is one of `values`: an ArraySubquery, or a Parameter of a list.

    In SQL `= ANY(ARRAY(…))`. PostgreSQL reads the array first, from the index of the subquery, and then the rows by
    their keys. With IN it may join instead, and as long as a table has no statistics it then reads all rows of an
    account: 112 ms with 100,000 deliveries.
    """
    return Func(F(field), values, template="%(expressions)s)", arg_joiner=" = ANY(", output_field=BooleanField())


# Some systems write a letter and its accent as two characters (macOS in names of files, for instance).
_COMPOSED = "NORMALIZE(%(expressions)s, NFC)"


def composed(text: str) -> str:
    """The text in Unicode's composed form (NFC), in which texts are compared. They are kept as they were sent."""
    return unicodedata.normalize("NFC", text)


def spellings(text: str) -> list[str]:
    """The text as it is, composed and decomposed: what is looked for by an index of texts as they were sent."""
    if text.isascii():
        return [text]
    return [*dict.fromkeys((text, composed(text), unicodedata.normalize("NFD", text)))]


def composed_column(name: Any) -> Func:
    """A column's text, or that of an expression, as `composed` has it: for indexes of what the look-up reads."""
    return Func(name, template=_COMPOSED, output_field=TextField())


def decomposed_column(name: Any) -> Func:
    """As `composed_column`, in the decomposed form."""
    return Func(name, template="NORMALIZE(%(expressions)s, NFD)", output_field=TextField())


@models.CharField.register_lookup
@TextField.register_lookup
class Composed(Transform):
    """`name__composed=text` compares both as `composed` has them."""

    lookup_name = "composed"
    bilateral = True
    template = _COMPOSED


def folded(text: str) -> str:
    """The text composed, in lower case and without accents, as `Folded` has it in SQL."""
    return composed(text).translate(_TABLE).lower()


class Folded(Lower):
    """A column's text composed, in lower case and without accents."""

    def __init__(self, name: str) -> None:
        super().__init__(
            Func(composed_column(name), Value(_ACCENTED), Value(_PLAIN), function="translate", output_field=TextField())
        )
