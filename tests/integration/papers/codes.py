"""Reads what is printed: the pages of a PDF as a scanner sees them, and the fields of ZPL."""

import re
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


def codes_in(image: Any) -> list[tuple[str, str]]:
    """The codes on a page, as (format, text), sorted."""
    return sorted((code.format.name, code.text) for code in zxingcpp.read_barcodes(image))


def fields_of(zpl: str) -> list[tuple[str, str]]:
    """The fields of a label: its commands and its data, decoded."""
    found = re.findall(r"\^FO\d+,\d+(.*?)\^FD(.*?)\^FS", zpl)
    return [(commands, re.sub(r"_([0-9A-F]{2})", lambda each: chr(int(each[1], 16)), data)) for commands, data in found]
