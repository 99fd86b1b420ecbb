"""CSV files as spreadsheets read and write them.

Reading goes from bytes to text to rows, within limits of size. What is written is bounded, made row by row, and has no
cell that is taken for a formula. Excel reads the separator from the computer's language, so it follows the reader's
language: a semicolon with a decimal comma in Portuguese, a comma with a decimal point in English. Both files are UTF-8
with a byte order mark, without which Excel reads another encoding.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from itertools import islice
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.http import StreamingHttpResponse
from django.utils import timezone, translation
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from common.fields import folded

MOST_IMPORTED = 500
MOST_BYTES = 100_000
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
# Rows of one file. The web server keeps a file in memory until it is sent, 2 to 5 MB with as many rows.
MOST_EXPORTED = 10_000
LONGEST_CELL = 5_000  # that is read
_LINES_OF_A_CHUNK = 200
_BYTE_ORDER_MARK = "\ufeff"
# Where a spreadsheet may see the beginning of a formula, in full-width characters too: where the text begins, and
# after a separator in it, because a computer whose separator is another one cuts the text there. Apostrophes that stand
# where one would be put get another one, so that the text can be read back.
_FORMULA = re.compile(r"""(?:^|(?<=[,;\t\r\n]))(?='*[ \xa0"]*[=+\-@\uff1d\uff0b\uff0d\uff20])|^(?=[\t\r\n'])""")
_GUARD = re.compile(r"""(?:^|(?<=[,;\t\r\n]))'(?='*[ \xa0"]*[=+\-@\uff1d\uff0b\uff0d\uff20])|^'""")
# What has kept digits from a spreadsheet.
_AS_FORMULA = re.compile(r'="([^"]*)"')
_QUOTED = re.compile(r'"[^"]*"')
# A first line that tells Excel the separator.
_SEPARATOR = re.compile(r'"?sep=(.)"?[;,\t]{0,100}', re.IGNORECASE)
_LONGEST_SEPARATOR_LINE = 100
Cell = str | int | float | Decimal | date | UUID | Promise | None


class UnreadableFile(Exception):
    """The file as a whole cannot be read. `str` says why, in the reader's language."""


class Row(NamedTuple):
    """One record. `number` counts from 1 as spreadsheets do: blank lines count, lines within quotes do not."""

    number: int
    cells: list[str]


def check_size(size: int, *, most: int = MOST_BYTES) -> None:
    """Raise UnreadableFile over `most` bytes. For a caller that knows the size before it has the content."""
    if size > most:
        raise UnreadableFile(too_large(most))


def decoded(raw: bytes, *, most: int = MOST_BYTES) -> str:
    """The file's text: UTF-8, with or without a byte order mark, or else Windows-1252. Raises UnreadableFile."""
    check_size(len(raw), most=most)
    if raw.startswith(_UTF_16) or b"\0" in raw:
        raise UnreadableFile(_wrong_encoding())
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    try:
        return raw.decode("windows-1252")
    except UnicodeDecodeError as error:
        raise UnreadableFile(_wrong_encoding()) from error


def read(text: str, *, most: int = MOST_BYTES) -> list[Row]:
    """The rows, without blank ones and with cells stripped. Lines are counted before parsing.

    The separator is the one that a first line `sep=…` names, or else a semicolon, a comma or a tab, whichever the first
    line has most of outside quotation marks. Raises UnreadableFile.
    """
    text, separator = _separated(text)
    if len(text) > most or max(text.count("\n"), text.count("\r")) > MOST_IMPORTED + 1:
        raise UnreadableFile(too_large(most))
    records = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows = []
    try:
        for number, record in enumerate(records, start=1):
            cells = [cell.strip() for cell in record]
            if any(cells):
                rows.append(Row(number, cells))
    except csv.Error as error:
        message = _("Line %(line)s: the quotation marks do not match.") % {"line": records.line_num}
        raise UnreadableFile(message) from error
    if len(rows) > MOST_IMPORTED + 1:  # the last line needs no end
        raise UnreadableFile(too_large(most))
    return rows


