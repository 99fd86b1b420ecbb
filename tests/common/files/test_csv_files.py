"""CSV files as spreadsheets read and write them."""

import csv
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from django.utils import translation
from django.utils.translation import gettext_lazy

from common.files import csv_files
from common.files.csv_files import MOST_BYTES, MOST_IMPORTED, UnreadableFile, decoded, read
from tests.cases import in_turn


@pytest.fixture(autouse=True)
def _english():
    with translation.override("en"):
        yield


class TestDecoded:
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "windows-1252"])
    def test_reads_the_encodings_of_spreadsheets(self, encoding):
        assert decoded("região;até 1 kg\n".encode(encoding)) == "região;até 1 kg\n"

    @pytest.mark.parametrize(
        "raw", ["região".encode("utf-16"), b"a\0b", b"regi\x81o"], ids=["utf-16", "nul", "neither"]
    )
    def test_refuses_other_encodings(self, raw):
        with pytest.raises(UnreadableFile, match="not a text in UTF-8 or Windows-1252"):
            decoded(raw)

    def test_refuses_more_bytes_than_allowed(self):
        with pytest.raises(UnreadableFile, match="At most 500 rows and 100 kB"):
            decoded(b"x" * (MOST_BYTES + 1))

        assert len(decoded(b"x" * MOST_BYTES)) == MOST_BYTES


class TestRead:
    @pytest.mark.parametrize(
        "text",
        ["a;b\n1,5;2\n", 'a,b\n"1,5",2\n', 'a;b\r\n"1,5";2\r\n', "a;b\r1,5;2\r", "a;b\n1,5;2", "a\tb\n1,5\t2"],
    )
    def test_takes_every_separator_and_every_end_of_line(self, text):
        assert [row.cells for row in read(text)] == [["a", "b"], ["1,5", "2"]]

    def test_takes_no_separator_from_within_quotation_marks(self):
        assert [row.cells for row in read('"a; b; c",d\n1,2\n')] == [["a; b; c", "d"], ["1", "2"]]

    def test_numbers_lines_as_a_spreadsheet_does(self):
        rows = read('a;b\n\n"two\nlines";1\n;;\nx;2\n')

        assert [(row.number, row.cells) for row in rows] == [
            (1, ["a", "b"]),
            (3, ["two\nlines", "1"]),
            (5, ["x", "2"]),
        ]

    @pytest.mark.parametrize(("text", "line"), [('a;b\n"1;2\n3;4\n', 3), ('a;b\n"1"2;3\n', 2)])
    def test_refuses_quotes_that_do_not_match(self, text, line):
        with pytest.raises(UnreadableFile, match=f"Line {line}: the quotation marks do not match"):
            read(text)

    @pytest.mark.parametrize(
        "text", ["a\n" * (MOST_IMPORTED + 2), "\n" * 50_000, "\r" * 50_000], ids=["rows", "LF", "CR"]
    )
    def test_refuses_more_lines_than_allowed(self, text):
        with pytest.raises(UnreadableFile, match="At most 500 rows"):
            read(text)

    def test_takes_as_many_lines_as_allowed(self):
        assert len(read("a\n" * (MOST_IMPORTED + 1))) == MOST_IMPORTED + 1


def written(rows, *, language="en", header=("a",)):
    """The file as text."""
    with translation.override(language):
        response = csv_files.response("list", header=header, rows=rows)
    with translation.override("en"):  # the request has ended when the file is written
        return b"".join(response).decode()


class TestResponse:
    def test_is_a_download_with_a_byte_order_mark(self):
        response = csv_files.response("orders", header=["a"], rows=[])

        assert response["Content-Disposition"] == 'attachment; filename="orders.csv"'
        assert response["Content-Type"] == "text/csv; charset=utf-8"
        assert b"".join(response).startswith(b"\xef\xbb\xbf")

    @pytest.mark.parametrize(("language", "line"), [
        ("pt-br", '"São Bento";"44,90";"3";"-2";"";"2026-11-22 07:28:05"\r\n'),
        ("en", '"São Bento","44.90","3","-2","","2026-11-22 07:28:05"\r\n'),
    ])  # fmt: skip  # a table
    def test_is_written_as_excel_of_the_language_reads_it(self, language, line):
        row = ["São Bento", Decimal("44.90"), 3, -2, None, datetime(2026, 11, 22, 10, 28, 5, tzinfo=UTC)]

        assert written([row], language=language).splitlines(keepends=True)[1] == line

    def test_keeps_every_digit_of_an_amount(self):
        amounts = [Decimal("1234567890123456.05"), Decimal("5.10"), Decimal("0.00")]

        assert [line.strip('"') for line in written([[each] for each in amounts]).splitlines()[1:]] == [
            *map(str, amounts)
        ]

    def test_translates_when_the_request_has_ended(self):
        assert '"Entrega"' in written([], language="pt-br", header=[gettext_lazy("Delivery")])

    def test_ends_at_the_bound_and_says_so(self, monkeypatch):
        monkeypatch.setattr(csv_files, "MOST_EXPORTED", 3)

        rows = ([number] for number in range(10))

        assert written([[1], [2], [3]]).splitlines()[1:] == ['"1"', '"2"', '"3"']
        lines = written(rows).splitlines()
        assert lines[1:4] == ['"0"', '"1"', '"2"']
        assert lines[4].startswith('"Only the first 3 rows')
        assert next(rows) == [4]  # no more are read than it needs

    def test_is_written_in_parts(self):
        rows = ([number] for number in range(1000))

        parts = iter(csv_files.response("list", header=["a"], rows=rows))
        next(parts)

        assert next(rows)[0] < 300  # 200 lines, the first of them the header


class TestFormulas:
    @in_turn("text", [
        "=1+1", "+55 11 3333-0000", "-1", "@SUM(A1)", '"=1', "\t=1", "\r=1", "\n=1", " =1", "\xa0=1",
        "＝1+1", "＋1", "－1", "＠A1",
    ])  # fmt: skip  # a table
    def test_are_neutralised_at_the_beginning(self, text):
        assert csv_files.neutralised(text).startswith("'")
        assert csv_files.neutralised(text).replace("'", "") == text

    @pytest.mark.parametrize(("typed", "text"), [("'0123", "0123"), ("D'Ávila", "D'Ávila"), ("a,'b", "a,'b")])
    def test_lose_an_apostrophe_at_the_beginning_only(self, typed, text):
        assert csv_files.restored(typed) == text

    @pytest.mark.parametrize("separator", [",", ";", "\t", "\n"])
    def test_are_neutralised_where_another_separator_would_cut_the_text(self, separator):
        assert csv_files.neutralised(f"a{separator}=1+1") == f"a{separator}'=1+1"

    @pytest.mark.parametrize("text", ["", "Rua A, 12", "a=b", "a@b.com", "x - y", "order-1", "3/4", "D'Ávila"])
    def test_are_not_seen_in_ordinary_text(self, text):
        assert csv_files.neutralised(text) == text

    @in_turn("cell", ['";=1', '",=1', 'a"\r\n"=1', '"";=HYPERLINK("http://x")'])
    @in_turn("delimiter", [",", ";", "\t"])
    @in_turn("language", ["pt-br", "en"])
    def test_begin_no_cell_whatever_separator_the_reader_takes(self, cell, delimiter, language):
        text = written([["a", cell, "b"]], language=language).removeprefix("\ufeff")

        cells = [found for row in csv.reader(text.splitlines(), delimiter=delimiter) for found in row]

        assert not [found for found in cells if found.lstrip().startswith(("=", "+", "-", "@"))]
