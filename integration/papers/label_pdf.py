"""Labels as PDF: one to a page of 10 by 15 cm or A6, or four to a page of A4."""

from collections.abc import Sequence
from enum import StrEnum
from io import BytesIO
from itertools import groupby

import segno
from reportlab.graphics.barcode.code128 import Code128
from reportlab.lib.colors import black, white
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

from integration.papers.label import Label, shared, shared_marks, volume_mark
from integration.papers.marks import Bars, Mark, Square, Text
from integration.papers.text import BOLD, REGULAR, width_of

_ASCENT = 0.93  # of a line above its base, in sizes of the font


class Size(StrEnum):
    """Of the paper."""

    CM_10X15 = "10x15"
    A6 = "a6"
    A4 = "a4"


_MILLIMETRES = {Size.CM_10X15: (100.0, 150.0), Size.A6: (105.0, 148.0), Size.A4: (210.0, 297.0)}
_QUARTER = (105.0, 148.0)
PER_A4 = 4


def write(labels: Sequence[Label], *, size: Size, position: int = 1) -> bytes:
    """`position`: the place of the first label on a sheet of A4, 1 to 4 as one reads."""
    width, height = _MILLIMETRES[size]
    is_sheet = size is Size.A4
    file = BytesIO()
    canvas = Canvas(file, pagesize=(width * mm, height * mm), invariant=True)  # no date: equal files are equal
    canvas.setTitle("Etiquetas")
    own_width, own_height = _QUARTER if is_sheet else (width, height)
    number = position - 1 if is_sheet else 0
    for order, (common, of_order) in enumerate(groupby(labels, key=shared)):
        form = f"order{order}"
        # Drawn once, in the coordinates of `_draw`.
        lower = -own_height * mm
        canvas.beginForm(form, lowery=lower, upperx=own_width * mm, uppery=0)  # type: ignore[arg-type]  # a float too
        for mark in shared_marks(common, width=own_width, height=own_height):
            _draw(canvas, mark)
        canvas.endForm()
        for label in of_order:
            place = number % PER_A4 if is_sheet else 0
            if place == 0 and number:
                canvas.showPage()
            canvas.saveState()
            canvas.translate(place % 2 * width / 2 * mm, (height - place // 2 * height / 2) * mm)
            canvas.doForm(form)
            _draw(canvas, volume_mark(label, width=own_width))
            canvas.restoreState()
            number += 1
    canvas.save()
    return file.getvalue()


def _draw(canvas: Canvas, mark: Mark) -> None:
    """The origin is the label's upper left corner, and y grows upwards."""
    canvas.saveState()
    canvas.translate(mark.x * mm, -mark.y * mm)
    if isinstance(mark, Text):
        _text(canvas, mark)
    elif isinstance(mark, Bars):
        _bars(canvas, mark)
    elif isinstance(mark, Square):
        _square(canvas, mark)
    else:
        canvas.rect(0, 0, mark.width * mm, -mark.height * mm, stroke=0, fill=1)
    canvas.restoreState()


def _text(canvas: Canvas, text: Text) -> None:
    canvas.setFont(BOLD if text.bold else REGULAR, text.size)
    canvas.setFillColor(white if text.white else black)
    if text.turned:
        canvas.translate(0, -text.width * mm)
        canvas.rotate(90)
        left = (text.width - width_of(text.text, size=text.size, bold=text.bold)) / 2
        canvas.translate(left * mm, 0)
    canvas.drawString(0, -_ASCENT * text.size, text.text)


def _bars(canvas: Canvas, bars: Bars) -> None:
    if bars.turned:
        canvas.translate(0, -bars.length * mm)
        canvas.rotate(90)
    left = (bars.length - bars.modules * bars.module) / 2
    code = Code128(bars.text, barWidth=bars.module * mm, barHeight=bars.height * mm, quiet=False)
    code.drawOn(canvas, left * mm, -bars.height * mm)


def _square(canvas: Canvas, square: Square) -> None:
    rows = [bytes(row) for row in segno.make(square.text, error="m", micro=False).matrix_iter(border=4)]
    side = square.side * mm / len(rows)
    path = canvas.beginPath()
    for number, row in enumerate(rows, start=1):
        for start, end in _runs(row):
            path.rect(start * side, -number * side, (end - start) * side, side)
    canvas.drawPath(path, stroke=0, fill=1)


def _runs(row: Sequence[int]) -> list[tuple[int, int]]:
    """Begins and ends of the dark modules that stand together."""
    edges = [n for n in range(len(row) + 1) if (n < len(row) and row[n]) != (n > 0 and row[n - 1])]
    return list(zip(edges[::2], edges[1::2], strict=True))
