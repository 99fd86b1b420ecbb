from decimal import Decimal

import pytest
from django.core.exceptions import ValidationError
from django.utils import translation
from hypothesis import example, given
from hypothesis import strategies as st

from common.admin.tabular_import import ChoiceWidget, FormFieldWidget
from common.measures import (
    BASIS_POINTS,
    CENTAVOS,
    GRAMS,
    NUMBER,
    PERCENT,
    REAIS,
    SHARE,
    MeasureField,
    NumberField,
    decimal,
    rise,
)
from tests.cases import in_turn


@pytest.fixture(autouse=True)
def _english():
    with translation.override("en"):
        yield


class TestDecimal:
    @in_turn(
        ("text", "number"),
        [
            ("44,90", "44.90"), ("44.90", "44.90"), ("44,9", "44.9"), ("44", "44"), ("R$ 44,90", "44.90"),
            ("R$\xa01.234,56", "1234.56"), ("1,234.56", "1234.56"), ("1.234.567", "1234567"), ("1,234,567", "1234567"),
            ("0,50", "0.50"), (",5", "0.5"), ("-3,20", "-3.20"), ("1 234,56", "1234.56"),
        ],
    )  # fmt: skip  # a table
    def test_reads_amounts_as_people_write_them(self, text, number):
        assert decimal(text, places=2) == Decimal(number)

    @in_turn(
        "text",
        [
            "abc", "=B2*2", "1,2,3", "1.2.3", "1.23,456.7", "12.34,5", "1e5", "--1", "1-", "٤٤", "NaN", "9" * 31, ".",
            "44,", "1.,2", "+5", "", "-",
        ],
    )  # fmt: skip  # a list
    def test_refuses_what_is_no_number(self, text):
        with pytest.raises(ValueError, match="is not a number"):
            decimal(text, places=2)

    @pytest.mark.parametrize("text", ["1.234", "1,234", "-12.345"])
    def test_does_not_guess_between_thousands_and_decimals(self, text):
        with pytest.raises(ValueError, match="can be read in two ways"):
            decimal(text, places=2)

    def test_takes_three_decimals_where_there_may_be_three(self):
        assert [decimal(text, places=3) for text in ("0,500", "1.000")] == [Decimal("0.5"), Decimal(1)]

    @pytest.mark.parametrize(("text", "places"), [("0,123", 2), ("1,2345", 2), ("1,5", 0)])
    def test_refuses_more_places_than_allowed(self, text, places):
        with pytest.raises(ValueError, match=f"more than {places} decimal places"):
            decimal(text, places=places)

    def test_cuts_a_long_cell_in_its_message(self):
        with pytest.raises(ValueError, match="x…' is not a number") as refused:
            decimal("x" * 5000, places=2)

        assert len(str(refused.value)) < 100


class TestTyped:
    """What a form that is shown again writes into its fields."""

    @pytest.mark.parametrize(
        ("text", "shown"),
        [("3,1", "3.10"), ("R$ 3", "3.00"), ("3.100,5", "3100.50"), ("", ""), ("x", "x"), ("-1", "-1")],
    )
    def test_is_written_as_the_unit_is(self, text, shown):
        assert MeasureField(unit=CENTAVOS, required=False).prepare_value(text) == (shown or None)

    @pytest.mark.parametrize(
        ("initial", "typed", "has_changed"),
        [
            (310, "3,1", False), (310, "R$ 3.10", False), (310, "3.11", True), (310, "", True), (310, "x", True),
            (None, "", False), (None, "0", True), (0, "0,00", False),
        ],
    )  # fmt: skip  # a table
    def test_is_a_change_if_it_is_another_figure(self, initial, typed, has_changed):
        assert MeasureField(unit=CENTAVOS, required=False).has_changed(initial, typed) is has_changed

    @pytest.mark.parametrize(
        ("text", "is_taken"), [("1", True), ("10", True), ("0.99", False), ("10.01", False), ("0", False)]
    )
    def test_is_within_its_limits_which_are_allowed(self, text, is_taken):
        field = NumberField(places=2, smallest=1, largest=10)

        try:
            taken = field.clean(text) == Decimal(text)
        except ValidationError:
            taken = False

        assert taken is is_taken


@pytest.mark.parametrize(
    ("unit", "value", "english", "portuguese"),
    [
        (CENTAVOS, 123450, "R$ 1,234.50", "R$ 1.234,50"),
        (REAIS, Decimal(1234), "R$ 1,234.00", "R$ 1.234,00"),
        (GRAMS, 1_030_500, "1,030.5 kg", "1.030,5 kg"),
        (GRAMS, 30_000, "30 kg", "30 kg"),
        (BASIS_POINTS, 100, "1%", "1%"),
        (BASIS_POINTS, 1250, "12.5%", "12,5%"),
        (PERCENT, Decimal("100.00"), "100%", "100%"),
        (SHARE, Decimal("0.500"), "0.5", "0,5"),
        (NUMBER, 1500, "1,500", "1.500"),
    ],
)
def test_a_figure_is_written_with_its_unit_in_the_notation_of_the_language(unit, value, english, portuguese):
    assert unit.write(value) == english
    with translation.override("pt-br"):
        assert unit.write(value) == portuguese


class TestCells:
    @given(st.integers(0, 10**8), st.sampled_from(["en", "pt-br"]))
    @example(115, "en")  # 1.15 x 100 = 114.99999999999999 as floats
    def test_of_amounts_keep_every_centavo(self, centavos, language):
        widget = FormFieldWidget(MeasureField(unit=CENTAVOS))

        with translation.override(language):
            assert widget.clean(widget.render(centavos)) == centavos

    def test_of_choices_take_value_and_label_in_any_case_and_without_accents(self):
        widget = ChoiceWidget([("mid", "Média"), ("far", "Far")])

        assert [widget.clean(text) for text in ("mid", "MEDIA", " média", "far", "")] == [
            "mid",
            "mid",
            "mid",
            "far",
            None,
        ]
        with pytest.raises(ValueError, match="'near' is none of: Média, Far"):
            widget.clean("near")


@pytest.mark.parametrize(
    ("old", "new", "percent"),
    [
        (1000, 1300, 30), (Decimal("10.00"), Decimal("9.00"), -10), (1000, 0, -100), (1000, 1000, 0),
        (0, 1000, None), (None, 1000, None), (1000, None, None), (None, None, None),
    ],
)  # fmt: skip  # a table
def test_a_price_falls_to_nothing_by_all_of_it_and_one_that_is_not_served_has_not_fallen(old, new, percent):
    assert rise(old, new) == percent
