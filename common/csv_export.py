"""Tables as CSV files for spreadsheets: bounded, written row by row, without cells that are taken for formulas.

Excel reads the separator from the language of the computer, so it follows the reader's language here: a semicolon with
a decimal comma in Portuguese, a comma with a decimal point in English. Both files are UTF-8 with a byte order mark,
without which Excel reads another encoding.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from itertools import islice
from typing import Any
from uuid import UUID

from django.http import StreamingHttpResponse
from django.utils import timezone, translation
from django.utils.functional import Promise
from django.utils.translation import gettext as _

# Rows of one file. The web server keeps a file in memory until it is sent, 2 to 5 MB with as many rows.
MOST_EXPORTED = 10_000
_LINES_OF_A_CHUNK = 200
_BYTE_ORDER_MARK = "\ufeff"
# Where a spreadsheet may see the beginning of a formula, in full-width characters too: where the text begins, and
# after a separator in it, because a computer whose separator is another one cuts the text there.
_FORMULA = re.compile(r'(?:^|(?<=[,;\t\r\n]))(?=[ \xa0"]*[=+\-@\uff1d\uff0b\uff0d\uff20])|^(?=[\t\r\n])')

Cell = str | int | float | Decimal | date | UUID | Promise | None


class _Echo:
    """A file whose `write` returns the text, which `writerow` returns in turn."""

    def write(self, text: str) -> str:
        return text


def response(
    name: str, *, header: Sequence[Cell], rows: Iterable[Sequence[Cell]], most: int | None = None
) -> StreamingHttpResponse:
    """A download of `<name>.csv`, in the reader's language. `name` is ASCII.

    At most `most` rows, MOST_EXPORTED unless given; when there are more, the last line of the file says so. `rows` are
    read while it is written, so they should come in portions, and bring along what they refer to.
    """
    language = translation.get_language() or "en"
    return StreamingHttpResponse(
        _chunks(language, header, rows, most or MOST_EXPORTED),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"', "Cache-Control": "no-store"},
    )


def neutralised(text: str) -> str:
    """The text with an apostrophe wherever a spreadsheet would see the beginning of a formula. Nothing is removed."""
    return _FORMULA.sub("'", text)


def _chunks(language: str, header: Sequence[Cell], rows: Iterable[Sequence[Cell]], most: int) -> Iterator[str]:
    """The file in parts. Each is made in the language of the request, which may have ended by then."""
    lines = _lines(language, header, rows, most)
    while True:
        with translation.override(language):
            chunk = "".join(islice(lines, _LINES_OF_A_CHUNK))
        if not chunk:
            return
        yield chunk


def _lines(language: str, header: Sequence[Cell], rows: Iterable[Sequence[Cell]], most: int) -> Iterator[str]:
    is_portuguese = language.startswith("pt")
    # Every cell is quoted, so that a separator in a text does not begin a new cell.
    writer: Any = csv.writer(_Echo(), delimiter=";" if is_portuguese else ",", quoting=csv.QUOTE_ALL)
    point = "," if is_portuguese else "."
    yield _BYTE_ORDER_MARK + writer.writerow([_text(cell, point) for cell in header])
    for number, row in enumerate(rows):
        if number == most:
            note = _("Only the first %(most)s rows are in this file. Filter the list to export the others.")
            yield writer.writerow([note % {"most": most}])
            return
        yield writer.writerow([_text(cell, point) for cell in row])


def _text(cell: Cell, point: str) -> str:
    """A cell as text. Numbers keep their sign: they cannot hold a formula."""
    if cell is None:
        return ""
    if isinstance(cell, datetime):
        return timezone.localtime(cell).strftime("%Y-%m-%d %H:%M:%S")  # read as a moment by Excel in every language
    if isinstance(cell, int | float | Decimal):
        return str(cell).replace(".", point)
    return neutralised(str(cell))