def _separated(text: str) -> tuple[str, str]:
    """The text without a line that names the separator, which spreadsheets do not count, and the separator."""
    first_line, end, rest = text.lstrip().partition("\n")
    named = _SEPARATOR.fullmatch(first_line.strip(" \r")) if len(first_line) <= _LONGEST_SEPARATOR_LINE else None
    if named and end:
        return rest, named[1]
    return text, max(";,\t", key=_QUOTED.sub("", first_line).count)


def too_large(most: int = MOST_BYTES) -> str:
    limits = {"rows": MOST_IMPORTED, "kilobytes": most // 1000}
    return _("At most %(rows)s rows and %(kilobytes)s kB at once.") % limits


def _wrong_encoding() -> str:
    return _("The file is not a text in UTF-8 or Windows-1252. Save it as “CSV UTF-8”.")


def comparable(text: str) -> str:
    """Without accents, case and repeated spaces. Some computers write a letter and its accent as two characters."""
    return " ".join(folded(text).split())


def in_every_language(text: Any) -> set[str]:
    """A translated text in comparable form, in each language of the site."""
    found = set()
    for language, _name in settings.LANGUAGES:
        with translation.override(language):
            found.add(comparable(str(text)))
    return found


def restored(text: str) -> str:
    """The text without the apostrophes of `neutralised`, and without one at its beginning, as people type it."""
    return _GUARD.sub("", text)


def plain(cell: str) -> str:
    """A cell without what keeps a spreadsheet from reading a formula or a number, as our own files have it."""
    found = _AS_FORMULA.fullmatch(cell) if len(cell) <= LONGEST_CELL else None
    return restored(found[1] if found else cell).strip()


class _Echo:
    """A file whose `write` returns the text, which `writerow` returns in turn."""

    def write(self, text: str) -> str:
        return text


def response(
    name: str, *, header: Sequence[Cell], rows: Iterable[Sequence[Cell]], most: int | None = None
) -> StreamingHttpResponse:
    """A download of `<name>.csv`, in the reader's language. `name` is ASCII.

    At most `most` rows, MOST_EXPORTED unless given; when there are more, the last line of the file says so. `rows` are
    read while it is written, so they should come in portions, with their related objects.
    """
    language = translation.get_language() or "en"
    return StreamingHttpResponse(
        _chunks(language, header, bounded(rows, most)),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"', "Cache-Control": "no-store"},
    )


def neutralised(text: str) -> str:
    """The text with an apostrophe wherever a spreadsheet would see the beginning of a formula. `restored` undoes it."""
    return _FORMULA.sub("'", text)


def bounded(rows: Iterable[Sequence[Cell]], most: int | None) -> Iterator[Sequence[Cell]]:
    """The first `most` rows, MOST_EXPORTED unless given, and a note if there are more."""
    most = most or MOST_EXPORTED
    for number, row in enumerate(rows):
        if number == most:
            note = _("Only the first %(most)s rows are in this file. Filter the list to export the others.")
            yield [note % {"most": most}]
            return
        yield row


def _chunks(language: str, header: Sequence[Cell], rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """The file in parts. Each is made in the language of the request, which may have ended by then."""
    lines = _lines(language, header, rows)
    while True:
        with translation.override(language):
            chunk = "".join(islice(lines, _LINES_OF_A_CHUNK))
        if not chunk:
            return
        yield chunk


def _lines(language: str, header: Sequence[Cell], rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    is_portuguese = language.startswith("pt")
    # Every cell is quoted, so that a separator in a text does not begin a new cell.
    writer: Any = csv.writer(_Echo(), delimiter=";" if is_portuguese else ",", quoting=csv.QUOTE_ALL)
    point = "," if is_portuguese else "."
    yield _BYTE_ORDER_MARK + writer.writerow([_text(cell, point) for cell in header])
    for row in rows:
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
