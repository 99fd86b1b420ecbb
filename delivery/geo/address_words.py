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
_BEHIND = r"(?:apartamento|apto|apt|ap|sala|loja|casa|andar|fundos|torre|box)\b"
_BEHIND_NUMBER = re.compile(rf"(\d[a-z]?)\s?[-\u2013]?\s?{_BEHIND}.*", re.IGNORECASE)
_ONLY_BEHIND = re.compile(rf"{_BEHIND}\.?(?:\s?\d.*)?$", re.IGNORECASE)


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
    first, *others = _NO_NUMBER.sub("", one_line(text)).split(",")
    parts = [first, *(part for part in others if not _ONLY_BEHIND.match(part.strip()))]
    return ", ".join(filter(None, (one_line(_BEHIND_NUMBER.sub(r"\1", part)) for part in parts)))


def one_line(text: str) -> str:
    """In one form of Unicode, so that equal words are asked for equally."""
    return " ".join(unicodedata.normalize("NFC", text).split())
