from typing import Any

import pytest

from integration.api.serializers import ServiceField
from integration.freight.calculation import ORDER_SERVICES, Service
from integration.freight.models import FreightParameters, FreightRate
from tests.cases import in_turn

URL = "/api/integration/shipping/quote"
SERVICES = "/api/integration/shipping/services"
pytestmark = pytest.mark.usefixtures("tariff")


def body(**changes):
    return {"origin": "01310100", "destination": "40020000", **changes}


class TestQuote:
    def test_answers_regions_amount_and_deadline(self, api):
        response = api.post(URL, body())

        assert response.status_code == 200
        assert response.json() == {
            "success": True,
            "data": {"from": "São Paulo/SP", "to": "Salvador/BA", "amount": 3990, "deadline": 8},
        }

    @in_turn(
        "written",
        [
            "40.020-000",
            "40020 000",
            "40020-000",
            "40020\N{EN DASH}000",
            "40020\N{NO-BREAK SPACE}000",
            "40020.000",
            " 40020000 ",
        ],
    )
    def test_takes_a_postcode_however_it_is_written(self, api, written):
        assert api.post(URL, body(destination=written)).json() == api.post(URL, body()).json()

    def test_charges(self, api):
        cases: list[tuple[dict[str, Any], int]] = [
            ({"weight": 1.0004}, 3990 + 820),
            ({"width": "40", "height": "30", "length": "30", "weight": 9}, 3990 + 8 * 820),
            ({"width": "40", "height": "30"}, 3990),
            ({"declared_amount": 15_001}, 3990 + 101),
            ({"declared_amount": 2**63 - 1}, 3990 + -(-(2**63 - 1 - 5000) // 100)),
            ({"weight": None, "declared_amount": None, "unknown": []}, 3990),
        ]

        found = [api.post(URL, body(**changes)).json()["data"]["amount"] for changes, _amount in cases]

        assert found == [amount for _changes, amount in cases]

    def test_refuses_what_is_neither_a_postcode_nor_a_measure(self, api):
        codes: list[Any] = [
            "", "4002000", "400200000", "4002-0000", "40020--000", "4002000a", "４００２００００", 40020000, None,
            "00999999",
        ]  # fmt: skip  # a list of cases
        cases: list[dict[str, Any]] = [
            *({"destination": code} for code in codes),
            {"weight": -1}, {"weight": 0}, {"weight": True}, {"weight": "２"}, {"weight": 10_000}, {"weight": [1]},
            {"width": "1_0"}, {"width": "1000"}, {"width": ""}, {"width": 10}, {"width": "１"}, {"width": "-1"},
            {"declared_amount": 2**63}, {"declared_amount": -1}, {"declared_amount": 1.5}, {"declared_amount": True},
            {"declared_amount": "1"}, {"declared_amount": 10**400},
        ]  # fmt: skip  # a list of cases

        answers = [api.post(URL, body(**changes)) for changes in cases]

        assert [answer.status_code for answer in answers] == [400] * len(cases)
        assert all(answer.json().keys() == {"success", "message", "code"} for answer in answers)

    def test_uses_the_rate_of_the_direction_as_it_is_now(self, api):
        rates = FreightRate.objects.filter(zone="mid", service="economy")
        rates.filter(origin_kind="capital", destination_kind="interior").update(base_centavos=7777)
        rates.filter(origin_kind="interior", destination_kind="capital").update(base_centavos=8888)

        amounts = [
            api.post(URL, body(origin=start, destination=end)).json()["data"]["amount"]
            for start, end in (("01310100", "48900000"), ("48900000", "01310100"))
        ]

        assert amounts == [7777, 8888]

    def test_is_by_the_rates_and_the_default_parameters_if_nobody_has_set_any(self, api):
        expected = api.post(URL, body()).json()
        FreightParameters.objects.all().delete()

        assert api.post(URL, body()).json() == expected

    def test_takes_a_state_from_the_remote_ones(self, api):
        FreightParameters.objects.update(remote_states=["BA"])

        assert api.post(URL, body()).json()["data"]["deadline"] != 8


class TestShippingServices:
    def test_answers_every_service_with_its_price(self, api):
        response = api.post(SERVICES, body())

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
            quoted = api.post(URL, body(**changes)).json()["data"]
            prices = {price.pop("service"): price for price in api.post(SERVICES, body(**changes)).json()["data"]}

            assert prices[ORDER_SERVICES[service]] == {"amount": quoted["amount"], "deadline": quoted["deadline"]}

    def test_names_services_that_an_order_takes(self, api, seller):
        for price in api.post(SERVICES, body()).json()["data"]:
            assert ServiceField().to_internal_value(price["service"]) == price["service"]

    def test_leaves_out_a_service_without_a_rate(self, api):
        FreightRate.objects.filter(service=Service.ECONOMY.value).delete()

        assert [price["service"] for price in api.post(SERVICES, body()).json()["data"]] == ["next"]

    def test_without_any_rate_is_refused_like_a_quote(self, api):
        FreightRate.objects.all().delete()

        response, quoted = api.post(SERVICES, body()), api.post(URL, body())

        assert response.status_code == quoted.status_code == 400
        assert response.json() == quoted.json()
        assert response.json()["code"] == "no_coverage"
