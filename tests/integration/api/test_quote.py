from typing import Any

import pytest

from integration.models import FreightParameters, FreightRate

URL = "/api/integration/shipping/quote"
pytestmark = pytest.mark.usefixtures("tariff")


def body(**changes):
    return {"origin": "01310100", "destination": "40020000", **changes}


def post_raw(api, raw, content_type="application/json"):
    return api.generic("POST", URL, raw, content_type=content_type)


class TestQuote:
    def test_answers_regions_amount_and_deadline(self, api):
        response = api.post(URL, body())

        assert response.status_code == 200
        assert response.json() == {
            "success": True,
            "data": {"from": "São Paulo/SP", "to": "Salvador/BA", "amount": 3990, "deadline": 8},
        }

    def test_charges(self, api):
        cases: list[tuple[dict[str, Any], int]] = [
            ({"weight": 1.0004}, 3990 + 820),
            ({"width": "40", "height": "30", "length": "30", "weight": 9}, 3990 + 8 * 820),
            ({"width": "40", "height": "30"}, 3990),
            ({"declared_amount": 15_001}, 3990 + 101),
            ({"weight": None, "declared_amount": None, "unknown": []}, 3990),
        ]

        found = [api.post(URL, body(**changes)).json()["data"]["amount"] for changes, _amount in cases]

        assert found == [amount for _changes, amount in cases]

    def test_refuses_a_postcode(self, api):
        codes: list[Any] = [
            "",
            "4002000",
            "400200000",
            "40020-000",
            "4002000a",
            "４００２００００",
            40020000,
            None,
            "00999999",
        ]
        for code in codes:
            response = api.post(URL, body(destination=code))

            assert response.status_code == 400
            assert response.json().keys() == {"success", "message", "code"}

    def test_refuses_what_is_no_measure(self, api):
        cases: list[dict[str, Any]] = [
            {"weight": -1}, {"weight": 0}, {"weight": True}, {"weight": "２"}, {"weight": 10_000}, {"weight": [1]},
            {"width": "1_0"}, {"width": "1000"}, {"width": ""}, {"width": 10}, {"width": "１"}, {"width": "-1"},
            {"declared_amount": 2**63}, {"declared_amount": -1}, {"declared_amount": 1.5}, {"declared_amount": True},
            {"declared_amount": "1"}, {"declared_amount": 10**400},
        ]  # fmt: skip  # a list of cases

        answers = [api.post(URL, body(**changes)) for changes in cases]

        assert [(answer.status_code, answer.json()["success"]) for answer in answers] == [(400, False)] * len(cases)

    def test_has_no_coverage_without_a_row(self, api):
        FreightRate.objects.filter(zone="mid").delete()

        response = api.post(URL, body())

        assert response.status_code == 400
        assert "sem cobertura" in response.json()["message"]

    def test_takes_the_largest_declared_amount(self, api):
        amount = api.post(URL, body(declared_amount=2**63 - 1)).json()["data"]["amount"]

        assert amount == 3990 + -(-(2**63 - 1 - 5000) // 100)

    def test_follows_an_edit_at_once(self, api):
        FreightRate.objects.filter(zone="mid", service="economy").update(base_centavos=9999)

        assert api.post(URL, body()).json()["data"]["amount"] == 9999

    def test_uses_the_rate_of_the_direction(self, api):
        rates = FreightRate.objects.filter(zone="mid", service="economy")
        rates.filter(origin_kind="capital", destination_kind="interior").update(base_centavos=7777)
        rates.filter(origin_kind="interior", destination_kind="capital").update(base_centavos=8888)

        amounts = [
            api.post(URL, body(origin=start, destination=end)).json()["data"]["amount"]
            for start, end in (("01310100", "48900000"), ("48900000", "01310100"))
        ]

        assert amounts == [7777, 8888]

    def test_uses_the_service_that_the_parameters_name(self, api):
        FreightParameters.objects.update(quote_service="express")

        assert api.post(URL, body()).json()["data"] == {
            "from": "São Paulo/SP", "to": "Salvador/BA", "amount": 6390, "deadline": 3,
        }  # fmt: skip  # a body reads as one

    def test_takes_a_state_from_the_remote_ones(self, api):
        FreightParameters.objects.update(remote_states=["BA"])

        assert api.post(URL, body()).json()["data"]["deadline"] != 8
