from itertools import pairwise

import pytest

from integration import postcodes
from integration.errors import NoCoverage
from integration.freight import STATES


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
    def test_of_a_postcode(self, postcode, name):
        assert str(postcodes.region(postcode)) == name

    @pytest.mark.parametrize(
        "postcode", ["00000000", "00999999", "78900000", "78999999", "1310100", "0131010a", "０１３１０１００", ""]
    )
    def test_of_none_has_no_coverage(self, postcode):
        with pytest.raises(NoCoverage):
            postcodes.region(postcode)


class TestTable:
    def test_has_every_state_and_no_overlap(self):
        rows = list(postcodes.rows("postcodes.csv"))

        assert {row["uf"] for row in rows} == STATES
        assert len(STATES) == 27
        assert all(row["end"] < following["start"] for row, following in pairwise(rows))
