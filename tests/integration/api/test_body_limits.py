"""The limits of JSON bodies of area B, exactly at each limit and one past it."""

import json

import pytest

from integration.models import Order
from tests.integration.factories import order_body


def nested(levels):
    """An order with an unknown key. Of the levels the body itself is the first."""
    return f'{json.dumps(order_body())[:-1]}, "unknown": {"[" * (levels - 1)}1{"]" * (levels - 1)}}}'


def of_bytes(number):
    text = json.dumps(order_body())
    return text + " " * (number - len(text))


def test_a_byte_order_mark_is_named(api):
    response = api.generic(
        "POST", "/api/integration/orders", "\ufeff" + json.dumps(order_body()), content_type="application/json"
    )

    assert (response.status_code, response.json()["code"]) == (422, "malformed_body")
    assert "marca de ordem de bytes (BOM" in response.json()["errors"]["body"][0]
    assert Order.objects.count() == 0


@pytest.mark.parametrize(
    ("body", "status"),
    [(nested(100), 201), (nested(101), 422), (of_bytes(256 * 1024), 201), (of_bytes(256 * 1024 + 1), 413)],
    ids=["100 levels", "101 levels", "256 KiB", "more bytes"],
)
def test_a_body_is_limited(api, body, status):
    response = api.generic("POST", "/api/integration/orders", body, content_type="application/json")

    assert response.status_code == status
    assert Order.objects.count() == (1 if status == 201 else 0)
