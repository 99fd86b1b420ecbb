"""Reading CSV files as spreadsheets write them: bytes to text to rows, within limits of size."""

import csv
import io
import unicodedata
from typing import Any, NamedTuple

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext as _

from common.folded import folded

MOST_IMPORTED = 500
MOST_BYTES = 100_000
_WORKBOOK = b"PK\x03\x04"  # a ZIP archive, such as .xlsx and .ods
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


class UnreadableFile(Exception):
    """The file as a whole cannot be read. `str` says why, in the reader's language."""


class Row(NamedTuple):
    """One record. `number` counts from 1 as spreadsheets do: blank lines count, lines within quotes do not."""

    number: int
    cells: list[str]


def check_size(size: int) -> None:
    """Raise UnreadableFile over MOST_BYTES. For a caller that knows the size before it has the content."""
    if size > MOST_BYTES:
        raise UnreadableFile(too_large())


def decoded(raw: bytes) -> str:
    """The file's text: UTF-8, with or without a byte order mark, or else Windows-1252. Raises UnreadableFile."""
    check_size(len(raw))
    if raw.startswith(_WORKBOOK):
        raise UnreadableFile(_("This is a workbook. In the spreadsheet, save it as CSV."))
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


def read(text: str) -> list[Row]:
    """The headings and at least one row, without blank ones and with cells stripped. Lines are counted before parsing.

    The separator is a semicolon or a comma, whichever the first line has more of. Raises UnreadableFile.
    """
    if len(text) > MOST_BYTES or max(text.count("\n"), text.count("\r")) > MOST_IMPORTED + 1:
        raise UnreadableFile(too_large())
    first_line = text.lstrip().partition("\n")[0]
    separator = ";" if first_line.count(";") >= first_line.count(",") else ","
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
    if len(rows) < 2:  # noqa: PLR2004  # a heading and a row
        raise UnreadableFile(_("The file has no rows below its headings."))
    return rows


def too_large() -> str:
    limits = {"rows": MOST_IMPORTED, "kilobytes": MOST_BYTES // 1000}
    return _("At most %(rows)s rows and %(kilobytes)s kB at once.") % limits


def _wrong_encoding() -> str:
    return _("The file is not a text in UTF-8 or Windows-1252. Save it as “CSV UTF-8”.")


def comparable(text: str) -> str:
    """Without accents, case and repeated spaces. Some computers write a letter and its accent as two characters."""
    return " ".join(folded(unicodedata.normalize("NFC", text)).split())


def in_every_language(text: Any) -> set[str]:
    """A translated text in comparable form, in each language of the site."""
    found = set()
    for language, _name in settings.LANGUAGES:
        with translation.override(language):
            found.add(comparable(str(text)))
    return found
