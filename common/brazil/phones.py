"""Phone numbers as people write them: read for links, and compared by their digits."""

import re
import unicodedata
from collections.abc import Iterator
from string import digits
from typing import Any, NamedTuple, TypeVar

from django.db.models import CharField, F, Func, Index, Q, QuerySet, Value
from django.db.models.fields.json import KT
from django.db.models.functions import Right
from django.db.models.lookups import Contains, EndsWith

_COUNTRY = "55"
_LANDLINE, _LONGEST_NATIONAL = 10, 11  # digits of a landline's and of a mobile phone's number with its area code
_KEY_DIGITS = 8  # the end of a number, which every way of writing it has
FEWEST_DIGITS = 10  # of a number with its area code
_SHORTEST_END = 4
_SIGNS = frozenset(f"{digits}+()-. ")
_LONGEST_TEXT = 255
_FEWEST_TO_CALL, _FEWEST_OF_A_PERSON = 3, 8  # digits: of an emergency service, and of a number without its area code
_MOST_WITHOUT_PLUS, _MOST_DIGITS = 13, 15  # the country and a mobile phone's number; by E.164
_CARRIER_DIGITS = 2  # a long distance call may name its carrier between the zero and the area code
_COMPANIES = ("3003", "4003", "4004", "4020")  # one number in the whole country, which no chat has
_NO_DIGIT = re.compile(r"[^0-9]")
_GROUP = re.compile(r"\+?[0-9]+")
_SEPARATORS = frozenset("/,|")
_BETWEEN = " | "  # the numbers of `together`
_LONGEST_AREA_CODE = 3  # with its zero
_LOCAL = (8, 9)  # digits of a number without its area code
_MOST_GROUPS = 15  # of one number: of one digit each
# Not one number with or without its country, zero and area code: what only `nationals` reads.
_UNUSUAL = (
    r"^(?![+0(). -]*(5[(). -]*5[(). -]*)?[1-9][(). -]*[1-9][(). -]*"
    r"([2-9]|9[(). -]*[0-9])[(). -]*([0-9][(). -]*){7}$).{10,}"
)
_BLANKS = frozenset(("Zs", "Pd"))  # categories of Unicode: blanks and dashes
# The digits of a number without or with its area code and country, and the signs that people write between them.
_PERSONS = re.compile(r"\+?([ ().-]*[0-9]){8,13}[ ().-]*")
# What a spreadsheet makes of a long number. Its last digits are lost.
_ROUNDED = re.compile(r"['+]?[0-9]([.,][0-9]{1,20})?[eE]\+?[0-9]{1,3}")

Rows = TypeVar("Rows", bound=QuerySet[Any])


class Phone(NamedTuple):
    """What a text says about the first telephone number in it.

    `shown`: the text for people. `call`: an address that calls the number. `chat`: one that opens WhatsApp. An address
    is empty where the text does not tell it.
    """

    shown: str
    call: str = ""
    chat: str = ""


def read(text: str) -> Phone:
    """The parts of a telephone number as people in Brazil write it.

    A number with its area code is called with the country's code, whatever stands before it: `+55`, `0055`, `(0)`, or
    the zero of a long distance call with its carrier. Of two numbers the first one is called. Numbers without an area
    code, those of services and companies (0800, 4004), and those with more digits behind them (an extension, another
    number) have no chat.
    """
    groups, is_alone = _first(_numbers(text))
    written = "".join(groups)
    number, is_foreign = _national(written), written.startswith("+") and not written.startswith(f"+{_COUNTRY}")
    if number:
        has_chat = is_alone and not (len(number) == _LANDLINE and number[2:].startswith(_COMPANIES))
        is_all = is_alone and _SIGNS.issuperset(_plain(text))
        shown = f"({number[:2]}) {number[2:-4]}-{number[-4:]}" if is_all else text
        return Phone(shown, f"tel:+{_COUNTRY}{number}", f"https://wa.me/{_COUNTRY}{number}" if has_chat else "")
    if not _FEWEST_TO_CALL <= len(_digits_of(written)) <= (_MOST_DIGITS if is_foreign else _MOST_WITHOUT_PLUS):
        return Phone(text)
    has_chat = is_foreign and is_alone and len(written) > _FEWEST_OF_A_PERSON
    return Phone(text, f"tel:{written}", f"https://wa.me/{written.removeprefix('+')}" if has_chat else "")


