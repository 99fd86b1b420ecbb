"""The fonts of PDFs, and texts that fit into their place.

Bitstream Vera is free and part of reportlab. It has the letters of Portuguese and of the other languages of Western and
Central Europe. Of a character that it lacks, the letter without its accents is printed if there is one, otherwise the
font's box, which shows that something is missing.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import groupby, islice
from typing import Any, NamedTuple

from reportlab import rl_config
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont

REGULAR, BOLD = "Vera", "VeraBd"
LINE = 1.2  # height of a line, in sizes of its font
POINT = 25.4 / 72  # millimetres
_LONGEST = 300  # more than any text of an order; bounds the work for each
_CUT = "…"
_STEP = 0.5  # points by which a font gets smaller
_UNITS = 1000  # to the size of a font

rl_config.useA85 = 0  # text in place of bytes, which makes files larger and takes a tenth of the time
for _font in (REGULAR, BOLD):
    pdfmetrics.registerFont(TTFont(_font, f"{_font}.ttf"))


def clean(text: object) -> str:
    """A text in one line, composed, in letters of the font where it can be, without characters that are not seen."""
    whole = str(text or "")
    shown = unicodedata.normalize("NFC", whole if len(whole) <= _LONGEST else f"{whole[: _LONGEST - 1]}{_CUT}")
    return " ".join("".join(map(_printable, shown)).split())


class Fitted(NamedTuple):
    """The lines of a text at a size in points. One that was cut ends with an ellipsis."""

    size: float
    lines: list[str]
    is_cut: bool

    @property
    def height(self) -> float:
        """In millimetres."""
        return len(self.lines) * self.size * LINE * POINT


def fitted(text: str, *, width: float, size: float, smallest: float, lines: int, bold: bool = False) -> Fitted:
    """A clean text at the largest size, of `size` to `smallest` points, at which it fits; cut there if it must be.

    `width` is in millimetres.
    """
    widths = _widths(BOLD if bold else REGULAR)
    signs = [(sign, widths[sign]) for sign in text]
    while True:
        room = width / POINT / size * _UNITS
        found = list(islice(_wrapped(signs, room, space=widths[" "]), lines + 1))
        if len(found) <= lines:
            return Fitted(size, found, is_cut=False)
        if size <= smallest:
            *whole, last, beyond = found
            return Fitted(size, [*whole, _cut(f"{last} {beyond}", room, widths)], is_cut=True)
        size = max(size - _STEP, smallest)


def width_of(text: str, *, size: float, bold: bool = False) -> float:
    """In millimetres."""
    widths = _widths(BOLD if bold else REGULAR)
    return sum(widths[sign] for sign in text) * size * POINT / _UNITS


def _face(font: str) -> Any:
    return pdfmetrics.getFont(font).face  # type: ignore[attr-defined]  # of a TTFont


class _Widths(dict[str, float]):
    """Of the characters of a font, in thousandths of its size."""

    def __init__(self, font: str) -> None:
        face = _face(font)
        super().__init__({chr(code): width for code, width in face.charWidths.items()})
        self._missing: float = face.defaultWidth

    def __missing__(self, _sign: str) -> float:
        return self._missing


@cache
def _widths(font: str) -> _Widths:
    return _Widths(font)


@cache
def _glyphs() -> frozenset[str]:
    return frozenset(map(chr, _face(REGULAR).charToGlyph))


def _printable(sign: str) -> str:
    if sign in _glyphs():
        return sign
    category = unicodedata.category(sign)
    if category[0] in "CZ":  # controls, marks of direction, private and unassigned characters; white space
        return " " if category[0] == "Z" or category == "Cc" else ""
    plain = "".join(each for each in unicodedata.normalize("NFKD", sign) if not unicodedata.combining(each))
    return plain if plain and _glyphs().issuperset(plain) else sign


def _wrapped(signs: Iterable[tuple[str, float]], room: float, *, space: float) -> Iterator[str]:
    """Lines of whole words where they fit, otherwise of parts of words."""
    line, used = "", 0.0
    for is_space, group in groupby(signs, key=lambda each: each[0] == " "):
        if is_space:
            continue
        word = list(group)
        length = sum(width for _sign, width in word)
        if line and used + space + length <= room:
            line, used = f"{line} {''.join(sign for sign, _width in word)}", used + space + length
            continue
        if line:
            yield line
        line, used = "", 0.0
        for sign, width in word:
            if line and used + width > room:
                yield line
                line, used = "", 0.0
            line, used = line + sign, used + width
    if line:
        yield line


def _cut(line: str, room: float, widths: Mapping[str, float]) -> str:
    left = room - widths[_CUT]
    for end, sign in enumerate(line):
        left -= widths[sign]
        if left < 0:
            return f"{line[:end].rstrip()}{_CUT}"
    return f"{line}{_CUT}"
