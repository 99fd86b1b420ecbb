"""Reads what is printed: the pages of a PDF as a scanner sees them, and the fields of ZPL."""

import re
from itertools import combinations
from typing import Any

import pypdfium2
import zxingcpp

DOTS_PER_INCH = 203  # of a label printer


def pages_of(pdf: bytes, *, dots_per_inch: int = DOTS_PER_INCH) -> list[Any]:
    """Its pages as greyscale images."""
    with pypdfium2.PdfDocument(pdf) as document:
        return [page.render(scale=dots_per_inch / 72).to_pil().convert("L") for page in document]


def texts_of(pdf: bytes) -> list[str]:
    """The texts of its pages, in one line each."""
    with pypdfium2.PdfDocument(pdf) as document:
        return [" ".join(page.get_textpage().get_text_range().split()) for page in document]


def misplaced(pdf: bytes, *, margin: float = 14) -> list[Any]:
    """What stands in the five millimetres that printers leave blank, and texts that overlap, by their boxes."""
    found: list[Any] = []
    with pypdfium2.PdfDocument(pdf) as document:
        for page in document:
            width, height = page.get_size()
            boxes = [(each, each.get_bounds()) for each in page.get_objects()]
            found += [
                box for _each, box in boxes
                if min(box[:2]) < margin or box[2] > width - margin or box[3] > height - margin
            ]  # fmt: skip  # a condition
            texts = [box for each, box in boxes if each.type == pypdfium2.raw.FPDF_PAGEOBJ_TEXT]
            found += [(one, other) for one, other in combinations(texts, 2) if _overlap(one, other)]
    return found


def _overlap(one: Any, other: Any) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def codes_in(image: Any) -> list[tuple[str, str]]:
    """The codes on a page, as (format, text), sorted."""
    return sorted((code.format.name, code.text) for code in zxingcpp.read_barcodes(image))


def fields_of(zpl: str) -> list[tuple[str, str]]:
    """The fields of a label: its commands and its data, decoded."""
    found = re.findall(r"\^FO\d+,\d+(.*?)\^FD(.*?)\^FS", zpl)
    return [(commands, re.sub(r"_([0-9A-F]{2})", lambda each: chr(int(each[1], 16)), data)) for commands, data in found]
