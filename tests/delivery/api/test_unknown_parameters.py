"""Query parameters that the lists of area A do not have."""

import pytest

from tests.delivery.api.calls import LIST, assert_problem
from tests.factories import DeliveryFactory

EVENTS = "/api/events"
STRICT = {"HTTP_PREFER": "handling=strict"}
OF_DELIVERIES = "limit cursor externalId status createdFrom createdTo"


@pytest.mark.django_db
class TestAnUnknownParameter:
    @pytest.mark.parametrize(
        ("path", "warning"),
        [
            (f"{EVENTS}?cursor=x", '"?cursor";code=unknown_key;known="limit after"'),
            (f"{LIST}?Status=FAILED", f'"?Status";code=unknown_key;nearest="status";known="{OF_DELIVERIES}"'),
            (f"{LIST}?external_id=1", f'"?external_id";code=unknown_key;nearest="externalId";known="{OF_DELIVERIES}"'),
            (f"{LIST}?%22a%0D%0Aé=1", f'"?%22a%0D%0A%C3%A9";code=unknown_key;known="{OF_DELIVERIES}"'),
            (f"{LIST}?limit=1", None),
        ],
    )
    def test_has_no_effect_and_is_named(self, api, token, path, warning):
        DeliveryFactory.create(token=token)

        response = api.get(path)

        assert len(response.json()["data"]) == 1
        assert response.get("Rota-Warnings") == warning

    def test_is_refused_from_a_caller_who_prefers_strict_handling(self, api):
        response = api.get(f"{LIST}?Status=FAILED", **STRICT)

        problem = assert_problem(response, 422, "unknown_key")
        assert problem["errors"] == [
            {
                "parameter": "Status",
                "code": "unknown_key",
                "detail": "This parameter is unknown and has no effect. Did you mean 'status'? Known ones: "
                "limit, cursor, externalId, status, createdFrom, createdTo.",
            }
        ]
        assert response["Preference-Applied"] == "handling=strict"

    def test_is_refused_together_with_an_invalid_one(self, api):
        problem = assert_problem(api.get(f"{EVENTS}?cursor=x&limit=0", **STRICT), 422, "invalid_query")

        assert [(error["parameter"], error["code"]) for error in problem["errors"]] == [
            ("limit", "invalid_limit"),
            ("cursor", "unknown_key"),
        ]

    def test_is_named_with_the_refusal_of_an_invalid_one(self, api):
        response = api.get(f"{EVENTS}?cursor=x&limit=0")

        assert_problem(response, 422, "invalid_query")
        assert response["Rota-Warnings"] == '"?cursor";code=unknown_key;known="limit after"'

    def test_is_one_of_the_first_twenty_that_are_named(self, api):
        response = api.get(f"{LIST}?{'&'.join(f'key{number}=1' for number in range(500))}")

        assert response["Rota-Warnings"].count("unknown_key") == 20
