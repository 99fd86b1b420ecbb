"""The limits of JSON bodies of area B, exactly at each limit and one past it."""

import json

import pytest

from integration.models import Order
from tests.integration.factories import order_body

ORDERS, QUOTE = "/api/integration/orders", "/api/integration/shipping/quote"


def send(api, path, text):
    return api.generic("POST", path, text, content_type="application/json")


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
class TestNesting:
    def body(self, levels, opening, closing):  # of which the body itself is the first
        deep = f"{opening * (levels - 1)}1{closing * (levels - 1)}"
        return f'{json.dumps(order_body())[:-1]}, "unknown": {deep}}}'

    def test_of_100_levels_is_taken(self, api, opening, closing):
        assert send(api, ORDERS, self.body(100, opening, closing)).status_code == 201

    def test_of_101_levels_is_refused(self, api, opening, closing):
        response = send(api, ORDERS, self.body(101, opening, closing))

        assert (response.status_code, response.json()["errors"]) == (422, {"body": ["O corpo tem mais de 100 níveis"]})
        assert Order.objects.count() == 0


@pytest.mark.parametrize(("excess", "status"), [(0, 201), (1, 413)])
def test_a_body_may_have_256_kib(api, excess, status):
    text = json.dumps(order_body())

    response = send(api, ORDERS, text + " " * (256 * 1024 - len(text.encode()) + excess))

    assert response.status_code == status
    assert Order.objects.count() == (1 if status == 201 else 0)
