"""Workbooks as spreadsheets save them, and what is in one."""

import io
from datetime import datetime
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from xlsxwriter import Workbook

SHEET = "xl/worksheets/sheet1.xml"


def workbook(rows: list[list[Any]]) -> bytes:
    file = io.BytesIO()
    with Workbook(file, {"default_date_format": "dd/mm/yyyy hh:mm"}) as book:
        sheet = book.add_worksheet()
        for number, row in enumerate(rows):
            for column, cell in enumerate(row):
                write = sheet.write_datetime if isinstance(cell, datetime) else sheet.write
                write(number, column, cell)
    return file.getvalue()


def parts(raw: bytes) -> dict[str, bytes]:
    with ZipFile(io.BytesIO(raw)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archived(content: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as archive:
        for name, text in content.items():
            archive.writestr(name, text)
    return file.getvalue()
