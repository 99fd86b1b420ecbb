"""Values that no field takes, and limits that the description does not state.

Those that it states: tests/cost/test_extremes.py. quotation-delivery reads its body by the same serializer:
test_quotation_delivery.py.
"""

import json

import pytest

from delivery.geo import service_area
from delivery.models import WebhookEvent
from tests.cases import in_turn
from tests.delivery.api.calls import (
    CHOICES,
    COORDINATES,
    INFO,
    LOCATION,
    MEASURES,
    QUOTE,
    REQUEST,
    TEXTS,
    ZIPCODES,
    assert_field_refused,
    assert_nothing_written,
    assert_problem,
    assert_values_refused,
    assert_values_taken,
    changed,
    send,
)
from tests.factories import payload

pytestmark = pytest.mark.django_db
PACKAGE = "#/orderPackages/0"
QUANTITY = f"{PACKAGE}/quantity"
# Pointer, a value at the limit, a value one past it.
LIMITS = [
    (QUANTITY, "1", "0"),
    (f"{PACKAGE}/height", "1" + "." + "0" * 62, "1" + "." + "0" * 63),  # 64 and 65 characters
    (f"{PACKAGE}/height", "1e000", "1e0000"),
    ("#/pickup/address/zipcode", "01310-200", "01310-2000"),
    ("#/pickup/address/zipcode", "01310200", "0131020"),
    ("#/dropoffs/0/address/zipcode", "01310200", "013102000"),
]


def with_literal(pointer, text):
    """A body with this JSON text at the pointer."""
    return json.dumps(changed(pointer, "HERE")).replace('"HERE"', text)


class TestALimit:
    @in_turn(("pointer", "at_limit", "past"), LIMITS)
    def test_is_the_end_of_the_range(self, api, pointer, at_limit, past):
        assert_values_refused(api, [pointer], [past])
        assert_values_taken(api, [pointer], [at_limit])

    @in_turn("pointer", COORDINATES)
    def test_of_a_coordinate_is_its_pole_or_meridian(self, api, settings, pointer):
        settings.SERVICE_AREA = service_area.parse("-90,-180,90,180")
        limit = 90 if pointer.endswith("latitude") else 180

        beyond = limit + 1e-9
        assert_values_refused(api, [pointer], [beyond, -beyond, limit + 1, str(limit + 1)])
        if "coordinates" not in pointer:  # which are given together
            # At the limit the point is valid, and too far away for a price.
            for value in (limit, -limit, -0.0):
                assert_problem(send(api, QUOTE, changed(pointer, value)), 400, "price_unavailable")

    def test_of_packages_keeps_the_answer_to_many_short(self, api):
        refused = send(api, QUOTE, payload(orderPackages=[1] * 80_000))

        assert_field_refused(refused, "#/orderPackages")
        assert len(refused.content) < 2000


class TestAText:
    def test_with_null_bytes_or_lone_surrogates_is_refused(self, api):
        assert_values_refused(api, [*TEXTS, *CHOICES, *ZIPCODES], ["a\x00b", "\ud800", "ok \udfff", "\udc00\ud800"])

    def test_is_returned_letter_for_letter(self, api):
        street = 'Rua São João, 1º "fundos" <b>\\ \N{SCOOTER}\N{ZERO WIDTH JOINER}\u2028.'

        response = send(api, REQUEST, changed("#/dropoffs/0/address/street", street))

        assert response.json()["orders"][0]["address"]["street"] == street

    def test_may_be_a_whole_number(self, api):
        response = send(api, REQUEST, changed("#/dropoffs/0/externalId", 1001))

        assert response.json()["orders"][0]["externalId"] == "1001"

    def test_keeps_the_space_around_it_in_an_external_id_only(self, api):
        texts = [" A-1", "A-1 ", "\tA-1\n", "  A  1  ", "\N{NO-BREAK SPACE}é\N{NO-BREAK SPACE}", " " * 255, "0042", "é"]
        seen = []

        for text in texts:
            body = changed("#/dropoffs/0/externalId", text)
            body["dropoffs"][0]["address"]["street"] = "  Rua  A "
            created = api.post(REQUEST, body).json()
            key = created["deliveryId"]
            event = json.loads(WebhookEvent.objects.get(delivery=key).body)
            bodies = [created, event, api.get(INFO.format(key)).json(), api.get(LOCATION.format(key)).json()]
            seen.append({each["orders"][0]["externalId"] for each in bodies})
            assert created["orders"][0]["address"]["street"] == "Rua  A"

        assert seen == [{text} for text in texts]


