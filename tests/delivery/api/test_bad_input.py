"""Whatever is sent, the answer is a clear 4xx that names the field, and nothing is written."""

import json

import pytest

from delivery.models import Delivery
from tests.delivery.api.calls import (
    CANCEL,
    INFO,
    LOCATION,
    MISSING,
    QUOTE,
    REQUEST,
    UNKNOWN,
    assert_field_refused,
    assert_nothing_written,
    assert_problem,
    changed,
    send,
)
from tests.factories import DeliveryFactory, payload

DROPOFF = "#/dropoffs/0"
COORDINATES = [
    "#/pickup/address/latitude",
    "#/pickup/address/longitude",
    "#/dropoffs/1/address/latitude",
    "#/dropoffs/1/address/longitude",
    "#/dropoffs/2/coordinates/latitude",
    "#/dropoffs/2/coordinates/longitude",
]
ADDRESS_TEXTS = ["city", "state", "street", "number", "district", "country", "complement"]
TEXTS = [
    "#/pickup/contacts/name",
    "#/pickup/contacts/phoneNumber",
    *(f"#/pickup/address/{name}" for name in ADDRESS_TEXTS),
    "#/dropoffs/2/externalId",
    "#/dropoffs/2/contacts/name",
    "#/dropoffs/2/contacts/phoneNumber",
    *(f"#/dropoffs/2/address/{name}" for name in ADDRESS_TEXTS),
    "#/orderPackages/0/description",
]
MEASURES = [f"#/orderPackages/0/{name}" for name in ("height", "width", "length", "weight")]
CHOICES = ["#/vehicleType", "#/deliveryMode"]
ZIPCODES = ["#/pickup/address/zipcode", "#/dropoffs/0/address/zipcode"]
OBJECTS = ["#/pickup", "#/pickup/contacts", "#/pickup/address", DROPOFF, f"{DROPOFF}/address"]
OPTIONAL_OBJECTS = [f"{DROPOFF}/contacts", f"{DROPOFF}/coordinates", "#/orderPackages/0"]


def nested(depth, opening="[", closing="]"):
    return '{"vehicleType": ' + opening * depth + closing * depth + "}"


def padded(size):
    """A valid body of exactly `size` bytes."""
    empty = json.dumps(payload(padding=""))
    return json.dumps(payload(padding="x" * (size - len(empty))))


@pytest.fixture(params=[QUOTE, REQUEST])
def path(request):
    return request.param


@pytest.mark.django_db
class TestABodyThatIsNoJSONObject:
    @pytest.mark.parametrize(
        "body",
        [
            "not json",
            "{",
            '{"vehicleType": "CAR",}',
            "{'vehicleType': 'CAR'}",
            "[]",
            '[{"vehicleType": "CAR"}]',
            "1",
            "1.5",
            '"text"',
            "null",
            "true",
            "NaN",
            " ",
            b"\x00",
            b"\xff\xfe",
            b"\xed\xa0\x80",
            b"\xef\xbb\xbf{}",
            '{"vehicleType": "CAR"}'.encode("utf-16"),
            b'{"vehicleType": "S\xe3o"}',
        ],
    )
    def test_is_refused(self, api, path, body):
        response = send(api, path, body)

        assert_problem(response, 422, "malformed_body")
        assert_nothing_written()

    def test_is_refused_on_cancel_too(self, api, token):
        delivery = DeliveryFactory.create(token=token)

        response = send(api, CANCEL.format(delivery.pk), "null")

        assert_problem(response, 422, "malformed_body")
        assert Delivery.objects.get().status == "PENDING"

    def test_is_an_empty_one_too(self, api, path):
        response = send(api, path, "")

        body = assert_problem(response, 422, "invalid_payload")
        assert [error["pointer"] for error in body["errors"]] == ["#/vehicleType", "#/pickup", "#/dropoffs"]
        assert_nothing_written()


