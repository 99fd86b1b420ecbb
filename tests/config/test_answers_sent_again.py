"""What an API answers of a delivery or an order, sent to it as a request: the same delivery or order once more."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from rest_framework.test import APIClient

from tests.factories import payload
from tests.integration.conftest import seller
from tests.integration.factories import key_of, order_body

__all__ = ["seller"]

ODD = "'=1; \"D'Ávila\", e\u0301 \N{SCOOTER}\u2028 0012"


def a_delivery() -> Any:
    body = payload(stops=2, deliveryMode="RETURN")
    body["orderPackages"][0] |= {"description": ODD, "weight": 0.001, "height": 1e-7}
    first, second = body["dropoffs"]
    for place in (body["pickup"], first, second):
        place["address"]["zipcode"] = "01310200"
    first["address"] |= {"complement": ODD, "number": "007", "latitude": -23.5520001}
    second |= {"externalId": f" {ODD} ", "instructions": ODD, "proof": {"photo": True}, "onFailure": "LEAVE"}
    return body


def requested(detail: Any) -> Any:
    """A delivery's answer as the request for another one."""
    same = {key: detail[key] for key in ("pickup", "deliveryMode", "orderPackages")}
    dropoffs = [
        {**{key: value for key, value in each.items() if key != "trackingUrl"}, "proof": {"photo": needs_photo}}
        for each in detail["orders"]
        for needs_photo in [each["proof"]["photoRequired"]]
    ]
    return {**same, "vehicleType": detail["route"]["vehicleType"], "dropoffs": dropoffs}


def an_order() -> Any:
    body = order_body(orderCost=0.3, volumes=99)
    body["items"][0] |= {"description": ODD, "price": "0.0001", "quantity": 2**63 - 1, "dimensions": "1x1x1,0.000001"}
    body["receiver"]["address"] |= {"complement": ODD, "zipCode": "01.310-100", "streetNumber": "007"}
    body["invoice"] |= {"series": "001", "issueDate": "0001-01-01 00:00:00", "value": 0.005}
    return body


def ordered(answer: Any) -> Any:
    """An order's answer as the request for another one."""
    return {key: answer["data"][key] for key in order_body(volumes=1)}


class Area(NamedTuple):
    request: str
    body: Callable[[], Any]
    detail: str  # by the answer and the request
    as_request: Callable[[Any], Any]
    own: tuple[str, ...]  # keys that differ from one to the next


AREAS = {
    "delivery": Area(
        "/api/request-delivery", a_delivery, "/api/deliveries/{deliveryId}", requested, ()
    ),
    "order": Area(
        "/api/integration/orders", an_order, "/api/integration/orders/{orderId}", ordered, ("orderId", "trackingCode"),
    ),
}  # fmt: skip  # a table


def says(shown: Any, sent: Any) -> bool:
    """Whether an answer has everything that was sent. An amount may be sent as text."""
    if isinstance(sent, dict):
        return all(says(shown[key], value) for key, value in sent.items())
    if isinstance(sent, list):
        return len(shown) == len(sent) and all(map(says, shown, sent))
    return bool(shown == sent or (isinstance(shown, float) and shown == float(sent)))


@pytest.mark.parametrize("name", AREAS)
def test_is_the_same_again(token, seller, name):
    area, of = AREAS[name], {"delivery": f"Bearer {token.clear_text}", "order": f"Basic {key_of(seller)}"}
    client = APIClient(HTTP_AUTHORIZATION=of[name])

    def made(body: Any) -> Any:
        answer = client.post(area.request, body, format="json")
        assert answer.status_code == 201, answer.content
        return area.as_request(client.get(area.detail.format(**{**body, **answer.json()})).json())

    sent = area.body()
    first = made(sent)
    again = made(first | dict.fromkeys(area.own, "B-1"))

    assert says(first, sent), first
    assert again == first | dict.fromkeys(area.own, "B-1")
