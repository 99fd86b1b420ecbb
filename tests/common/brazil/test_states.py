from itertools import pairwise

import pytest

from common.brazil import states
from tests.cases import in_turn

# Places near the border of their state, or far from its middle.
PLACES = {
    "AC": (-9.97, -67.81), "AL": (-9.67, -35.74), "AM": (-3.12, -60.02), "AP": (0.03, -51.07),
    "BA": (-12.97, -38.50), "CE": (-3.73, -38.52), "DF": (-15.79, -47.88), "ES": (-20.32, -40.34),
    "GO": (-16.69, -49.26), "MA": (-2.53, -44.30), "MG": (-19.92, -43.94), "MS": (-20.44, -54.65),
    "MT": (-15.60, -56.10), "PA": (-1.46, -48.49), "PB": (-7.12, -34.86), "PE": (-3.84, -32.41),
    "PI": (-5.09, -42.80), "PR": (-25.54, -54.59), "RJ": (-22.91, -43.17), "RN": (-5.79, -35.21),
    "RO": (-8.76, -63.90), "RR": (2.82, -60.67), "RS": (-33.69, -53.46), "SC": (-27.60, -48.55),
    "SE": (-10.91, -37.07), "SP": (-23.78, -45.36), "TO": (-10.18, -48.33),
}  # fmt: skip  # a table


class TestRegion:
    @pytest.mark.parametrize(
        ("postcode", "name"),
        [
            ("01000000", "São Paulo/SP"), ("05999999", "São Paulo/SP"), ("06000000", "São Paulo - Interior/SP"),
            ("69300000", "Boa Vista/RR"), ("69400000", "Amazonas - Interior/AM"), ("72800000", "Goiás - Interior/GO"),
            ("73000000", "Brasília/DF"), ("78899999", "Mato Grosso - Interior/MT"),
            ("99999999", "Rio Grande do Sul - Interior/RS"),
        ],
    )  # fmt: skip  # a list of cases
    def test_has_the_postcodes_of_its_ranges(self, postcode, name):
        assert str(states.region_of(postcode)) == name

    @pytest.mark.parametrize(
        "postcode", ["00000000", "00999999", "78900000", "78999999", "1310100", "0131010a", "０１３１０１００", ""]
    )
    def test_is_none_outside_of_them(self, postcode):
        assert states.region_of(postcode) is None

    def test_exists_in_every_state_without_an_overlap(self):
        rows = list(states.rows(states.DATA / "postcodes.csv"))

        assert {row["uf"] for row in rows} == set(states.STATES)
        assert len(states.STATES) == 27
        assert all(row["end"] < following["start"] for row, following in pairwise(rows))


class TestPostcode:
    @pytest.mark.parametrize(
        "text",
        [
            "01310100", " 01310-100 ", "01310100" + " " * 12, "01.310-100", "01310 - 100", "01310 100", "01310.100",
            "01 310100",
            "01310\N{EN DASH}100", "01310\N{NO-BREAK SPACE}\N{MINUS SIGN}\N{NO-BREAK SPACE}100",
        ],
    )  # fmt: skip  # a list
    def test_is_eight_digits_however_it_is_written(self, text):
        assert states.postcode_of(text) == "01310100"

    @pytest.mark.parametrize(
        "text", ["", "1310100", "013101000", "01310--100", "0131-0100", "01310/100", "-01310100", "01310100" + " " * 13]
    )
    def test_is_empty_for_another_text(self, text):
        assert states.postcode_of(text) == ""


class TestStateNamed:
    @pytest.mark.parametrize("text", ["SP", "sp", " Sp ", "São Paulo", "SAO PAULO", "sa\u0303o paulo"])
    def test_is_found_by_code_or_name(self, text):
        assert states.state_named(text) == "SP"

    @pytest.mark.parametrize("text", ["", "NY", "São  Paulo", "Estado de São Paulo", "SP" * 100])
    def test_is_none_by_another_text(self, text):
        assert states.state_named(text) == ""


class TestMayLieIn:
    @in_turn("code", PLACES)
    def test_is_true_of_places_in_the_state(self, code):
        assert states.may_lie_in(code, *PLACES[code])

    @pytest.mark.parametrize(("code", "place"), [("RJ", "DF"), ("SP", "RJ"), ("RS", "AM"), ("PE", "SP"), ("DF", "MG")])
    def test_is_false_of_a_place_in_a_state_far_away(self, code, place):
        assert not states.may_lie_in(code, *PLACES[place])

    def test_is_true_of_a_place_outside_of_brazil(self):
        assert states.may_lie_in("PA", 40.44, -79.99)