@pytest.mark.django_db
class TestABodyOutOfBounds:
    @pytest.mark.parametrize("depth", [21, 100, 100_000])
    @pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
    def test_is_refused_when_nested_too_deep(self, api, path, depth, opening, closing):
        body = nested(depth, opening, closing).replace(":}", ":1}")[: 250 * 1024]

        response = send(api, path, body)

        assert_problem(response, 422, "malformed_body")
        assert_nothing_written()

    def test_is_refused_when_an_unknown_key_is_nested_too_deep(self, api, path):
        deep = nested(100)[16:-1]

        response = send(api, path, json.dumps(payload())[:-1] + f', "unknown": {deep}}}')

        assert_problem(response, 422, "malformed_body")
        assert_nothing_written()

    @pytest.mark.parametrize("size", [256 * 1024 + 1, 300 * 1024, 1_000_000, 3_000_000])
    def test_is_413_when_too_large(self, api, path, size):
        response = send(api, path, padded(size))

        assert_problem(response, 413, "body_too_large")
        assert_nothing_written()

    def test_is_taken_up_to_256_kib(self, api):
        assert send(api, QUOTE, padded(256 * 1024)).status_code == 200

    def test_is_413_on_cancel_too(self, api, token):
        delivery = DeliveryFactory.create(token=token)

        response = send(api, CANCEL.format(delivery.pk), json.dumps({"reason": "x" * 300 * 1024}))

        assert_problem(response, 413, "body_too_large")
        assert Delivery.objects.get().status == "PENDING"


@pytest.mark.django_db
class TestAContentType:
    @pytest.mark.parametrize(
        "content_type",
        [
            "text/plain",
            "application/xml",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "json",
        ],
    )
    def test_other_than_json_is_415(self, api, path, content_type):
        response = send(api, path, json.dumps(payload()), content_type)

        assert_problem(response, 415, "unsupported_media_type")
        assert_nothing_written()

    @pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "Application/JSON"])
    def test_may_be_json_in_any_spelling(self, api, content_type):
        assert send(api, QUOTE, json.dumps(payload()), content_type).status_code == 200


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
    @pytest.mark.parametrize("value", [True, [], {}, ["CAR"], {"a": 1}])
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


@pytest.mark.django_db
class TestAText:
    @pytest.mark.parametrize("pointer", [*TEXTS, *CHOICES, *ZIPCODES])
    @pytest.mark.parametrize("value", ["a\x00b", "\ud800", "ok \udfff", "\udc00\ud800"])
    def test_with_null_bytes_or_lone_surrogates_is_refused(self, api, pointer, value):
        response = send(api, REQUEST, changed(pointer, value))

        assert_field_refused(response, pointer)
        assert_nothing_written()

    @pytest.mark.parametrize("pointer", TEXTS)
    def test_of_more_than_255_characters_is_refused(self, api, pointer):
        response = send(api, REQUEST, changed(pointer, "é" * 256))

        assert_field_refused(response, pointer)
        assert_nothing_written()

    @pytest.mark.parametrize("pointer", TEXTS)
    def test_of_255_characters_is_taken(self, api, pointer):
        assert send(api, REQUEST, changed(pointer, "é" * 255)).status_code == 201

    def test_is_returned_letter_for_letter(self, api):
        street = 'Rua São João, 1º "fundos" <b>\\ \N{SCOOTER}\N{ZERO WIDTH JOINER}\u2028'

        response = send(api, REQUEST, changed("#/dropoffs/0/address/street", street + "."))

        assert response.json()["orders"][0]["address"]["street"] == street + "."


