"""CPU time with worst-case values in every JSON field of both APIs. The fields are read from the serializers."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from rest_framework.fields import Field
from rest_framework.serializers import BaseSerializer, ListSerializer, Serializer

import delivery.api.urls
import integration.api.urls
from delivery.api import sandbox
from delivery.api import serializers as area_a
from integration.api import serializers as area_b
from tests.cost.cpu import assert_cheap
from tests.cost.worst import json_values
from tests.cost.wsgi import ask
from tests.factories import payload
from tests.integration.factories import order_body

# CPU seconds. The slowest case needs a fifth of this; quadratic code would need minutes at this size.
SECONDS = 1

# Path: its serializer, and a function that returns a valid body. {} is replaced by the id of a delivery.
BODIES: dict[str, tuple[type[Serializer[Any]], Callable[[], dict[str, Any]]]] = {
    "/api/request-delivery": (area_a.DeliveryRequestSerializer, payload),
    "/api/quotation-delivery": (area_a.DeliveryRequestSerializer, payload),
    "/api/cancel-delivery/{}": (area_a.CancelSerializer, dict),
    "/api/sandbox/deliveries/{}/deliver/B": (sandbox.DeliverSerializer, dict),
    "/api/sandbox/deliveries/{}/fail/B": (sandbox.FailSerializer, dict),
    "/api/sandbox/deliveries/{}/position": (
        sandbox.PositionSerializer,
        lambda: {"latitude": -23.5, "longitude": -46.6},
    ),
    "/api/integration/shipping/quote": (
        area_b.QuoteSerializer,
        lambda: {"origin": "01310100", "destination": "40010000"},
    ),
    "/api/integration/shipping/services": (
        area_b.QuoteSerializer,
        lambda: {"origin": "01310100", "destination": "40010000"},
    ),
    "/api/integration/orders": (area_b.OrderSerializer, order_body),
    "/api/integration/orders/cancel": (area_b.CancelSerializer, dict),
}
# Endpoints without a JSON body, tested in test_requests.py and test_invoices.py.
OTHERS = {
    "info-delivery", "location-delivery", "deliveries", "delivery", "events", "proof-photo", "orders-tracking",
    "invoices-marketplace", "order",
    "sandbox-accept", "sandbox-collect", "sandbox-return", "sandbox-expire",
}  # fmt: skip  # a list of names
# The last part of an endpoint's path where it is not its name.
LAST_PARTS = {
    "shipping-quote": "quote", "shipping-services": "services", "orders-cancel": "cancel",
    "sandbox-deliver": "B", "sandbox-fail": "B", "sandbox-position": "position",
}  # fmt: skip  # likewise


def kind(serializer: Serializer[Any], name: str, field: Field[Any, Any, Any, Any]) -> tuple[object, ...]:
    """What reads a field's value. Fields of one kind differ in their names alone, and one of them is tested."""
    if isinstance(field, BaseSerializer) or hasattr(serializer, f"validate_{name}"):
        return type(serializer), name
    return type(field), repr(field._kwargs)  # type: ignore[attr-defined]  # missing in the stubs


def pointers(serializer, above=()):
    """The path (keys and indexes) and the kind of every field of a serializer; of a list only the first item."""
    for name, field in serializer.fields.items():
        place = (*above, name)
        yield place, kind(serializer, name, field)
        if isinstance(field, ListSerializer):
            yield (*place, 0), (type(serializer), name, 0)
            yield from pointers(field.child, (*place, 0))
        elif isinstance(field, Serializer):
            yield from pointers(field, place)


def places(serializer: Serializer[Any], tested: set[tuple[object, ...]]) -> Iterator[tuple[str | int, ...]]:
    """The paths of the fields of kinds that are not in `tested`, to which these are added."""
    yield ()
    for place, of in pointers(serializer):
        if of not in tested:
            tested.add(of)
            yield place


_TESTED: set[tuple[object, ...]] = set()
FIELDS = [
    pytest.param(path, place, id=f"{path}#{'/'.join(map(str, place))}")
    for path, (serializer, _body) in BODIES.items()
    for place in places(serializer(), _TESTED)
]


def body_with(body, place, value):
    """The body as JSON with `value`, a JSON text, at the path `place`. () replaces the whole body."""
    if not place:
        return value.encode()
    mark = "the worst"
    *above, last = place
    inner = body
    for name, after in zip(above, place[1:], strict=True):
        if isinstance(inner, dict):
            inner.setdefault(name, [{}] if after == 0 else {})
        inner = inner[name]
    inner[last] = mark
    return json.dumps(body, ensure_ascii=False).replace(json.dumps(mark), value).encode()


def post(path, body, headers):
    answer = ask("POST", path, headers=headers, body=body)
    assert len(body) < 256 * 1024  # a larger body would be refused for its size
    assert answer.status in {200, 201, 400, 401, 404, 422}, answer


def test_every_endpoint_is_here():
    names = {pattern.name for urls in (delivery.api.urls, integration.api.urls) for pattern in urls.urlpatterns}

    assert {path.removesuffix("/{}").rpartition("/")[2] for path in BODIES} | OTHERS == {
        LAST_PARTS.get(name, name) for name in names
    }


@pytest.mark.parametrize("path", BODIES)
def test_the_body_reaches_the_endpoint(path, headers_for, address_of):
    _serializer, body = BODIES[path]

    answer = ask("POST", address_of(path), headers=headers_for(path), body=json.dumps(body()).encode())

    assert answer.status in ({400} if path.endswith("orders/cancel") else {200, 201}), answer


@pytest.mark.parametrize(("path", "place"), FIELDS)
def test_the_worst_of_a_field_is_cheap(path, place, headers_for, address_of):
    _serializer, body = BODIES[path]
    address, headers = address_of(path), headers_for(path)

    def post_with(value):
        post(address, body_with(body(), place, value), headers)

    assert_cheap({name: partial(post_with, value) for name, value in json_values().items()}, seconds=SECONDS)
