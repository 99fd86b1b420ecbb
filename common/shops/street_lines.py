"""House numbers that people typed into the line of a street, and documents that they typed somewhere else. Pure."""

import re
from typing import NamedTuple

# `Rua Chile, 21`, `Rua Chile, nº 21-B, apto 3`, `Rua Chile, s/n - fundos`. The quantifiers are bounded, and no two that
# follow one another can take the same characters, but for blanks.
_BEHIND_COMMA = re.compile(
    r"(?P<street>[^,]{2,200}),\s{0,3}(?:n[º°o.]{1,2}\s?)?"
    r"(?P<number>[0-9]{1,6}(?:\s?[-/]?\s?[a-z])?|s/?n[º°o]?|sem n[uú]mero)"
    r"(?:\s{0,3}[,;-]\s{0,3}(?P<rest>.{0,255}))?",
    re.IGNORECASE | re.DOTALL,
)
_AT_END = re.compile(
    r"(?P<street>[^,0-9]{2,200}\s(?P<word>[^,0-9\s]{3,60}))\s{1,3}(?P<number>[0-9]{1,6})", re.IGNORECASE
)
# A number behind one of these is no house's: `Conjunto Sol Quadra 10`, `Rodovia Federal Km 12`.
_NAMED = frozenset((
    "alameda", "apartamento", "apto", "avenida", "bloco", "caixa", "casa", "conjunto", "estrada", "etapa", "loja",
    "lote", "quadra", "rodovia", "rua", "sala", "setor", "torre", "travessa", "via",
))  # fmt: skip  # a list
_DOCUMENT_DIGITS = (11, 14)  # of a CPF and of a CNPJ
_SIGNS = frozenset("0123456789.-/ ")


class Lines(NamedTuple):
    street: str
    number: str
    rest: str


def split(line: str, known: str = "") -> Lines:
    """The line as street, number and what stands behind the number.

    `known`: the number, if the platform has it elsewhere too. Without a number for sure, all is the street.
    """
    found = _found(line)
    if known and found.number != known:
        return Lines(line, known, "")
    return found


def _found(line: str) -> Lines:
    if found := _BEHIND_COMMA.fullmatch(line):
        return Lines(found["street"].strip(), found["number"], (found["rest"] or "").strip())
    if (found := _AT_END.fullmatch(line)) and found["word"].lower() not in _NAMED:
        return Lines(found["street"], found["number"], "")
    return Lines(line, "", "")


def is_document(shown: str) -> bool:
    """Whether a text is nothing but a CPF or a CNPJ of digits, with or without its signs."""
    return set(shown) <= _SIGNS and sum(character.isdigit() for character in shown) in _DOCUMENT_DIGITS
