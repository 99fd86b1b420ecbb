"""What of an address a geocoder knows: no words for a missing number, and none for what is behind a door. Pure.

Nominatim finds nothing where one word of a query is in no address.
"""

import re
import unicodedata

# Of a house, at the beginning of a text without accents: `500`, `nº 500`, `1.250`, `500-B`, `500 apto 12`.
_NUMBER = re.compile(
    r"\W*(?:n(?:umero|um|ro|r|o)?\s?[.:]?\s?)?"
    r"(\d{1,3}\.\d{3}|\d{1,6})(?!\d)"
    r"(?:[-/]?([a-z])(?!\w)|\s?[-/]?\s?([a-z])\W*$)?",
    re.IGNORECASE,
)
_NO_NUMBER = re.compile(
    r"(?<!\w)(?:s\s?[/\\]\s?n(?:[ºo°.]|ro?|[uú]m(?:ero)?)?|sem\sn(?:[ºo°.]|ro?|[uú]m(?:ero)?))(?!\w)"
    r"|(?<!\w)(?:sn|s\.\s?n\.?)(?=\s?(?:,|$))",
    re.IGNORECASE,
)
# `500 apto 12`, `500 - 2º andar`; and what is behind a door in most places, but names a street in Brasília: `bloco 2`.
_DOOR = (
    r"(?:\d{1,3}\s?[\u00ba\u00b0oO]?\.?\s?andar|apartamento|apto|apt|ap|sala|sl|loja|lj|casa|andar|fundos|torre|box)\b"
)
_PART = r"(?:bloco|bl|conjunto|conj|cj|quadra|qd|lote|lt)\b\.?(?=\s?\d|\s[a-z]\b)"
_SECTOR = re.compile(r"(?:S[A-Z]{1,4}\s)?(?:S[A-Z]{1,4}|Q[A-Z]{0,3}|E[QP][A-Z]{1,3})\s?\d")
_BEHIND_NUMBER = {
    False: re.compile(rf"(\d[a-z]?)\s?[-\u2013]?\s?(?:{_DOOR}|{_PART}).*", re.IGNORECASE),
    True: re.compile(rf"(\d[a-z]?|\b[a-z])\s?[-\u2013]?\s?{_DOOR}.*", re.IGNORECASE),
}
_ONLY_BEHIND = {
    False: re.compile(rf"(?:{_DOOR}\.?(?:\s?\d.*)?|{_PART}.*)$", re.IGNORECASE),
    True: re.compile(rf"{_DOOR}\.?(?:\s?\d.*)?$", re.IGNORECASE),
}
_DASHES = " -\u2013\u2014."


def house_number(text: str) -> str:
    """The number of the house, such as `500` or `500B`; empty if the text says that there is none, or names no house.

    `S/N`, `sem número`, `0` and `km 12` are no numbers of houses.
    """
    signs = unicodedata.normalize("NFKD", re.sub("[ºª°]", " ", text))
    plain = "".join(each for each in signs if not unicodedata.combining(each))
    found = _NUMBER.match(" ".join(plain.split()))
    if found is None:
        return ""
    digits = found[1].replace(".", "").lstrip("0")
    return digits and digits + (found[2] or found[3] or "").upper()


def known_words(text: str) -> str:
    """A street, or a whole address in one line, without what says that there is no number or which door it is."""
    line = one_line(text)
    # In Brasília `SQN 410 Bloco B` is what a map knows.
    is_sector = _SECTOR.match(line) is not None
    only, behind = _ONLY_BEHIND[is_sector], _BEHIND_NUMBER[is_sector]
    street, *rests = _NO_NUMBER.split(line)
    for rest in rests:
        beginning, comma, others = rest.partition(",")
        street += comma + others if only.match(beginning.strip(_DASHES)) else rest
    first, *parts = street.split(",")
    parts = [first, *(part for part in parts if not only.match(part.strip(_DASHES)))]
    return ", ".join(filter(None, (one_line(behind.sub(r"\1", part)) for part in parts)))


def one_line(text: str) -> str:
    """In one form of Unicode, so that equal words are asked for equally."""
    return " ".join(unicodedata.normalize("NFC", text).split())
