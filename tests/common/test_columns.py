"""Columns of rows: what a file, a page and the admin show of them."""

from decimal import Decimal
from types import SimpleNamespace

from common.brazil.formats import money
from common.columns import ADMIN, FILE, Column, State, shown

ROW = SimpleNamespace(
    code="A-1", empty="", carrier=None, company=SimpleNamespace(name="Loja"), get_mode=lambda: "way", fee=Decimal(0)
)


class TestColumn:
    def test_has_the_value_of_an_attribute_of_a_related_row_or_of_a_function(self):
        columns = [Column("", get) for get in ("code", "company.name", "get_mode", lambda row: row.code.lower())]

        assert [column.value(ROW) for column in columns] == ["A-1", "Loja", "way", "a-1"]

    def test_has_none_where_there_is_no_related_row(self):
        assert Column("", "carrier.name").value(ROW) is None

    def test_writes_only_what_has_a_value(self):
        columns = [Column("", get, str.lower) for get in ("code", "empty", "carrier.name")]

        assert [column.text(ROW) for column in columns] == ["a-1", None, None]
        assert Column("", "fee", money).text(ROW) == "R$ 0.00"  # which is a value

    def test_stands_everywhere_unless_it_names_the_places(self):
        everywhere, in_file = Column("", "code"), Column("", "code", on=FILE)

        assert shown([everywhere, in_file], FILE) == [everywhere, in_file]
        assert shown([everywhere, in_file], ADMIN) == [everywhere]


def test_a_state_is_written_as_its_name():
    assert str(State("Waiting", "PENDING", "warn")) == "Waiting"
