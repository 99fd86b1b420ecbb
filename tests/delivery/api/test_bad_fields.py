"""Fields that are missing or of the wrong type: named by their pointer, and nothing is written.

quotation-delivery reads its body by the same serializer: test_quotation_delivery.py.
"""

import pytest

from tests.delivery.api.calls import (
    ADDRESS_TEXTS,
    CHOICES,
    COORDINATES,
    MEASURES,
    MISSING,
    REQUEST,
    TEXTS,
    ZIPCODES,
    assert_nothing_written,
    assert_problem,
    assert_values_refused,
    assert_values_taken,
    changed,
    send,
)
from tests.factories import payload

pytestmark = pytest.mark.django_db
OBJECTS = [
    "#/pickup", "#/pickup/contacts", "#/pickup/address", "#/dropoffs/0", "#/dropoffs/0/address",
    "#/dropoffs/0/contacts", "#/dropoffs/0/coordinates", "#/orderPackages/0",
]  # fmt: skip  # a list
NEEDED_TEXTS = ["#/pickup/contacts/name", "#/pickup/contacts/phoneNumber"]
NEEDED = [
    "#/vehicleType",
    "#/pickup",
    "#/pickup/contacts",
    *NEEDED_TEXTS,
    "#/pickup/address",
    "#/pickup/address/latitude",
    "#/pickup/address/longitude",
    "#/dropoffs",
    "#/dropoffs/0/address",
    "#/dropoffs/2/address",
    "#/dropoffs/1/address/latitude",
    "#/dropoffs/1/address/longitude",
]
OPTIONAL = [
    "#/deliveryMode",
    "#/orderPackages",
    "#/orderPackages/0/description",
    "#/orderPackages/0/quantity",
    *MEASURES,
    *ZIPCODES,
    "#/dropoffs/0/externalId",
    "#/dropoffs/0/contacts",
    "#/dropoffs/0/contacts/name",
    *(f"#/dropoffs/0/address/{name}" for name in ADDRESS_TEXTS),
    *(f"#/pickup/address/{name}" for name in ADDRESS_TEXTS),
]


class TestAMissingField:
    def test_is_named(self, api):
        assert_values_refused(api, NEEDED, [MISSING, None])
        assert_values_refused(api, NEEDED_TEXTS, ["", "   "])

    def test_is_named_together_with_the_others(self, api):
        response = send(api, REQUEST, {"dropoffs": [{}], "pickup": {"address": {"latitude": 1}}})

        body = assert_problem(response, 422, "invalid_payload")
        assert {(error["pointer"], error["code"]) for error in body["errors"]} == {
            ("#/vehicleType", "required"),
            ("#/pickup/contacts", "required"),
            ("#/pickup/address/longitude", "required"),
            ("#/dropoffs/0/address", "required"),
        }

    def test_is_each_coordinate_that_a_dropoff_gives_nowhere(self, api):
        response = send(api, REQUEST, changed("#/dropoffs/1/address", {"city": "São Paulo"}))

        errors = assert_problem(response, 422, "invalid_payload")["errors"]
        assert {error["pointer"] for error in errors} == {
            "#/dropoffs/1/address/latitude",
            "#/dropoffs/1/address/longitude",
        }
        assert_nothing_written()


class TestAnOptionalField:
    def test_may_be_missing(self, api):
        assert_values_taken(api, OPTIONAL, [MISSING, None])

    def test_unknown_to_the_contract_is_ignored(self, api):
        body = payload(unknown={"\ud800": "\x00"}, deliveryId="mine")
        body["pickup"]["address"]["planet"] = "Earth"

        assert send(api, REQUEST, body).status_code == 201


class TestAFieldOfTheWrongType:
    def test_is_named_where_an_object_belongs(self, api):
        assert_values_refused(api, OBJECTS, [1, 1.5, "text", "", True, [], [{}]])

    def test_is_named_where_a_list_belongs(self, api):
        assert_values_refused(api, ["#/dropoffs", "#/orderPackages"], [1, "text", "", True, {}, {"0": {}}])

    def test_is_named_where_text_belongs(self, api):
        assert_values_refused(api, [*TEXTS, *CHOICES, *ZIPCODES], [True, 12.5, [], {}, ["CAR"], {"a": 1}])

    def test_is_named_where_a_number_belongs(self, api):
        pointers = [*COORDINATES, *MEASURES, "#/orderPackages/0/quantity"]
        texts = ["", " ", "text", "1,5", "1_0", "0x1", "\N{ARABIC-INDIC DIGIT ONE}", "nan", "inf"]

        assert_values_refused(api, pointers, [True, False, [], {}, [1], *texts])

    @pytest.mark.parametrize("value", [[], "x", None])
    def test_says_what_an_object_must_be(self, api, value):
        problem = assert_problem(send(api, REQUEST, changed("#/pickup/address", value)), 422, "invalid_payload")

        detail = "This field may not be null." if value is None else "This must be a JSON object."
        assert problem["errors"][0]["detail"] == detail
