"""Values that no field takes: named by their pointer, and nothing is written."""

import json

import pytest

from delivery.geo import service_area
from tests.delivery.api.calls import (
    CHOICES,
    COORDINATES,
    MEASURES,
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

    def test_may_be_a_whole_number(self, api):
        response = send(api, REQUEST, changed("#/dropoffs/0/externalId", 1001))

        assert response.json()["orders"][0]["externalId"] == "1001"


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
    def test_at_the_edge_of_the_world_is_a_coordinate(self, api, settings, point):
        settings.SERVICE_AREA = service_area.parse("-90,-180,90,180")
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
class TestPackages:
    def test_are_at_most_200(self, api):
        assert send(api, REQUEST, payload(orderPackages=[{"quantity": 1}] * 200)).status_code == 201

        response = send(api, QUOTE, payload(orderPackages=[1] * 80_000))

        assert_field_refused(response, "#/orderPackages")
        assert len(response.content) < 2000


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