@pytest.mark.django_db
class TestANumber:
    @pytest.mark.parametrize("pointer", [*COORDINATES, *MEASURES, "#/orderPackages/0/quantity"])
    @pytest.mark.parametrize("value", ["1" + "0" * 400, "1e308", "-1e308", "1e400", "-1e400", '"1e400"', '"1e99999"'])
    def test_that_is_huge_is_refused(self, api, pointer, value):
        body = json.dumps(changed(pointer, "HERE")).replace('"HERE"', value)

        response = send(api, REQUEST, body)

        assert_field_refused(response, pointer)
        assert_nothing_written()

    @pytest.mark.parametrize("value", ["1" * 5000, "-" + "9" * 5000])
    @pytest.mark.parametrize("pointer", ["#/pickup/address/latitude", "#/orderPackages/0/quantity", "#/vehicleType"])
    def test_of_5000_digits_is_refused(self, api, pointer, value):
        body = json.dumps(changed(pointer, "HERE")).replace('"HERE"', value)

        response = send(api, REQUEST, body)

        assert_problem(response, 422, "malformed_body")
        assert_nothing_written()

    @pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity"])
    def test_that_json_does_not_know_is_refused(self, api, value):
        body = json.dumps(changed("#/pickup/address/latitude", "HERE")).replace('"HERE"', value)

        response = send(api, REQUEST, body)

        assert_problem(response, 422, "malformed_body")
        assert_nothing_written()

    @pytest.mark.parametrize("pointer", COORDINATES)
    def test_that_is_no_coordinate_is_refused(self, api, pointer):
        largest = 90 if pointer.endswith("latitude") else 180

        for value in (largest + 0.000001, -largest - 0.000001, largest + 1, str(largest + 1)):
            assert_field_refused(send(api, REQUEST, changed(pointer, value)), pointer)

        assert_nothing_written()

    @pytest.mark.parametrize("point", [(90, 180), (-90, -180), (0, 0), (-0.0, 180)])
    def test_at_the_edge_of_the_world_is_a_coordinate(self, api, point):
        body = changed("#/dropoffs/0/coordinates", {"latitude": point[0], "longitude": point[1]})

        assert_problem(send(api, REQUEST, body), 400, "price_unavailable")

    @pytest.mark.parametrize("pointer", MEASURES)
    @pytest.mark.parametrize("value", [0, -1, -0.0, "0", "-2.5"])
    def test_that_is_no_measure_is_refused(self, api, pointer, value):
        response = send(api, REQUEST, changed(pointer, value))

        assert_field_refused(response, pointer)
        assert_nothing_written()

    @pytest.mark.parametrize("value", [0, -1, 1.5, "1.5", "many", 1e20])
    def test_that_is_no_quantity_is_refused(self, api, value):
        response = send(api, REQUEST, changed("#/orderPackages/0/quantity", value))

        assert_field_refused(response, "#/orderPackages/0/quantity")
        assert_nothing_written()

    @pytest.mark.parametrize("spelling", ["-23.55", " -23.55 ", "-2355e-2", "-23.550000"])
    def test_spelled_as_text_is_returned_as_a_number(self, api, spelling):
        body = changed("#/dropoffs/0/address/latitude", spelling)

        order = send(api, REQUEST, body).json()["orders"][0]

        assert order["coordinates"]["latitude"] == -23.55
        assert order["address"]["latitude"] == -23.55

    @pytest.mark.parametrize("pointer", [*MEASURES, "#/orderPackages/0/quantity"])
    def test_of_a_package_may_be_spelled_as_text(self, api, pointer):
        assert send(api, REQUEST, changed(pointer, "2")).status_code == 201


@pytest.mark.django_db
class TestAChoice:
    @pytest.mark.parametrize("value", ["TRUCK", "motorcycle", "CAR ", "", 1, "x" * 10_000])
    def test_of_an_unknown_vehicle_is_refused(self, api, path, value):
        response = send(api, path, changed("#/vehicleType", value))

        assert_field_refused(response, "#/vehicleType")
        assert_nothing_written()

    @pytest.mark.parametrize("value", ["EXPRESS", "default", "return", "", 0])
    def test_of_an_unknown_mode_is_refused(self, api, path, value):
        response = send(api, path, changed("#/deliveryMode", value))

        assert_field_refused(response, "#/deliveryMode")
        assert_nothing_written()


