"""XLSX workbooks: people's spreadsheets keep a text cell as it is, which they do not with the digits of a CSV file.

What people upload is read within bounds, because a small archive can expand to any size, and a sheet with one cell far
outside is a rectangle of any size in memory.
"""

import io
import re
import struct
import zlib
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile

from django.http import FileResponse, StreamingHttpResponse
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from python_calamine import CalamineError, CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum
from xlsxwriter import Workbook

from common.files.csv_files import (
    MOST_IMPORTED,
    Cell,
    Row,
    UnreadableFile,
    bounded,
    check_size,
    neutralised,
    plain,
    too_large,
)

CONTENT_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MOST_BYTES = 1_000_000  # of a file; spreadsheets add styles, themes and pictures to the cells
_MOST_EXPANDED = 5_500_000
_MOST_PARTS = 200
_MOST_AREA = 1_000_000  # cells of the rectangle that the reader keeps
_MOST_TEXT = 100_000_000  # characters, if each cell had the longest of the shared texts
_ARCHIVE = b"PK\x03\x04"
_OLD_WORKBOOK = b"\xd0\xcf\x11\xe0"  # .xls, and .xlsx with a password
_REFERENCE = re.compile(rb"""\br\s*=\s*["']([A-Za-z]*)([0-9]*)["']""")
_END_OF_SHARED_TEXT = re.compile(rb"</[^>]{0,50}si\s{0,20}>")
_MOST_LETTERS, _MOST_DIGITS = 3, 7  # of a reference; the last cell is XFD1048576
_LONGEST_TEXT = 32_767  # of a cell, in every spreadsheet
_MOST_SIGNIFICANT = 15  # digits of a number that spreadsheets keep
_WIDTH = 18


def response(
    name: str, *, header: Sequence[Cell], rows: Iterable[Sequence[Cell]], most: int | None = None
) -> StreamingHttpResponse:
    """A download of `<name>.xlsx`, see `csv_files.response`."""
    file = io.BytesIO()
    _write(file, header, bounded(rows, most), is_portuguese=(translation.get_language() or "en").startswith("pt"))
    file.seek(0)
    return FileResponse(
        file,
        as_attachment=True,
        filename=f"{name}.xlsx",
        content_type=CONTENT_TYPE,
        headers={"Cache-Control": "no-store"},
    )


def _write(file: io.BytesIO, header: Sequence[Cell], rows: Iterable[Sequence[Cell]], *, is_portuguese: bool) -> None:
    """Rows are written to a temporary file as they come. A text is never a number, a link or a formula."""
    with Workbook(file, {"constant_memory": True}) as book:
        sheet = book.add_worksheet()
        bold = book.add_format({"bold": True, "num_format": "@"})
        text = book.add_format({"num_format": "@"})  # so that what people type into it stays a text too
        day = "dd/mm/yyyy" if is_portuguese else "yyyy-mm-dd"
        formats = {kind: book.add_format({"num_format": kind}) for kind in (day, f"{day} hh:mm:ss", "0", "0.0", "0.00")}
        sheet.set_column(0, max(len(header) - 1, 0), _WIDTH)
        sheet.freeze_panes(1, 0)
        for column, cell in enumerate(header):
            sheet.write_string(0, column, str(cell), bold)
        for number, row in enumerate(rows, start=1):
            for column, cell in enumerate(row):
                match cell:
                    case None | "":
                        continue
                    case datetime():
                        local = timezone.localtime(cell).replace(tzinfo=None)
                        sheet.write_datetime(number, column, local, formats[f"{day} hh:mm:ss"])
                    case date():
                        sheet.write_datetime(number, column, cell, formats[day])
                    case int() | float() | Decimal() if _is_exact(cell):
                        sheet.write_number(number, column, cell, formats.get(_shape(cell)))
                    case _:
                        sheet.write_string(number, column, _cut(_readable(str(cell))), text)


def _is_exact(number: float | Decimal) -> bool:
    return len(Decimal(str(number)).as_tuple().digits) <= _MOST_SIGNIFICANT


def _shape(number: float | Decimal) -> str:
    """How many decimal places are shown: those that the number has."""
    exponent = Decimal(str(number)).as_tuple().exponent
    places = max(-exponent, 0) if isinstance(exponent, int) else 0
    return f"0.{'0' * places}" if places else "0"


def _readable(text: str) -> str:
    """A text cell needs no apostrophe, unless it looks like one that our CSV files guard: reading would undo that."""
    return text if plain(text) == text else neutralised(text)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"


