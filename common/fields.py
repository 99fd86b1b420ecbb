"""Model fields, constraints and SQL expressions that both areas use and Django does not have."""

from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import BooleanField, F, Func, Q, TextField, Value
from django.db.models.functions import Lower

_LENGTH_OF_ID = 36


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


def parse_id(text: str) -> UUID | None:
    """The UUID that `text` spells in its canonical form, or None. `UUID` alone would also accept braces and URNs."""
    if len(text) != _LENGTH_OF_ID:
        return None
    try:
        parsed = UUID(text)
    except ValueError:
        return None
    return parsed if str(parsed) == text.lower() else None


class CiphertextField(PlainInMigrations, models.TextField[str, str]):
    """Text that `credentials.encrypt` has made, or an empty string.

    `manage.py reencrypt_credentials` finds the columns by this type, so every encrypted column has to have it.
    """


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


def folded(text: str) -> str:
    """The text in lower case and without accents, as `Folded` has it in SQL."""
    return text.translate(_TABLE).lower()


class Folded(Lower):
    """A column's text in lower case and without accents."""

    def __init__(self, name: str) -> None:
        super().__init__(Func(F(name), Value(_ACCENTED), Value(_PLAIN), function="translate", output_field=TextField()))
