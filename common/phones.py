"""Phone numbers as people write them, compared by their digits."""

from string import digits
from typing import Any, TypeVar

from django.db.models import CharField, F, Func, Q, QuerySet, Value
from django.db.models.fields.json import KT
from django.db.models.functions import Right
from django.db.models.lookups import EndsWith

_COUNTRY = "55"
_LONGEST_NATIONAL = 11  # area code and number of a mobile phone
_KEY_DIGITS = 8  # the end of a number, which every way of writing it has
FEWEST_DIGITS = 10  # of a number with its area code
_SHORTEST_END = 4
_SIGNS = frozenset(f"{digits}+()-. ")

Rows = TypeVar("Rows", bound=QuerySet[Any])


def national(text: str) -> str:
    """The digits of a Brazilian number with its area code, without `+55`, `0055` and the `0` of long distance calls."""
    number = _digits_of(text).lstrip("0")
    return number.removeprefix(_COUNTRY) if len(number) > _LONGEST_NATIONAL else number


def is_whole(text: str) -> bool:
    """Whether a text is a number with its area code. Without one it would be the number of several people."""
    return FEWEST_DIGITS <= len(national(text)) <= _LONGEST_NATIONAL


def key(text: str) -> str:
    """The value of `phone_key` for a column that holds this number."""
    return _digits_of(text)[-_KEY_DIGITS:]


def _digits_of(text: str) -> str:
    return "".join(character for character in text if character in digits)


def phone_key(column: str) -> Any:
    """The last digits of the number in a text column, or in a key of a JSON column: for an index."""
    return Right(_digits(column), _KEY_DIGITS)


def with_phone(rows: Rows, column: str, phone: str) -> Rows:
    """The rows whose column holds this number. The column needs an index of `phone_key`."""
    national_digits: Func = Func(
        Func(_digits(column), Value("0"), function="ltrim", output_field=CharField()),
        Value(rf"^{_COUNTRY}(\d{{{FEWEST_DIGITS},}})$"),
        Value(r"\1"),
        function="regexp_replace",
        output_field=CharField(),
    )
    found: Rows = rows.alias(phone_end=phone_key(column), phone_digits=national_digits)
    return found.filter(phone_end=key(phone), phone_digits=national(phone))


def ends_with(column: str, text: str) -> Q:
    """The condition that the number in a column ends with these digits, four at least; false for any other text.

    No index serves it, so the rows are to be few.
    """
    end = _digits_of(text)
    if len(end) < _SHORTEST_END or not _SIGNS.issuperset(text):
        return Q(pk__in=[])
    return Q(EndsWith(_digits(column), end if len(end) <= _KEY_DIGITS else national(text)))


def _digits(column: str) -> Func:
    text: Any = KT(column) if "__" in column else F(column)
    return Func(text, Value(r"\D"), Value(""), Value("g"), function="regexp_replace", output_field=CharField())