def is_workbook(raw: bytes) -> bool:
    """Whether the bytes are a workbook of any kind rather than a text."""
    return raw.startswith((_ARCHIVE, _OLD_WORKBOOK))


def read(raw: bytes, *, most: int) -> list[Row]:
    """The rows of the first visible sheet, without blank ones, each cell as a person would type it.

    At most `most` characters. Raises UnreadableFile.
    """
    check_size(len(raw), most=MOST_BYTES)
    if raw.startswith(_OLD_WORKBOOK):
        raise UnreadableFile(_("This workbook is old or has a password. Save it as XLSX or CSV, without a password."))
    archive = _repacked(raw)
    try:
        with CalamineWorkbook.from_filelike(archive) as book:
            names = [
                sheet.name
                for sheet in book.sheets_metadata
                if sheet.typ == SheetTypeEnum.WorkSheet and sheet.visible == SheetVisibleEnum.Visible
            ]
            cells = book.get_sheet_by_name(names[0]).to_python(skip_empty_area=False) if names else []
    except CalamineError as error:
        raise _not_a_workbook() from error
    rows: list[Row] = []
    length = 0
    for number, values in enumerate(cells, start=1):
        texts = [_typed(value) for value in values]
        length += sum(map(len, texts))
        if any(texts):
            rows.append(Row(number, texts))
        if length > most or len(rows) > MOST_IMPORTED + 1:
            raise UnreadableFile(too_large(most))
    return rows


def _repacked(raw: bytes) -> io.BytesIO:
    """An archive of the parts that hold cells, with what they really contain. Raises UnreadableFile beyond a bound.

    The sizes that an archive declares may be false, so its parts are expanded here, no further than the bound; the
    reader, which has none, gets them uncompressed.
    """
    parts: dict[str, bytes] = {}
    left = _MOST_EXPANDED
    try:
        with ZipFile(io.BytesIO(raw)) as given:
            found = [part for part in given.infolist() if part.filename.endswith((".xml", ".rels"))]
            if len(found) > _MOST_PARTS or sum(part.file_size for part in found) > left:
                raise _expands_too_far()
            for part in found:
                if part.compress_type not in {ZIP_STORED, ZIP_DEFLATED}:  # the others expand without a bound
                    raise _not_a_workbook()
                with given.open(part) as content:
                    parts[part.filename] = content.read(left + 1)
                left -= len(parts[part.filename])
                if left < 0:
                    raise _expands_too_far()
    except (BadZipFile, zlib.error, struct.error, EOFError, OSError, RuntimeError, ValueError) as error:
        raise _not_a_workbook() from error
    _check_cells(parts)
    repacked = io.BytesIO()
    with ZipFile(repacked, "w", ZIP_STORED) as archive:
        for name, content_of_part in parts.items():
            archive.writestr(name, content_of_part)
    repacked.seek(0)
    return repacked


def _check_cells(parts: dict[str, bytes]) -> None:
    """Raise UnreadableFile if the cells would need far more memory than their parts have bytes."""
    ends = (_END_OF_SHARED_TEXT.split(content) for name, content in parts.items() if "sharedstrings" in name.lower())
    longest = max((len(text) for texts in ends for text in texts), default=0)
    for content in parts.values():
        elements = content.count(b"</") + content.count(b"/>")
        rows = columns = 1
        for found in _REFERENCE.finditer(content):
            letters, digits = found.groups()
            if len(letters) > _MOST_LETTERS or len(digits) > _MOST_DIGITS:
                raise _not_a_workbook()
            rows, columns = max(rows, int(digits or 1)), max(columns, _column(letters))
        if rows * columns > _MOST_AREA or elements * longest > _MOST_TEXT:
            raise _expands_too_far()


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - ord("A") + 1
    return number


def _not_a_workbook() -> UnreadableFile:
    return UnreadableFile(_("The file is no XLSX workbook that can be read. Save it as XLSX or CSV again."))


def _expands_too_far() -> UnreadableFile:
    return UnreadableFile(_("The workbook is too large inside. Copy the table alone into a new one and save that."))


def _typed(value: Any) -> str:
    """A cell as a person would type it: dates as 2026-11-28; numbers without an exponent, unless digits are lost."""
    match value:
        case bool():
            return "1" if value else "0"
        case datetime():
            return value.isoformat(" ", "seconds").removesuffix(" 00:00:00")
        case int() | float():
            number = Decimal(f"{value:.{_MOST_SIGNIFICANT}g}")
            if not number.is_finite() or number.adjusted() >= _MOST_SIGNIFICANT:
                return f"{value:E}"
            return str(int(number)) if number == number.to_integral_value() else f"{number:f}"
    return str(value).strip()
