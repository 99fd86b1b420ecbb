"""Tables as files for people and programs: what is written, read, and refused."""

import io
import re
import struct
import time
import tracemalloc
from datetime import UTC, date, datetime
from decimal import Decimal
from operator import itemgetter
from uuid import UUID
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZipFile

import pytest
from django.test import RequestFactory
from django.utils import translation
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from python_calamine import CalamineWorkbook
from xlsxwriter import Workbook

from common.files import table_files, workbooks
from common.files.csv_files import MOST_IMPORTED, UnreadableFile
from common.files.table_files import read
from tests.cases import in_turn
from tests.common.workbooks import SHEET, archived, parts, workbook


@pytest.fixture(autouse=True)
def _english():
    with translation.override("en"):
        yield


def written(row, **options):
    """The parts of a workbook with this row."""
    columns = [(f"Column {number}", itemgetter(number)) for number in range(len(row))]
    request = RequestFactory().get("/", {"format": "xlsx"})
    response = table_files.response(request, "list", columns=columns, rows=[row], **options)
    assert response["Content-Disposition"] == 'attachment; filename="list.xlsx"'
    return b"".join(response)


class TestWorkbook:
    def test_has_identifiers_in_text_cells(self):
        key = "3526" * 11
        raw = written([key, "000123456789", "01310-100", UUID(int=7), "1E5", "=1+1", "http://x.com"])

        sheet = parts(raw)[SHEET].decode()
        assert re.findall(r'<c r="[A-Z]2"[^>]* t="(\w+)"', sheet) == ["inlineStr"] * 7
        assert "<f>" not in sheet
        assert [row.cells for row in read(raw)][1] == [
            key, "000123456789", "01310-100", str(UUID(int=7)), "1E5", "=1+1", "http://x.com",
        ]  # fmt: skip  # a row

    def test_has_numbers_dates_and_moments_as_such(self):
        at = datetime(2026, 11, 22, 10, 28, 5, tzinfo=UTC)
        raw = written([Decimal("44.90"), 3, None, date(2026, 11, 28), at, Decimal("12345678901234567.05")])

        book = CalamineWorkbook.from_filelike(workbooks._repacked(raw))
        (row,) = book.get_sheet_by_index(0).to_python()[1:]
        assert row == [
            44.9, 3, "", date(2026, 11, 28), datetime.fromisoformat("2026-11-22T07:28:05"), "12345678901234567.05",
        ]  # fmt: skip  # a row

    def test_keeps_the_beginning_of_a_text_that_no_cell_can_hold(self):
        assert "a" * 32_766 + "…" in parts(written(["a" * 40_000]))[SHEET].decode()

    def test_ends_at_the_bound_and_says_so(self):
        request = RequestFactory().get("/", {"format": "xlsx"})
        rows = ([number] for number in range(10))

        raw = b"".join(table_files.response(request, "list", columns=[("a", itemgetter(0))], rows=rows, most=3))

        cells = [row.cells[0] for row in read(raw)]
        assert cells[:4] == ["a", "0", "1", "2"]
        assert cells[4].startswith("Only the first 3 rows")
        assert next(rows) == [4]

    def test_is_written_in_little_memory(self):
        request = RequestFactory().get("/", {"format": "xlsx"})
        rows = ([f"a text of row {number}"] * 10 for number in range(2_000))
        columns = [("a", itemgetter(number)) for number in range(10)]
        tracemalloc.start()

        b"".join(table_files.response(request, "list", columns=columns, rows=rows))

        assert tracemalloc.get_traced_memory()[1] < 2_500_000
        tracemalloc.stop()


# Of what a cell may have been made, by a person or by a spreadsheet.
_SIGNS = st.sampled_from([*"aé1=+-@;,'\"\t\n. ", "\xa0", "\uff1d", "\uff20"])
TEXTS = st.text(_SIGNS | st.characters(codec="utf-8"), max_size=20).map(str.strip)


class TestOwnFile:
    @settings(max_examples=50)
    @given(st.tuples(TEXTS, TEXTS, TEXTS), st.sampled_from(["csv", "xlsx"]), st.sampled_from(["en", "pt-br"]))
    @example(("+55 11 97777-0001", "=1+1", "a;=1"), "csv", "pt-br")
    @example(("-12", "Rua A, -12", "D'Ávila"), "csv", "en")
    @example(("@sum", "\uff1d1", "a\t+b"), "xlsx", "en")
    def test_is_read_as_what_was_written(self, texts, form, language):
        # An apostrophe before a text, and `="…"` around it, are typed by people to the same end as we write them.
        assume(not any(text.startswith(("'", '="')) for text in texts))
        assume(any(texts))
        assume(all(clean(text) == text for text in texts))
        columns = [(f"Column {number}", itemgetter(number)) for number in range(3)]
        request = RequestFactory().get("/", {"format": form})

        with translation.override(language):
            raw = b"".join(table_files.response(request, "list", columns=columns, rows=[texts]))

        assert read(raw)[1].cells == list(texts)


