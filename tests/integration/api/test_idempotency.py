from datetime import timedelta

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from common.accounts import Environment
from integration.models import IdempotencyRecord, Order, StatusLog
from integration.tasks import prune_idempotency_records
from tests.integration.factories import OTHER_COMPANY, key_of, order_body

URL = "/api/integration/orders"
KEY = {"HTTP_IDEMPOTENCY_KEY": "order-1"}


def counts():
    return Order.objects.count(), StatusLog.objects.count()


class TestARepeatedOrder:
    def test_is_answered_with_the_first_answer_and_creates_nothing(self, api):
        first = api.post(URL, order_body(trackingCode=None), **KEY)

        second = api.post(URL, order_body(trackingCode=None), **KEY)

        assert (first.status_code, second.status_code) == (201, 201)
        assert second.content == first.content
        assert "Idempotency-Replayed" not in first
        assert second["Idempotency-Replayed"] == "true"
        assert counts() == (1, 1)

    def test_with_another_body_is_refused(self, api):
        api.post(URL, order_body(), **KEY)

        response = api.post(URL, order_body(orderCost=150.51), **KEY)

        assert response.status_code == 422
        assert response.json()["code"] == "idempotency_key_reused"
        assert counts() == (1, 1)

    def test_by_another_seller_is_another_order(self, api, other_seller, seller_client):
        api.post(URL, order_body(), **KEY)

        response = seller_client(other_seller).post(URL, order_body(company_document=OTHER_COMPANY), **KEY)

        assert response.status_code == 201
        assert "Idempotency-Replayed" not in response
        assert counts() == (2, 2)

    def test_in_the_sandbox_is_another_order(self, api, seller):
        first = api.post(URL, order_body(trackingCode=None), **KEY)
        sandbox = APIClient(HTTP_AUTHORIZATION=f"Basic {key_of(seller, Environment.SANDBOX)}")

        response = sandbox.post(URL, order_body(trackingCode=None), HTTP_IDEMPOTENCY_KEY="order-1")

        assert (first.status_code, response.status_code, counts()) == (201, 201, (2, 2))
        assert "Idempotency-Replayed" not in response


class TestARefusal:
    @pytest.mark.parametrize(
        ("changes", "status"),
        [
            ({"orderId": "A-1"}, 400),
            ({"company_document": OTHER_COMPANY}, 401),
            ({"company_document": "00000000000191"}, 404),
            ({"items": []}, 422),
        ],
    )
    def test_is_not_kept_so_that_the_corrected_call_may_have_the_same_key(self, api, other_seller, changes, status):
        api.post(URL, order_body())
        first, again = (api.post(URL, order_body(orderId="A-2") | changes, **KEY) for _time in range(2))
        assert (first.status_code, again.status_code, again.content) == (status, status, first.content)
        assert "Idempotency-Replayed" not in again
        assert counts() == (1, 1)

        corrected = api.post(URL, order_body(orderId="A-2", trackingCode=None), **KEY)

        assert (corrected.status_code, counts()) == (201, (2, 2))
        assert "Idempotency-Replayed" not in corrected

    def test_of_a_key_says_what_a_key_is(self, api):
        for key in ("", "x" * 256, "ação"):
            response = api.post(URL, order_body(), HTTP_IDEMPOTENCY_KEY=key)

            assert (response.status_code, response.json()["code"]) == (422, "invalid_idempotency_key")
        assert counts() == (0, 0)


def test_records_are_deleted_after_24_hours(api):
    api.post(URL, order_body(), **KEY)
    IdempotencyRecord.objects.update(created_at=timezone.now() - timedelta(hours=24, seconds=1))

    prune_idempotency_records()

    assert not IdempotencyRecord.objects.exists()
    assert counts() == (1, 1)
