import pytest

from integration import postcodes
from integration.errors import NoCoverage


class TestRegion:
    def test_of_a_postcode(self):
        assert str(postcodes.region("06000000")) == "São Paulo - Interior/SP"

    def test_of_none_has_no_coverage(self):
        with pytest.raises(NoCoverage, match="CEP 78900-000 sem cobertura"):
            postcodes.region("78900000")
