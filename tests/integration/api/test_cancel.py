from typing import Any

import pytest
from django.utils import timezone

from integration.actions import orders
from integration.lifecycle import Status
from integration.models import Order, StatusLog
from tests.integration.factories import BY, OTHER_COMPANY, create_order

URL = "/api/integration/orders/cancel"


def move(order, status):
    orders.move(order=order, to=status, by=BY, at=timezone.now())


class TestCancel:
    def test_answers_and_appends_to_the_log(self, api, seller):
        create_order(seller)

        response = api.post(URL, {"orderId": "A-1"})

        assert response.status_code == 200
        assert response.json() == {"success": True, "message": "Objeto cancelado com sucesso"}
        assert [*StatusLog.objects.values_list("status", "via_api")] == [("pending", True), ("cancelled", True)]

    def test_is_possible_while_under_way(self, api, seller):
        move(create_order(seller), Status.OUT_FOR_DELIVERY)

        assert api.post(URL, {"orderId": "A-1"}).status_code == 200

    @pytest.mark.parametrize("end", [Status.DELIVERED, Status.CANCELLED])
    def test_is_refused_at_the_end(self, api, seller, end):
        move(create_order(seller), end)

        response = api.post(URL, {"orderId": "A-1"})

        assert response.status_code == 400
        assert response.json().keys() == {"success", "message", "code"}
        assert StatusLog.objects.count() == 2

    def test_needs_the_order_id(self, api):
        bodies: list[dict[str, Any]] = [{}, *({"orderId": value} for value in (None, "", 1, "a\0"))]

        assert [api.post(URL, body).status_code for body in bodies] == [400] * 5

    def test_does_not_know_another_sellers_order(self, api, other_seller):
        create_order(other_seller, company_document=OTHER_COMPANY)

        response = api.post(URL, {"orderId": "A-1"})

        assert response.status_code == 404
        assert response.json()["success"] is False
        assert Order.objects.get().status == "pending"
