"""Moves by hand with a test token."""

from datetime import timedelta

import pytest
from django.utils import timezone

from delivery.models import DriverPosition
from tests.delivery.api.calls import (
    DETAIL,
    LOCATION,
)
from tests.delivery.api.sandbox.sandbox_calls import MOVE, request
from tests.delivery.simulated import statuses
from tests.factories import DeliveryFactory

pytestmark = pytest.mark.django_db


class TestMoves:
    def test_lead_through_a_whole_delivery(self, api):
        delivery = request(api, "sim-manual-1")
        seen = []

        for move in ("accept", "collect", "deliver/B"):
            response = api.post(MOVE.format(delivery.pk, move))
            body = response.json()
            seen.append((response.status_code, body["status"], body["route"]["status"]))
            assert body == api.get(DETAIL.format(delivery.pk)).json()

        assert seen == [
            (200, "ACCEPT", "ACCEPTED"),
            (200, "COLLECTED", "COLLECTED"),
            (200, "DELIVERED", "FINISHED"),
        ]
        assert statuses(delivery) == ["PENDING", "ACCEPT", "COLLECTED", "DELIVERED"]

    def test_are_recorded_with_the_token(self, api, token, delivery):
        api.post(MOVE.format(delivery.pk, "accept"))

        assert delivery.transitions.last().by == f"token {token.hint}"

    def test_of_accept_show_a_driver_near_a(self, api, delivery):
        api.post(MOVE.format(delivery.pk, "accept"))

        located = api.get(LOCATION.format(delivery.pk)).json()
        assert located["tracking"]["available"] is True
        assert DriverPosition.objects.count() == 1

    @pytest.mark.parametrize(
        ("body", "reason"),
        [
            (None, "Simulated failure: nobody received the order."),
            ({}, "Simulated failure: nobody received the order."),
            ({"reason": None}, "Simulated failure: nobody received the order."),
            ({"reason": "  "}, "Simulated failure: nobody received the order."),
            ({"reason": " closed "}, "closed"),
        ],
    )
    def test_of_fail_take_a_reason(self, api, token, body, reason):
        delivery = DeliveryFactory.create(token=token, collected=True)

        response = api.post(MOVE.format(delivery.pk, "fail/b"), body)

        assert response.json()["orders"][0]["failureReason"] == reason

    def test_of_position_set_the_drivers_position(self, api, token):
        delivery = DeliveryFactory.create(token=token, collected=True)

        response = api.post(MOVE.format(delivery.pk, "position"), {"latitude": -23.5612345678, "longitude": "-46.5"})

        coordinates = {"latitude": -23.5612345678, "longitude": -46.5}
        assert response.json()["driver"]["coordinates"] == coordinates

    def test_of_expire_need_no_deadline(self, api, delivery):
        response = api.post(MOVE.format(delivery.pk, "expire"))

        assert (response.json()["status"], response.json()["route"]["status"]) == ("FAILED", "EXPIRED")
        assert delivery.offer_expires_at > timezone.now() + timedelta(minutes=50)
