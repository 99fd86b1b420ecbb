import pytest
from django.utils import translation

from common.csv_files import MOST_BYTES, MOST_IMPORTED, UnreadableFile, decoded, read


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

    def test_refuses_a_workbook_by_name(self):
        with pytest.raises(UnreadableFile, match="workbook"):
            decoded(b"PK\x03\x04 and so on")

    def test_refuses_more_bytes_than_allowed(self):
        with pytest.raises(UnreadableFile, match="At most 500 rows and 100 kB"):
            decoded(b"x" * (MOST_BYTES + 1))


class TestRead:
    @pytest.mark.parametrize(
        "text", ["a;b\n1,5;2\n", 'a,b\n"1,5",2\n', 'a;b\r\n"1,5";2\r\n', "a;b\r1,5;2\r", "a;b\n1,5;2"]
    )
    def test_takes_both_separators_and_every_end_of_line(self, text):
        assert [row.cells for row in read(text)] == [["a", "b"], ["1,5", "2"]]

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
