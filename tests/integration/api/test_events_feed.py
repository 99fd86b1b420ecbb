"""GET /api/integration/events: what webhooks carried."""

import json

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from common.accounts import Environment
from integration.actions import orders
from integration.lifecycle import Status
from integration.models import WebhookEvent
from integration.webhooks import outbox
from tests.integration.factories import BY, create_order, key_of

pytestmark = pytest.mark.django_db
EVENTS = "/api/integration/events"


def read(client, **query):
    response = client.get(EVENTS, query)
    assert response.status_code == 200, response.content
    return response.json()


class TestFeed:
    def test_answers_what_the_webhook_carries_without_a_url(self, api, seller):
        create_order(seller)

        (found,) = read(api)["data"]

        event = WebhookEvent.objects.get()
        assert found == {
            "id": str(event.pk),
            "sequence": 1,
            "createdAt": event.created_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "sentAt": None,
            "state": "unaddressed",
            "body": json.loads(event.body),
        }

    def test_goes_on_after_a_page_and_at_its_end(self, api, seller):
        order = create_order(seller)
        orders.move(order=order, to=Status.COLLECTED, by=BY, at=timezone.now())

        first = read(api, limit=1)
        second = read(api, limit=1, after=first["nextCursor"])
        third = read(api, after=second["nextCursor"])
        orders.move(order=order, to=Status.DELIVERED, by=BY, at=timezone.now())
        fourth = read(api, after=third["nextCursor"])

        pages = [[event["body"]["status"] for event in page["data"]] for page in (first, second, third, fourth)]
        assert pages == [["pending"], ["collected"], [], ["delivered"]]
        assert all(page["success"] for page in (first, second, third, fourth))

    def test_has_nothing_of_another_seller_or_environment(self, seller, other_seller, seller_client):
        create_order(seller)
        of_sandbox = APIClient(HTTP_AUTHORIZATION=f"Basic {key_of(seller, Environment.SANDBOX)}")

        assert read(seller_client(other_seller))["data"] == []
        assert read(of_sandbox)["data"] == []

    def test_refuses_the_cursor_of_another_seller_or_environment(self, api, seller, other_seller, seller_client):
        of_sandbox = APIClient(HTTP_AUTHORIZATION=f"Basic {key_of(seller, Environment.SANDBOX)}")

        for other in (seller_client(other_seller), of_sandbox):
            response = api.get(EVENTS, {"after": read(other)["nextCursor"]})

            assert response.status_code == 422
            assert list(response.json()["errors"]) == ["after"]

    def test_leaves_test_events_out(self, api, seller):
        read(api)
        endpoint = seller.endpoints.get()
        WebhookEvent.objects.create(endpoint=endpoint, sequence=1, name="pending", body="{}", created_at=timezone.now())

        assert read(api)["data"] == []


class TestOfOrders:
    def test_has_the_events_of_these_orders_alone(self, api, seller):
        for code in ("A-1", "B,1", "C-1"):
            create_order(seller, orderId=code, trackingCode=None)

        pages = [read(api, orderId=code)["data"] for code in ("A-1", "A-1,C-1", "B,1", "a1", "Z")]

        found = [[event["body"]["orderId"] for event in page] for page in pages]
        assert found == [["A-1"], ["A-1", "C-1"], ["B,1"], ["A-1"], []]

    def test_finds_nothing_of_another_seller(self, seller, other_seller, seller_client):
        create_order(seller, orderId="A-1")

        assert read(seller_client(other_seller), orderId="A-1")["data"] == []

    def test_are_found_among_more_than_are_recorded_at_once(self, api, seller, monkeypatch):
        """Without a URL events are written when they are read."""
        monkeypatch.setattr(outbox, "_MOST_ORDERS", 1)
        create_order(seller, orderId="A-1", trackingCode=None)
        create_order(seller, orderId="A-2", trackingCode=None)

        assert [event["body"]["orderId"] for event in read(api, orderId="A-2")["data"]] == ["A-2"]


class TestFrom:
    def test_begins_at_the_moment(self, api, seller):
        order = create_order(seller)
        moment = timezone.now()
        orders.move(order=order, to=Status.COLLECTED, by=BY, at=timezone.now())

        found = read(api, **{"from": moment.isoformat()})

        assert [event["body"]["status"] for event in found["data"]] == ["collected"]
        assert read(api, after=found["nextCursor"])["data"] == []