def shown(text: str) -> str:
    """A telephone number for people, as `(11) 97777-0001`; another text itself."""
    return read(text).shown


def is_rounded(text: str) -> bool:
    """Whether a spreadsheet has turned a number into one such as `5,51198E+12`."""
    return len(text) <= _LONGEST_TEXT and _ROUNDED.fullmatch(text.strip()) is not None


def is_doubtful(text: str) -> bool:
    """Whether no person can be called by it: too few digits, too many, or those that a spreadsheet has left."""
    if len(text) <= _LONGEST_TEXT and _PERSONS.fullmatch(text):  # nearly every one; `read` takes ten times as long
        return False
    return len(_digits_of(read(text).call)) < _FEWEST_OF_A_PERSON


def _plain(text: str) -> str:
    """The text with plain blanks, dashes and digits, without the invisible marks that copied numbers have."""
    if text.isascii():  # nearly every one: a delivery has four to read
        return text.replace("-", " ")
    signs = unicodedata.normalize("NFKC", text)
    kept = (sign for sign in signs if unicodedata.category(sign) != "Cf")
    return "".join(" " if unicodedata.category(sign) in _BLANKS else sign for sign in kept)


def _numbers(text: str) -> list[list[str]]:
    """The groups of digits of each number in a text. A slash or a comma ends a number, but not an area code."""
    found: list[list[str]] = []
    if len(text) > _LONGEST_TEXT or is_rounded(text):
        return found
    plain, end = _plain(text), 0
    for group in _GROUP.finditer(plain):
        between = plain[end : group.start()]
        length = len(_digits_of("".join(found[-1]))) if found else 0
        is_separate = length > _LONGEST_AREA_CODE and not _SEPARATORS.isdisjoint(between)
        is_next = group[0].startswith("+") or (length >= _FEWEST_OF_A_PERSON and "(" in between)
        if not found or is_separate or is_next or not (_SIGNS | _SEPARATORS).issuperset(between):
            found.append([])
        found[-1].append(group[0])
        end = group.end()
    return found


def _first(numbers: list[list[str]]) -> tuple[list[str], bool]:
    """The groups of the first number that may be a person's, or of the only one, and whether there are no others."""
    long = (groups for groups in numbers if len(_digits_of("".join(groups))) >= _FEWEST_OF_A_PERSON)
    groups = next(long, numbers[0] if len(numbers) == 1 else [])
    if len("".join(groups).lstrip("+0")) <= _MOST_DIGITS:
        return groups, len(numbers) == 1
    # Two numbers with nothing but blanks between them.
    heads = [groups[:count] for count in range(1, len(groups))]
    local = [head for head in heads if len("".join(head)) == _FEWEST_OF_A_PERSON]
    return next((head for head in heads if _national("".join(head))), next(iter(local), [])), False


def _national(written: str) -> str:
    """The area code and the number of `+5511977770001` and the like; empty if it is not one of Brazil's."""
    number = _digits_of(written).lstrip("0")
    if written.startswith(f"+{_COUNTRY}") or (number.startswith(_COUNTRY) and len(number) > _LONGEST_NATIONAL):
        number = number.removeprefix(_COUNTRY).lstrip("0")
    elif written.startswith("+"):
        return ""
    elif written.startswith("0") and len(number) > _LONGEST_NATIONAL:
        number = number[_CARRIER_DIGITS:]
    is_mobile = len(number) == _LONGEST_NATIONAL and number[2] == "9"
    is_landline = len(number) == _LANDLINE and number[2] in "23456789"
    return number if (is_mobile or is_landline) and "0" not in number[:2] else ""


def nationals(text: str) -> set[str]:
    """Every Brazilian number with its area code in a text, as `_national` has it.

    A number behind another one may leave the area code to it, and an extension may follow with a blank only.
    """
    found: list[str] = []
    for groups in _numbers(text):
        written = "".join(groups)
        if found and len(written) in _LOCAL:
            written = found[-1][:2] + written
        if whole := _national(written):
            found.append(whole)
        elif not written.startswith("+") or written.startswith(f"+{_COUNTRY}"):
            found += _in_a_row(groups)
    return set(found)


def _in_a_row(groups: list[str]) -> Iterator[str]:
    """The numbers of Brazil among groups of digits that are not one number together."""
    start = 0
    while start < len(groups):
        ends = range(start + 1, min(len(groups), start + _MOST_GROUPS) + 1)
        numbers = ((_national("".join(groups[start:end])), end) for end in ends)
        number, end = next((each for each in numbers if each[0]), ("", start + 1))
        if number:
            yield number
        start = end


