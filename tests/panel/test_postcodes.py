"""What forms fill in for a CEP."""

from unittest.mock import patch

import pytest
from django.urls import reverse

from common.api.rate_limit import Standing
from panel.views import postcodes
from tests.delivery.places.table import fill, houses

URL = reverse("panel:postcode")
pytestmark = pytest.mark.django_db


class TestPostcode:
    @pytest.fixture(autouse=True)
    def _is_filled(self):
        fill(houses("Rua Augusta", [500], postcode="01304000", district="Consolação"))

    @pytest.mark.parametrize("zipcode", ["01304000", "01304-000", " 01.304-000 "])
    def test_has_the_street(self, member, zipcode):
        assert member.get(URL, {"zipcode": zipcode}).json() == {
            "street": "Rua Augusta", "district": "Consolação", "city": "São Paulo", "state": "SP"
        }  # fmt: skip  # an address

    def test_that_no_address_has_tells_its_region(self, member):
        assert member.get(URL, {"zipcode": "40010-000"}).json() == {
            "street": "", "district": "", "city": "Salvador", "state": "BA"
        }  # fmt: skip  # an address

    @pytest.mark.parametrize("query", [{}, {"zipcode": ""}, {"zipcode": "0130400"}, {"zipcode": "9" * 5000}])
    def test_that_is_none_has_nothing(self, member, query):
        assert member.get(URL, query).json() == {}

    def test_needs_a_session(self, client):
        assert client.get(URL, {"zipcode": "01304-000"}).status_code == 302

    def test_is_not_asked_for_in_bulk(self, member):
        with patch.object(postcodes, "limiter") as limiter:
            limiter.return_value.count.return_value = Standing("", "", retry_after=7)
            response = member.get(URL, {"zipcode": "01304-000"})

        assert (response.status_code, response["Retry-After"], response.content) == (429, "7", b"")
