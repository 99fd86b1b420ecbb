"""Delivery ids that are none."""

import pytest

from delivery.models import Delivery
from tests.delivery.api.calls import (
    CANCEL,
    DETAIL,
    INFO,
    LOCATION,
    UNKNOWN,
    assert_problem,
    send,
)
from tests.factories import DeliveryFactory

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
    @pytest.mark.parametrize("endpoint", [INFO, LOCATION, DETAIL])
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
