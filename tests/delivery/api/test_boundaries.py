"""Every limit of a DeliveryRequest, exactly at it and one past it, and text that has to come back byte for byte."""

import json

import pytest

from delivery.geo import service_area
from delivery.models import WebhookEvent
from tests.delivery.api.calls import (
    INFO,
    LOCATION,
    QUOTE,
    REQUEST,
    assert_field_refused,
    assert_nothing_written,
    assert_problem,
    changed,
    send,
)
from tests.factories import payload

pytestmark = pytest.mark.django_db
PACKAGE = "#/orderPackages/0"
# Pointer, a value at the limit, a value one past it.
LIMITS = [
    (f"{PACKAGE}/height", 1_000_000_000, 1_000_000_001),
    (f"{PACKAGE}/width", 1_000_000_000, 1_000_000_001),
    (f"{PACKAGE}/length", 5e-324, 0),
    (f"{PACKAGE}/weight", 0.000_001, 0),
    (f"{PACKAGE}/quantity", 1, 0),
    (f"{PACKAGE}/quantity", "1", "0"),
    (f"{PACKAGE}/height", "1" + "." + "0" * 62, "1" + "." + "0" * 63),  # 64 and 65 characters
    (f"{PACKAGE}/height", "1e000", "1e0000"),
    ("#/pickup/address/zipcode", "01310-200", "01310-2000"),
    ("#/pickup/address/zipcode", "01310200", "0131020"),
    ("#/dropoffs/0/address/zipcode", "01310200", "013102000"),
]


@pytest.fixture
def path():
    """quotation-delivery reads its body by the same serializer: test_quotation_delivery.py."""
    return REQUEST


class TestALimit:
    @pytest.mark.parametrize(("pointer", "at_limit"), [(pointer, value) for pointer, value, _past in LIMITS])
    def test_is_within_the_range(self, api, pointer, at_limit):
        assert send(api, REQUEST, changed(pointer, at_limit)).status_code == 201

    @pytest.mark.parametrize(("pointer", "past"), [(pointer, value) for pointer, _at, value in LIMITS])
    def test_is_the_end_of_the_range(self, api, pointer, past):
        assert_field_refused(send(api, REQUEST, changed(pointer, past)), pointer)
        assert_nothing_written()

    @pytest.mark.parametrize("quantity", [1_000_000_000, "1000000000"])
    def test_of_a_quantity_is_a_thousand_million(self, api, quantity):
        at_limit = payload(orderPackages=[{"quantity": quantity}])
        past = payload(orderPackages=[{"quantity": 1_000_000_001}])

        assert api.post(QUOTE, at_limit).status_code == 200
        assert_field_refused(api.post(QUOTE, past), f"{PACKAGE}/quantity")

    @pytest.mark.parametrize(("name", "limit"), [("latitude", 90), ("longitude", 180)])
    @pytest.mark.parametrize("sign", [1, -1])
    @pytest.mark.parametrize("place", ["#/pickup/address", "#/dropoffs/0/address"])
    def test_of_a_coordinate_is_its_pole_or_meridian(self, api, settings, place, name, limit, sign):
        settings.SERVICE_AREA = service_area.parse("-90,-180,90,180")
        pointer = f"{place}/{name}"

        # At the limit the point is valid, and too far away for a price.
        assert_problem(send(api, QUOTE, changed(pointer, sign * limit)), 400, "price_unavailable")
        assert_field_refused(send(api, QUOTE, changed(pointer, sign * (limit + 1e-9))), pointer)

    @pytest.mark.parametrize("count", [1, 2, 3])
    def test_of_dropoffs_is_three(self, api, count):
        dropoffs = payload(stops=1)["dropoffs"]

        assert api.post(REQUEST, payload(stops=count)).status_code == 201
        assert_field_refused(api.post(QUOTE, payload(dropoffs=dropoffs * 4)), "#/dropoffs")

    def test_of_packages_is_200(self, api):
        assert api.post(QUOTE, payload(orderPackages=[{"quantity": 1}] * 200)).status_code == 200
        assert_field_refused(api.post(QUOTE, payload(orderPackages=[{"quantity": 1}] * 201)), "#/orderPackages")

    @pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
    def test_of_nesting_is_20_levels(self, api, path, opening, closing):
        def body(levels):  # of which the body itself is the first
            deep = f"{opening * (levels - 1)}1{closing * (levels - 1)}"
            return f'{json.dumps(payload())[:-1]}, "unknown": {deep}}}'

        assert send(api, path, body(20)).status_code in {200, 201}
        problem = assert_problem(send(api, path, body(21)), 422, "malformed_body")
        assert "deeper than 20 levels" in problem["detail"]


class TestAnExternalId:
    @pytest.mark.parametrize(
        "text", [" A-1", "A-1 ", "\tA-1\n", "  A  1  ", "\N{NO-BREAK SPACE}é\N{NO-BREAK SPACE}", " " * 255, "0042", "é"]
    )
    def test_comes_back_byte_for_byte_in_answers_and_events(self, api, text):
        created = api.post(REQUEST, changed("#/dropoffs/0/externalId", text)).json()

        key = created["deliveryId"]
        event = json.loads(WebhookEvent.objects.get(delivery=key).body)
        bodies = [created, event, api.get(INFO.format(key)).json(), api.get(LOCATION.format(key)).json()]
        assert [body["orders"][0]["externalId"] for body in bodies] == [text] * 4

    def test_is_the_only_text_that_keeps_the_space_around_it(self, api):
        body = changed("#/dropoffs/0/address/street", "  Rua  A ")

        created = api.post(REQUEST, body).json()

        assert created["orders"][0]["address"]["street"] == "Rua  A"
