"""Fields that are missing or of the wrong type: named by their pointer, and nothing is written."""

import pytest

from tests.delivery.api.calls import (
    ADDRESS_TEXTS,
    CHOICES,
    COORDINATES,
    MEASURES,
    MISSING,
    OBJECTS,
    OPTIONAL_OBJECTS,
    QUOTE,
    REQUEST,
    TEXTS,
    ZIPCODES,
    assert_field_refused,
    assert_nothing_written,
    assert_problem,
    changed,
    send,
)
from tests.factories import payload


@pytest.fixture
def path():
    """quotation-delivery reads its body by the same serializer: test_quotation_delivery.py."""
    return REQUEST


@pytest.mark.django_db
class TestAMissingField:
    @pytest.mark.parametrize(
        "pointer",
        [
            "#/vehicleType",
            "#/pickup",
            "#/pickup/contacts",
            "#/pickup/contacts/name",
            "#/pickup/contacts/phoneNumber",
            "#/pickup/address",
            "#/pickup/address/latitude",
            "#/pickup/address/longitude",
            "#/dropoffs",
            "#/dropoffs/0/address",
            "#/dropoffs/2/address",
            "#/dropoffs/1/address/latitude",
            "#/dropoffs/1/address/longitude",
        ],
    )
    @pytest.mark.parametrize("value", [MISSING, None])
    def test_is_named(self, api, path, pointer, value):
        response = send(api, path, changed(pointer, value))

        assert_field_refused(response, pointer)
        assert_nothing_written()

    @pytest.mark.parametrize("pointer", ["#/pickup/contacts/name", "#/pickup/contacts/phoneNumber"])
    @pytest.mark.parametrize("value", ["", "   "])
    def test_is_named_when_blank(self, api, path, pointer, value):
        response = send(api, path, changed(pointer, value))

        assert_field_refused(response, pointer)
        assert_nothing_written()

    def test_is_named_together_with_the_others(self, api, path):
        response = send(api, path, {"dropoffs": [{}], "pickup": {"address": {"latitude": 1}}})

        body = assert_problem(response, 422, "invalid_payload")
        assert {(error["pointer"], error["code"]) for error in body["errors"]} == {
            ("#/vehicleType", "required"),
            ("#/pickup/contacts", "required"),
            ("#/pickup/address/longitude", "required"),
            ("#/dropoffs/0/address", "required"),
        }

    def test_is_each_coordinate_that_a_dropoff_gives_nowhere(self, api, path):
        body = changed("#/dropoffs/1/address", {"city": "São Paulo"})

        response = send(api, path, body)

        errors = assert_problem(response, 422, "invalid_payload")["errors"]
        assert {error["pointer"] for error in errors} == {
            "#/dropoffs/1/address/latitude",
            "#/dropoffs/1/address/longitude",
        }
        assert_nothing_written()


@pytest.mark.django_db
class TestAnOptionalField:
    @pytest.mark.parametrize(
        "pointer",
        [
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
        ],
    )
    @pytest.mark.parametrize("value", [MISSING, None])
    def test_may_be_missing(self, api, pointer, value):
        response = send(api, REQUEST, changed(pointer, value))

        assert response.status_code == 201

    def test_unknown_to_the_contract_is_ignored(self, api):
        body = payload(unknown={"\ud800": "\x00"}, deliveryId="mine")
        body["pickup"]["address"]["planet"] = "Earth"

        assert send(api, REQUEST, body).status_code == 201


@pytest.mark.django_db
class TestAQuote:
    @pytest.mark.parametrize(
        ("pointer", "value"),
        [
            ("#/pickup/address/latitude", True),
            ("#/dropoffs/1/address/longitude", 180.5),
            ("#/dropoffs/2/address/city", "\ud800"),
            ("#/dropoffs/0/externalId", "x" * 256),
            ("#/orderPackages/0/weight", "heavy"),
        ],
    )
    def test_is_as_strict_as_a_request(self, api, pointer, value):
        body = changed(pointer, value)

        for path in (QUOTE, REQUEST):
            assert_field_refused(send(api, path, body), pointer)

        assert_nothing_written()


@pytest.mark.django_db
class TestAFieldOfTheWrongType:
    @pytest.mark.parametrize("pointer", OBJECTS + OPTIONAL_OBJECTS)
    @pytest.mark.parametrize("value", [1, 1.5, "text", "", True, [], [{}]])
    def test_is_named_where_an_object_belongs(self, api, pointer, value):
        response = send(api, REQUEST, changed(pointer, value))

        assert_field_refused(response, pointer)
        assert_nothing_written()

    @pytest.mark.parametrize("pointer", ["#/dropoffs", "#/orderPackages"])
    @pytest.mark.parametrize("value", [1, "text", "", True, {}, {"0": {}}])
    def test_is_named_where_a_list_belongs(self, api, pointer, value):
        response = send(api, REQUEST, changed(pointer, value))

        assert_field_refused(response, pointer)
        assert_nothing_written()

    @pytest.mark.parametrize("pointer", [*TEXTS, *CHOICES, *ZIPCODES])
    @pytest.mark.parametrize("value", [True, 12.5, [], {}, ["CAR"], {"a": 1}])
    def test_is_named_where_text_belongs(self, api, pointer, value):
        response = send(api, REQUEST, changed(pointer, value))

        assert_field_refused(response, pointer)
        assert_nothing_written()

    @pytest.mark.parametrize("pointer", [*COORDINATES, *MEASURES, "#/orderPackages/0/quantity"])
    @pytest.mark.parametrize(
        "value",
        [True, False, [], {}, [1], "", " ", "text", "1,5", "1_0", "0x1", "\N{ARABIC-INDIC DIGIT ONE}", "nan", "inf"],
    )
    def test_is_named_where_a_number_belongs(self, api, pointer, value):
        response = send(api, REQUEST, changed(pointer, value))

        assert_field_refused(response, pointer)
        assert_nothing_written()
