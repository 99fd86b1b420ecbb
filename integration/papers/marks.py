"""What a label consists of, in millimetres from its upper left corner, for every format of a printer. Pure.

A place on the paper is decided once, in `label`; `label_pdf` and `label_zpl` write the same marks.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from reportlab.graphics.barcode.code128 import Code128

# What both formats encode alike: the printable characters of ASCII, but the one that is a command in ZPL's Code 128.
_ENCODABLE = re.compile(r"[ -=?-~]{1,80}")
# Two dots of a printer with 8 in each millimetre: with one, readers fail.
NARROWEST = 0.25
_WIDEST = 0.5
QUIET = 10  # modules left blank at each end (ISO/IEC 15417)


@dataclass(frozen=True)
class Text:
    """One line. `size` in points, `y` is its upper edge. `turned`: read from below, centred in the length `width`."""

    x: float
    y: float
    size: float
    text: str
    bold: bool = False
    white: bool = False
    turned: bool = False
    width: float = 0


@dataclass(frozen=True)
class Bars:
    """Code 128, in the middle of `length`, which has room for its quiet zones. `turned`: it is read from below.

    `blank`: how much of each end has no bars, if that is more than the quiet zone.
    """

    x: float
    y: float
    length: float
    height: float
    text: str
    turned: bool = False
    blank: float = 0

    @property
    def modules(self) -> int:
        """Without the quiet zones."""
        return modules_of(self.text)

    @property
    def module(self) -> float:
        """The width of the narrowest bar."""
        with_quiet_zones = self.length / (self.modules + 2 * QUIET)
        return min(_WIDEST, with_quiet_zones, (self.length - 2 * self.blank) / self.modules)


@dataclass(frozen=True)
class Square:
    """A QR code with its quiet zone."""

    x: float
    y: float
    side: float
    text: str


@dataclass(frozen=True)
class Block:
    """Filled with black."""

    x: float
    y: float
    width: float
    height: float


Mark = Text | Bars | Square | Block


@lru_cache(maxsize=1024)  # asked several times for each code
def modules_of(text: str) -> int:
    return int(Code128(text, barWidth=1, quiet=False).width)


def has_bars(text: str, *, length: float) -> bool:
    """Whether bars for this text can be read from a label that has this length for them."""
    if not _ENCODABLE.fullmatch(text):
        return False
    return (modules_of(text) + 2 * QUIET) * NARROWEST <= length
