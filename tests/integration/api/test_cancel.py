from typing import Any

import pytest
from django.utils import timezone

from integration.actions import orders
from integration.lifecycle import Status
from integration.models import ApiKey, StatusLog
from tests.integration.factories import BY, create_order

URL = "/api/integration/orders/cancel"


class TestCancel:
    def test_answers_and_appends_to_the_log(self, api, seller):
        create_order(seller)

        response = api.post(URL, {"orderId": "A-1"})

        assert response.status_code == 200
        assert response.json() == {"success": True, "message": "Objeto cancelado com sucesso"}
        first, last = StatusLog.objects.all()
        assert [(each.status, each.via_api) for each in (first, last)] == [("pending", True), ("cancelled", True)]
        assert (first.by, last.by) == (BY, f"key {ApiKey.objects.get().hint}")

    @pytest.mark.parametrize("end", [Status.DELIVERED, Status.CANCELLED])
    def test_is_refused_at_the_end(self, api, seller, end):
        orders.move(order=create_order(seller), to=end, by=BY, at=timezone.now())

        response = api.post(URL, {"orderId": "A-1"})

        assert response.status_code == 400
        assert response.json().keys() == {"success", "message", "code"}
        assert StatusLog.objects.count() == 2

    @pytest.mark.parametrize("method", ["post", "delete", "put"])
    def test_by_a_path_with_the_order_id_is_told_the_right_path(self, api, seller, method):
        create_order(seller)

        response = getattr(api, method)("/api/integration/orders/A-1/cancel")

        assert (response.status_code, response.json()["code"]) == (405, "method_not_allowed")
        assert 'POST /api/integration/orders/cancel com o corpo {"orderId"' in response.json()["message"]
        assert StatusLog.objects.count() == 1

    def test_needs_the_order_id(self, api):
        bodies: list[dict[str, Any]] = [{}, *({"orderId": value} for value in (None, "", True, "a\0"))]

        assert [api.post(URL, body).status_code for body in bodies] == [400] * 5