@pytest.mark.django_db
class TestDropoffs:
    @pytest.mark.parametrize("count", [0, 4, 500])
    def test_are_one_to_three(self, api, path, count):
        body = payload(dropoffs=payload(stops=1)["dropoffs"] * count)

        response = send(api, path, body)

        assert_field_refused(response, "#/dropoffs")
        assert_nothing_written()

    @pytest.mark.parametrize("coordinates", [{"latitude": -23.55}, {"longitude": -46.65}])
    def test_have_their_place_whole_in_address_or_coordinates(self, api, path, coordinates):
        body = changed("#/dropoffs/0/coordinates", coordinates)
        given = next(iter(coordinates))
        del body["dropoffs"][0]["address"][given]

        response = send(api, path, body)

        assert_field_refused(response, f"#/dropoffs/0/address/{given}")
        assert_nothing_written()


@pytest.mark.django_db
class TestAZipcode:
    @pytest.mark.parametrize("pointer", ZIPCODES)
    @pytest.mark.parametrize(
        "value",
        ["", " ", "0131020", "013102000", "0131-0200", "01310--200", "01310 200", "01310_200", "0131020a", "٠١٣١٠٢٠٠"],
    )
    def test_that_has_not_eight_digits_is_refused(self, api, path, pointer, value):
        response = send(api, path, changed(pointer, value))

        assert_field_refused(response, pointer)
        assert_nothing_written()

    @pytest.mark.parametrize("value", ["01310-200", "01310200"])
    def test_is_returned_as_digits_only(self, api, value):
        response = send(api, REQUEST, changed("#/dropoffs/0/address/zipcode", value))

        assert response.json()["orders"][0]["address"]["zipcode"] == "01310200"


BAD_IDS = [
    "1",
    "order-1",
    "not-a-uuid",
    UNKNOWN[:-1],
    UNKNOWN + "0",
    UNKNOWN.replace("-", ""),
    f"{{{UNKNOWN}}}",
    f"urn:uuid:{UNKNOWN}",
    UNKNOWN.replace("0", "\N{ARABIC-INDIC DIGIT ZERO}"),
    f" {UNKNOWN}",
    "%00",
    "%0A",
    "%FF%FE",
    "%ED%A0%80",
    "'; DROP TABLE delivery_delivery; --",
    "x" * 5000,
]


@pytest.mark.django_db
class TestADeliveryId:
    @pytest.mark.parametrize("spelling", BAD_IDS)
    @pytest.mark.parametrize("endpoint", [INFO, LOCATION])
    def test_of_another_form_is_404_on_queries(self, api, endpoint, spelling):
        assert_problem(api.get(endpoint.format(spelling)), 404, "delivery_not_found")

    @pytest.mark.parametrize("spelling", BAD_IDS)
    def test_of_another_form_is_422_on_cancel(self, api, spelling):
        assert_problem(send(api, CANCEL.format(spelling), {}), 422, "invalid_delivery_id")

    @pytest.mark.parametrize("other", [lambda key: key.hex, lambda key: f"{{{key}}}", lambda key: f"urn:uuid:{key}"])
    def test_in_another_spelling_of_uuids_is_not_one(self, api, token, other):
        delivery = DeliveryFactory.create(token=token)
        spelling = other(delivery.pk)

        cancelled, seen = send(api, CANCEL.format(spelling), {}), api.get(INFO.format(spelling))

        assert_problem(cancelled, 422, "invalid_delivery_id")
        assert_problem(seen, 404, "delivery_not_found")
        assert Delivery.objects.get().status == "PENDING"

    def test_in_capitals_is_the_same_one(self, api, token):
        delivery = DeliveryFactory.create(token=token)

        response = api.get(INFO.format(str(delivery.pk).upper()))

        assert response.json()["deliveryId"] == str(delivery.pk)
