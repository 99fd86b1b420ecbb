"""Tables as files: for people's spreadsheets as XLSX, for programs as CSV. Both are written and read here."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest, StreamingHttpResponse
from django.utils.translation import gettext as _
from xlsxwriter.utility import xl_col_to_name

from common import columns
from common.brazil import zones
from common.brazil.formats import moment
from common.files import csv_files, workbooks
from common.files.csv_files import LONGEST_CELL, Cell, Row, UnreadableFile


@dataclass(frozen=True)
class OfMoments:
    """The heading of a column of moments. In a workbook, which people read away from the page, it names their zone."""

    text: Any

    def __str__(self) -> str:
        return f"{self.text} ({zones.called()})"


# A heading, and what gives the cell of a row.
Column = tuple[Any, Callable[[Any], Cell]]
MOST_BYTES = workbooks.MOST_BYTES  # of a file of either kind
ACCEPTED = f".xlsx,.csv,text/csv,text/plain,{workbooks.CONTENT_TYPE}"
_MOST_COLUMNS = 100
_SHOWN = 40
_DAY = forms.DateField(input_formats=["%d/%m/%Y", "%Y-%m-%d", "%d.%m.%Y", "%d-%m-%Y", "%d/%m/%y"])


def of_rows(shown: Iterable[columns.Column]) -> list[Column]:
    """Those of a kind of row that stand in files."""
    return [(_heading_of(column), column.value) for column in columns.shown(shown, columns.FILE)]


def _heading_of(column: columns.Column) -> Any:
    heading = column.heading or column.label
    return OfMoments(heading) if column.write is moment else heading


def response(
    request: HttpRequest, name: str, *, columns: Sequence[Column], rows: Iterable[Any], most: int | None = None
) -> StreamingHttpResponse:
    """A download, as XLSX if the address has `format=xlsx`, else as CSV. See `csv_files.response`.

    A row that is a text is a note.
    """
    cells = ([row] if isinstance(row, str) else [get(row) for _heading, get in columns] for row in rows)
    headings = [heading for heading, _get in columns]
    if request.GET.get("format") == "xlsx":
        return workbooks.response(name, header=headings, rows=cells, most=most)
    plain = [heading.text if isinstance(heading, OfMoments) else heading for heading in headings]
    return csv_files.response(name, header=plain, rows=cells, most=most)


def read(raw: bytes, *, most: int = csv_files.MOST_BYTES) -> list[Row]:
    """The headings and at least one row of a CSV file or a workbook, without blank ones and with cells stripped.

    Undone is what keeps a spreadsheet from reading a formula or a number, as our own files have it: an apostrophe
    before a text, and `="…"`. Columns without heading and content are left out. `most`: bytes of a CSV file, and
    characters of a workbook's cells. Raises UnreadableFile.
    """
    if workbooks.is_workbook(raw):
        rows = workbooks.read(raw, most=most)
    else:
        rows = csv_files.read(csv_files.decoded(raw, most=most), most=most)
    if len(rows) < 2:  # noqa: PLR2004  # a heading and a row
        raise UnreadableFile(_("The file has no rows below its headings."))
    return _with_headings([Row(row.number, [csv_files.plain(cell) for cell in row.cells]) for row in rows])


def date_alone(text: str) -> date | None:
    """The day that a text without a time names, as people and spreadsheets write it; else None."""
    try:
        return _DAY.to_python(text)
    except ValidationError:
        return None


def _with_headings(rows: list[Row]) -> list[Row]:
    """Without the columns that have neither a heading nor content. Raises UnreadableFile for content without one."""
    headings, *others = rows
    named = len(headings.cells)
    while named and not headings.cells[named - 1]:
        named -= 1
    if named > _MOST_COLUMNS:
        raise UnreadableFile(_("At most %(most)s columns.") % {"most": _MOST_COLUMNS})
    used = [number for number, heading in enumerate(headings.cells[:named]) if heading or _has(others, number)]
    kept = [Row(headings.number, [headings.cells[number] for number in used])]
    for row in others:
        padded = [*row.cells, *[""] * (named - len(row.cells))]
        beyond = padded[named:]
        while beyond and not beyond[-1]:
            beyond.pop()
        kept.append(Row(row.number, [*(padded[number] for number in used), *beyond]))
        for number, cell in enumerate(row.cells):
            if len(cell) > LONGEST_CELL:
                detail = {"line": row.number, "column": _heading(headings, number), "most": LONGEST_CELL}
                raise UnreadableFile(_("Line %(line)s, %(column)s: more than %(most)s characters.") % detail)
    for number, heading in enumerate(headings.cells[:named]):
        if not heading and (line := _has(others, number)):
            detail = {"line": line.number, "column": xl_col_to_name(number), "text": line.cells[number][:_SHOWN]}
            raise UnreadableFile(_("Line %(line)s: column %(column)s has '%(text)s' and no heading.") % detail)
    return kept


def _has(rows: list[Row], number: int) -> Row | None:
    """The first row with content in a column."""
    return next((row for row in rows if number < len(row.cells) and row.cells[number]), None)


def _heading(headings: Row, number: int) -> str:
    return (headings.cells[number] if number < len(headings.cells) else "") or xl_col_to_name(number)
