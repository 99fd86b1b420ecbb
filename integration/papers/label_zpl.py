"""Labels of 10 by 15 cm as ZPL II, for thermal printers with 8 dots in each millimetre.

The printer's own scalable font is used, which is narrower than the one that the lines were measured with. Characters
that it lacks are left out or printed as a box, as the printer does.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby

import segno

from integration.papers.label import Label, shared, shared_marks, volume_mark
from integration.papers.marks import Bars, Mark, Square, Text
from integration.papers.text import LINE, POINT

_DOTS = 8
_WIDTH, _HEIGHT = 100, 150
# `_5E` is written for ^, by ^FH; so the underscore itself has to be too.
_ESCAPED = str.maketrans({sign: f"_{ord(sign):02X}" for sign in "^~_"})


def write(labels: Iterable[Label]) -> str:
    return "".join(text for common, of_order in groupby(labels, key=shared) for text in _labels(common, of_order))


def _labels(common: Label, of_order: Iterable[Label]) -> Iterator[str]:
    fields = "\n".join(map(_field, shared_marks(common, width=_WIDTH, height=_HEIGHT)))
    for label in of_order:
        volume = _field(volume_mark(label, width=_WIDTH))
        yield f"^XA\n^CI28\n^PW{_dots(_WIDTH)}\n^LL{_dots(_HEIGHT)}\n^LH0,0\n{fields}\n{volume}\n^XZ\n"


def _field(mark: Mark) -> str:
    if isinstance(mark, Text):
        return _text(mark)
    if isinstance(mark, Bars):
        return _bars(mark)
    if isinstance(mark, Square):
        # The printer leaves no quiet zone; `magnified` has counted it.
        side = _qr_modules(mark.text)
        magnified = max(1, min(_dots(mark.side) // side, 10))
        margin = 4 * magnified
        return f"{_at(mark.x, mark.y, margin, margin)}^BQN,2,{magnified}^FH^FDMA,{_escaped(mark.text)}^FS"
    width, height = _dots(mark.width), max(1, _dots(mark.height))
    return f"{_at(mark.x, mark.y)}^GB{width},{height},{min(width, height)}^FS"


def _text(text: Text) -> str:
    height = round(text.size * POINT * _DOTS)
    reverse = "^FR" if text.white else ""
    if text.turned:
        block = f"^FB{_dots(text.width)},1,0,C"
        return f"{_at(text.x, text.y)}^A0B,{height},{height}{block}^FH^FD{_escaped(text.text)}^FS"
    top = round((LINE - 1) / 2 * height)
    return f"{_at(text.x, text.y, 0, top)}{reverse}^A0N,{height},{height}^FH^FD{_escaped(text.text)}^FS"


def _bars(bars: Bars) -> str:
    module = int(bars.module * _DOTS)
    left = (_dots(bars.length) - bars.modules * module) // 2
    across, along = (0, left) if bars.turned else (left, 0)
    turn = "B" if bars.turned else "N"
    code = f"^BY{module}^BC{turn},{_dots(bars.height)},N,N,N,A"
    return f"{_at(bars.x, bars.y, across, along)}{code}^FH^FD{_escaped(bars.text)}^FS"


def _qr_modules(text: str) -> int:
    """With the quiet zone."""
    return int(segno.make(text, error="m", micro=False).symbol_size(border=4)[0])


def _at(x: float, y: float, right: int = 0, down: int = 0) -> str:
    return f"^FO{_dots(x) + right},{_dots(y) + down}"


def _dots(length: float) -> int:
    return round(length * _DOTS)


def _escaped(text: str) -> str:
    return text.translate(_ESCAPED)