def national(text: str) -> str:
    """The digits of a Brazilian number with its area code, without `+55`, `0055` and the `0` of long distance calls.

    Of a text with several numbers or none of Brazil, all digits.
    """
    found = nationals(text)
    if len(found) == 1:
        return found.pop()
    number = _digits_of(text).lstrip("0")
    return number.removeprefix(_COUNTRY) if len(number) > _LONGEST_NATIONAL else number


def together(*texts: str) -> str:
    """One text, in which `with_phone` finds each number of these, Brazil's first; a text alone stays as it is.

    A column has room for eighteen of Brazil's numbers; further ones are left out. So is what has none of Brazil and
    more digits than a number.
    """
    given = list(dict.fromkeys(filter(None, texts)))
    if len(given) <= 1:
        return "".join(given)
    numbers = [number for text in given for number in sorted(nationals(text))]
    numbers += [national(text) for text in given if not nationals(text)]
    whole = _BETWEEN.join(dict.fromkeys(number for number in numbers if 0 < len(number) <= _MOST_DIGITS))
    return whole if len(whole) <= _LONGEST_TEXT else whole[: _LONGEST_TEXT + len(_BETWEEN)].rpartition(_BETWEEN)[0]


def is_whole(text: str) -> bool:
    """Whether a text is a number with its area code. Without one it would be the number of several people."""
    return FEWEST_DIGITS <= len(national(text)) <= _LONGEST_NATIONAL


def _digits_of(text: str) -> str:
    return _NO_DIGIT.sub("", text)


def phone_key(column: str) -> Any:
    """The last digits of the number in a text column, or in a key of a JSON column: for an index."""
    return Right(_digits(column), _KEY_DIGITS)


def unusual_phones(column: str, *, name: str) -> Index:
    """The index of the numbers in a text column, or in a key of a JSON column, that are written in an unusual way."""
    return Index(_text(column), name=name, condition=_is_unusual(column))


def with_phone(rows: Rows, column: str, phone: str) -> Rows:
    """The rows whose column holds this number, alone or among others.

    The column needs an index of `phone_key` and `unusual_phones`. What is written in an unusual way is read here: a
    person's number is written in few ways, in however many rows.
    """
    number = national(phone)
    national_digits: Func = Func(
        Func(_digits(column), Value("0"), function="ltrim", output_field=CharField()),
        Value(rf"^{_COUNTRY}(\d{{{FEWEST_DIGITS},}})$"),
        Value(r"\1"),
        function="regexp_replace",
        output_field=CharField(),
    )
    all_digits = Func(
        Func(_text(column), template="NORMALIZE(%(expressions)s, NFKC)", output_field=CharField()),
        Value("[^0-9]"),
        Value(""),
        Value("g"),
        function="regexp_replace",
        output_field=CharField(),
    )
    with_texts = rows.alias(phone_end=phone_key(column), phone_digits=national_digits, phone_text=_text(column))
    usual = Q(phone_end=number[-_KEY_DIGITS:], phone_digits=number)
    candidates = with_texts.filter(_is_unusual(column), Contains(all_digits, number[-_KEY_DIGITS:]))
    texts = candidates.order_by().annotate(written=_text(column)).values_list("written", flat=True).distinct()
    read_here = [text for text in texts if number in nationals(text) or number in text.split(_BETWEEN)]
    found: Rows = with_texts.filter(usual | (_is_unusual(column) & Q(phone_text__in=read_here)))
    return found


def ends_with(column: str, text: str) -> Q:
    """The condition that the number in a column ends with these digits, four at least; false for any other text.

    No index serves it, so the rows are to be few.
    """
    end = _digits_of(text)
    if len(end) < _SHORTEST_END or not _SIGNS.issuperset(text):
        return Q(pk__in=[])
    return Q(EndsWith(_digits(column), end if len(end) <= _KEY_DIGITS else national(text)))


def _is_unusual(column: str) -> Q:
    return Q((f"{column}__regex", _UNUSUAL))


def _text(column: str) -> Any:
    return KT(column) if "__" in column else F(column)


def _digits(column: str) -> Func:
    return Func(_text(column), Value(r"\D"), Value(""), Value("g"), function="regexp_replace", output_field=CharField())