class TestANumber:
    def test_that_is_huge_is_refused(self, api):
        texts = ["1" + "0" * 400, "1e308", "-1e308", "1e400", "-1e400", '"1e400"', '"1e99999"']

        assert_values_refused(api, [*COORDINATES, *MEASURES, QUANTITY], texts, with_literal)

    @pytest.mark.parametrize("pointer", ["#/pickup/address/latitude", QUANTITY, "#/vehicleType"])
    def test_of_5000_digits_is_refused(self, api, pointer):
        for digits in ("1" * 5000, "-" + "9" * 5000):
            assert_problem(send(api, REQUEST, with_literal(pointer, digits)), 422, "malformed_body")

        assert_nothing_written()

    def test_that_is_no_measure_is_refused(self, api):
        assert_values_refused(api, MEASURES, [0, -1, -0.0, "0", "-2.5"])

    def test_that_is_no_quantity_is_refused(self, api):
        assert_values_refused(api, [QUANTITY], [0, -1, 1.5, "1.5", "many", 1e20])

    @pytest.mark.parametrize("spelling", ["-23.55", " -23.55 ", "-2355e-2", "-23.550000"])
    def test_spelled_as_text_is_returned_as_a_number(self, api, spelling):
        body = changed("#/dropoffs/0/address/latitude", spelling)

        order = send(api, REQUEST, body).json()["orders"][0]

        assert order["coordinates"]["latitude"] == -23.55
        assert order["address"]["latitude"] == -23.55

    def test_of_a_package_may_be_spelled_as_text(self, api):
        assert_values_taken(api, [*MEASURES, QUANTITY], ["2"])


class TestAChoice:
    def test_of_an_unknown_vehicle_is_refused(self, api):
        assert_values_refused(api, ["#/vehicleType"], ["TRUCK", "motorcycle", "CAR ", "", 1, "x" * 10_000])

    def test_of_an_unknown_mode_is_refused(self, api):
        assert_values_refused(api, ["#/deliveryMode"], ["EXPRESS", "default", "return", "", 0])


class TestDropoffs:
    @pytest.mark.parametrize("coordinates", [{"latitude": -23.55}, {"longitude": -46.65}])
    def test_have_their_place_whole_in_address_or_coordinates(self, api, coordinates):
        body = changed("#/dropoffs/0/coordinates", coordinates)
        given = next(iter(coordinates))
        del body["dropoffs"][0]["address"][given]

        response = send(api, REQUEST, body)

        assert_field_refused(response, f"#/dropoffs/0/address/{given}")
        assert_nothing_written()


class TestAZipcode:
    def test_that_has_not_eight_digits_is_refused(self, api):
        short, separated = ["0131020", "013102000"], ["0131-0200", "01310--200", "01310  200", "01310_200"]

        assert_values_refused(api, ZIPCODES, [*short, *separated, "0131020a", "٠١٣١٠٢٠٠"])

    def test_may_be_blank(self, api):
        response = send(api, REQUEST, changed("#/dropoffs/0/address/zipcode", " "))

        assert response.json()["orders"][0]["address"]["zipcode"] == ""

    @in_turn("value", ["01310-200", "01310200", "01.310-200", "01310 200", " 01310 - 200 "])
    def test_is_returned_as_digits_only(self, api, value):
        response = send(api, REQUEST, changed("#/dropoffs/0/address/zipcode", value))

        assert response.json()["orders"][0]["address"]["zipcode"] == "01310200"
