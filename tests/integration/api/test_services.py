from typing import Any

import pytest

from integration.api.serializers import ServiceField
from integration.freight import ORDER_SERVICES, Service
from integration.models import FreightParameters, FreightRate

URL = "/api/integration/shipping/services"
QUOTE = "/api/integration/shipping/quote"
pytestmark = pytest.mark.usefixtures("tariff")


def body(**changes):
    return {"origin": "01310100", "destination": "40020000", **changes}


class TestShippingServices:
    def test_answers_every_service_with_its_price(self, api):
        response = api.post(URL, body())

        assert response.status_code == 200
        assert response.json() == {
            "success": True,
            "data": [
                {"service": "base", "amount": 3990, "deadline": 8},
                {"service": "next", "amount": 6390, "deadline": 3},
            ],
        }

    @pytest.mark.parametrize("service", Service)
    def test_has_the_price_of_the_quote_for_that_service(self, api, service):
        FreightParameters.objects.update(quote_service=service.value)
        sides: dict[str, Any] = {"width": "40", "height": "30", "length": "30"}

        for changes in ({}, {"weight": 12.5}, sides, {"declared_amount": 1_000_000}):
            quoted = api.post(QUOTE, body(**changes)).json()["data"]
            prices = {price.pop("service"): price for price in api.post(URL, body(**changes)).json()["data"]}

            assert prices[ORDER_SERVICES[service]] == {"amount": quoted["amount"], "deadline": quoted["deadline"]}

    def test_names_services_that_an_order_takes(self, api, seller):
        for price in api.post(URL, body()).json()["data"]:
            assert ServiceField().to_internal_value(price["service"]) == price["service"]

    def test_leaves_out_a_service_without_a_rate(self, api):
        FreightRate.objects.filter(service=Service.ECONOMY.value).delete()

        assert [price["service"] for price in api.post(URL, body()).json()["data"]] == ["next"]

    def test_without_any_rate_is_refused_like_a_quote(self, api):
        FreightRate.objects.all().delete()

        response, quoted = api.post(URL, body()), api.post(QUOTE, body())

        assert response.status_code == quoted.status_code == 400
        assert response.json() == quoted.json()
        assert response.json()["code"] == "no_coverage"
