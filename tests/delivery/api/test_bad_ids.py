"""Delivery ids that are none."""

import pytest

from delivery.models import Delivery
from tests.delivery.api.calls import CANCEL, DETAIL, INFO, LOCATION, UNKNOWN, assert_problem, send
from tests.factories import DeliveryFactory

BAD_IDS = [
    "1",
    "order-1",
    "not-a-uuid",
    UNKNOWN[:-1],
    UNKNOWN + "0",
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
    def test_of_another_form_is_404_on_queries_and_422_on_cancel(self, api, token):
        key = DeliveryFactory.create(token=token).pk
        spellings = [*BAD_IDS, key.hex, f"{{{key}}}", f"urn:uuid:{key}"]

        for spelling in spellings:
            for endpoint in (INFO, LOCATION, DETAIL):
                assert_problem(api.get(endpoint.format(spelling)), 404, "delivery_not_found")
            assert_problem(send(api, CANCEL.format(spelling), {}), 422, "invalid_delivery_id")

        assert Delivery.objects.get().status == "PENDING"

    def test_in_capitals_is_the_same_one(self, api, token):
        delivery = DeliveryFactory.create(token=token)

        response = api.get(INFO.format(str(delivery.pk).upper()))

        assert response.json()["deliveryId"] == str(delivery.pk)