def clean(text):
    """As both files can hold it: without control characters, and with the ends of lines of Unix."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]", "", text)


class TestRead:
    def test_takes_cells_of_a_workbook_as_people_type_them(self):
        moment, midnight = (datetime.fromisoformat(f"2026-11-28T{time}") for time in ("14:30", "00:00"))
        raw = workbook([list("abcdefg"), ["0123", 44.9, 5511980000000, moment, midnight, True, 3.52e43]])

        assert [row.cells for row in read(raw)][1] == [
            "0123", "44.9", "5511980000000", "2026-11-28 14:30:00", "2026-11-28", "1", "3.520000E+43",
        ]  # fmt: skip  # a row

    @pytest.mark.parametrize(
        ("number", "text"), [(b"1e999", "INF"), (b"-1e-7", "-0.0000001"), (b"1e14", "1" + "0" * 14)]
    )
    def test_takes_every_number(self, number, text):
        assert read(with_cells(b"<c><v>1</v></c></row><row><c><v>", number, b"</v></c>"))[1].cells == [text]

    def test_takes_the_first_sheet_that_is_visible(self):
        file = io.BytesIO()
        with Workbook(file) as book:
            hidden, first, second = (book.add_worksheet() for _number in range(3))
            for sheet, text in ((hidden, "hidden"), (first, "first"), (second, "second")):
                sheet.write_column(0, 0, ["Name", text])
            first.activate()
            hidden.hide()

        assert read(file.getvalue())[1].cells == ["first"]

    def test_takes_as_many_columns_and_characters_as_allowed(self):
        heading, row = read(f"{';'.join(map(str, range(100)))}\n{'x' * 5_000};2\n".encode())

        assert (len(heading.cells), len(row.cells[0]), row.cells[1:3]) == (100, 5_000, ["2", ""])

    def test_counts_lines_as_the_spreadsheet_does(self):
        rows = read(workbook([[], ["a", "b"], [], ["1", ""], ["", "2"]]))

        assert [(row.number, row.cells) for row in rows] == [(2, ["a", "b"]), (4, ["1", ""]), (5, ["", "2"])]

    @pytest.mark.parametrize("text", ["a;;b;;\n1;;2;;\n", "sep=;\na;;b\n1;;2\n", '"sep=,"\na,,b\n1,,2\n'])
    def test_leaves_out_columns_without_heading_and_content(self, text):
        assert [row.cells for row in read(text.encode())] == [["a", "b"], ["1", "2"]]

    @pytest.mark.parametrize(
        ("raw", "told"),
        [
            (b"a;;b\n1;;2\n1;x;2\n", "Line 3: column B has 'x' and no heading."),
            (b"a;b\n1;" + b"x" * 5_001, "Line 2, b: more than 5000 characters."),
            (";".join(map(str, range(101))).encode() + b"\n1", "At most 100 columns."),
            (b"a;b\n", "The file has no rows below its headings."),
            (b"\xd0\xcf\x11\xe0 and so on", "This workbook is old or has a password."),
            (b"PK\x03\x04 and so on", "The file is no XLSX workbook"),
            (archived({"mimetype": b"application/vnd.oasis.opendocument.spreadsheet"}), "The file is no XLSX"),
        ],
        ids=["content", "long cell", "columns", "rows", "old", "cut", "other archive"],
    )
    def test_says_what_is_wrong_and_where(self, raw, told):
        with pytest.raises(UnreadableFile, match=re.escape(told)):
            read(raw)

    def test_refuses_more_rows_than_allowed(self):
        with pytest.raises(UnreadableFile, match="At most 500 rows"):
            read(workbook([["a"]] * (MOST_IMPORTED + 2)))

        assert len(read(workbook([["a"]] * (MOST_IMPORTED + 1)))) == MOST_IMPORTED + 1


class TestLargestWorkbook:
    @pytest.mark.parametrize("cell", [b'r=""', b"<c/>", b'<c r="A1"/>', b"</a ", b"</si ", b"<a>", b"r "])
    def test_is_read_in_a_second(self, cell):
        raw = with_cells(cell * (4_900_000 // len(cell)))
        began = time.process_time()

        with pytest.raises(UnreadableFile):
            read(raw)

        assert time.process_time() - began < 4


def with_cells(*cells):
    start = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row>'
    return archived(
        parts(workbook([["a"], ["1"]])) | {SHEET: start + b"".join(cells) + b"</row></sheetData></worksheet>"}
    )


class TestBomb:
    @pytest.mark.parametrize(
        ("more", "compression"),
        [({f"xl/{number}.xml": b"<a/>" for number in range(200)}, ZIP_DEFLATED), ({}, ZIP_BZIP2), ({}, ZIP_LZMA)],
        ids=["many parts", "bzip2", "lzma"],
    )
    def test_is_not_opened_if_it_has_many_parts_or_expands_in_another_way(self, more, compression):
        file = io.BytesIO()
        with ZipFile(file, "w", compression) as archive:
            for name, text in {**parts(workbook([["a"], ["1"]])), **more}.items():
                archive.writestr(name, text)

        with pytest.raises(UnreadableFile):
            read(file.getvalue())

    def test_is_refused_by_its_declared_size(self, monkeypatch):
        raw = archived(parts(workbook([["a"], ["1"]])) | {"xl/more.xml": b"0" * 50_000_000})
        assert len(raw) < 100_000
        monkeypatch.setattr("zipfile.ZipFile.open", None)  # nothing is expanded

        with pytest.raises(UnreadableFile, match="too large inside"):
            read(raw)

    def test_with_a_false_size_is_expanded_no_further_than_that(self):
        """Both sizes of the part that expands to 50 MB are made 1,000."""
        raw = archived(parts(workbook([["a"], ["1"]])) | {"xl/more.xml": b"0" * 50_000_000})
        false = raw.replace(struct.pack("<I", 50_000_000), struct.pack("<I", 1_000))
        assert false != raw
        tracemalloc.start()

        with pytest.raises(UnreadableFile):
            read(false)

        assert tracemalloc.get_traced_memory()[1] < 30_000_000
        tracemalloc.stop()

    @pytest.mark.parametrize(
        "reference", [b'r="XFD1048576"', b"r = 'XFD1048576'", b'r="AAAAAAA1"', b'r="A99999999999"']
    )
    def test_of_one_cell_far_outside_is_refused_before_it_is_read(self, reference, monkeypatch):
        monkeypatch.setattr(workbooks, "CalamineWorkbook", None)

        with pytest.raises(UnreadableFile):
            read(with_cells(b'<c r="A1"><v>1</v></c><c ', reference, b"><v>1</v></c>"))

    def test_of_one_long_text_in_many_cells_is_refused_before_it_is_read(self, monkeypatch):
        monkeypatch.setattr(workbooks, "CalamineWorkbook", None)
        long = b"<sst><si><t>" + b"x" * 900_000 + b"</t></si></sst>"
        found = parts(with_cells(*[b'<c t="s"><v>0</v></c>' * 1_000]))

        with pytest.raises(UnreadableFile, match="too large inside"):
            read(archived(found | {"xl/sharedStrings.xml": long}))

    @pytest.mark.parametrize("size", [0, 10, 100, 500, 1_000, 2_000, 3_000])
    def test_and_what_is_cut_off_is_refused_in_words(self, size):
        raw = workbook([["a", "b"], ["1", "2"]])

        with pytest.raises(UnreadableFile):
            read(raw[:size] if size else b"PK\x03\x04")

    @in_turn("part", ["xl/workbook.xml", SHEET, "xl/_rels/workbook.xml.rels"])
    @in_turn("content", [b"", b"<", b"\xff\xfe", b'<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>'])
    def test_or_a_part_that_is_no_xml_is_refused_in_words(self, part, content):
        with pytest.raises(UnreadableFile):
            read(archived(parts(workbook([["a"], ["1"]])) | {part: content}))


class TestDateAlone:
    @pytest.mark.parametrize("text", ["28/11/2026", " 2026-11-28 ", "28.11.2026", "28-11-2026", "28/11/26"])
    def test_is_a_day_as_people_and_spreadsheets_write_it(self, text):
        assert table_files.date_alone(text) == date(2026, 11, 28)

    @pytest.mark.parametrize("text", ["", "tomorrow", "28/11/2026 14:30", "31/02/2026", "28/11/2026" + "0" * 5000])
    def test_is_none_for_another_text(self, text):
        assert table_files.date_alone(text) is None


def test_a_column_without_a_heading_is_named_as_spreadsheets_do():
    with pytest.raises(UnreadableFile, match="Line 2: column AA has '1' and no heading"):
        read((";" * 26 + ";b\n" + ";" * 26 + "1;2").encode())
