"""Requests to the API of area A, and assertions about its responses."""

import json
from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

from rest_framework.test import APIClient

from delivery.models import Delivery, Stop, Transition, WebhookEvent
from tests import endpoints
from tests.factories import payload

QUOTE, REQUEST = "/api/quotation-delivery", "/api/request-delivery"
CANCEL, INFO, LOCATION = "/api/cancel-delivery/{}", "/api/info-delivery/{}", "/api/location-delivery/{}"
LIST, DETAIL, EVENTS = "/api/deliveries", "/api/deliveries/{}", "/api/events"
ENDPOINTS = [(each.method, each.path) for each in endpoints.ENDPOINTS if not each.is_of_sellers]
UNKNOWN = "0190b5a0-7c3e-7d5a-9f00-000000000001"

MISSING = object()


def changed(pointer: str, value: Any) -> dict[str, Any]:
    """A payload with `value` at the JSON Pointer; MISSING removes the key."""
    body: Any = payload()
    *parents, last = pointer.removeprefix("#/").split("/")
    place = body
    for name in parents:
        place = place[int(name)] if isinstance(place, list) else place.setdefault(name, {})
    if value is MISSING:
        del place[last]
    else:
        place[int(last) if isinstance(place, list) else last] = value
    return body


def send(client: APIClient, path: str, body: Any, content_type: str | None = "application/json") -> Any:
    """POST `body`: text and bytes unchanged, anything else as ASCII-only JSON that allows NaN and Infinity."""
    data = body if isinstance(body, str | bytes) else json.dumps(body)
    return client.post(path, data=data, content_type=content_type)


def assert_problem(response: Any, status: int, code: str) -> dict[str, Any]:
    """The response is a problem document with this status and code. Returns its body."""
    assert response.status_code == status, response.content[:500]
    assert response["Content-Type"] == "application/problem+json"
    body = response.json()
    assert (body["status"], body["code"]) == (status, code)
    return body


def assert_field_refused(response: Any, pointer: str) -> None:
    """The response has status 422, and its errors name only this field."""
    body = assert_problem(response, 422, "invalid_payload")
    assert {error["pointer"] for error in body["errors"]} == {pointer}


def assert_nothing_written() -> None:
    assert [model.objects.count() for model in (Delivery, Stop, Transition, WebhookEvent)] == [0, 0, 0, 0]


def assert_values_refused(
    client: APIClient, pointers: Iterable[str], values: Iterable[Any], body: Callable[[str, Any], Any] = changed
) -> None:
    """A request with any of the values at any of the pointers is refused by this pointer alone, and writes nothing."""
    cases = list(product(pointers, values))
    named = [_named(send(client, REQUEST, body(*case))) for case in cases]
    assert cases
    assert [(case, found) for case, found in zip(cases, named, strict=True) if found != {case[0]}] == []
    assert_nothing_written()


def _named(response: Any) -> Any:
    """The pointers that a refusal of fields names; the status of any other answer."""
    body = response.json()
    if (response.status_code, body.get("code")) != (422, "invalid_payload"):
        return response.status_code
    return {error["pointer"] for error in body["errors"]}


def assert_values_taken(client: APIClient, pointers: Iterable[str], values: Iterable[Any]) -> None:
    """A request with any of the values at any of the pointers makes a delivery."""
    cases = list(product(pointers, values))
    statuses = [send(client, REQUEST, changed(*case)).status_code for case in cases]
    assert cases
    assert [(case, status) for case, status in zip(cases, statuses, strict=True) if status != 201] == []


# JSON Pointers, grouped by the kind of field.
COORDINATES = [
    "#/pickup/address/latitude",
    "#/pickup/address/longitude",
    "#/dropoffs/1/address/latitude",
    "#/dropoffs/1/address/longitude",
    "#/dropoffs/2/coordinates/latitude",
    "#/dropoffs/2/coordinates/longitude",
]
ADDRESS_TEXTS = ["city", "state", "street", "number", "district", "country", "complement"]
TEXTS = [
    "#/pickup/contacts/name",
    "#/pickup/contacts/phoneNumber",
    *(f"#/pickup/address/{name}" for name in ADDRESS_TEXTS),
    "#/dropoffs/2/externalId",
    "#/dropoffs/2/contacts/name",
    "#/dropoffs/2/contacts/phoneNumber",
    *(f"#/dropoffs/2/address/{name}" for name in ADDRESS_TEXTS),
    "#/orderPackages/0/description",
]
MEASURES = [f"#/orderPackages/0/{name}" for name in ("height", "width", "length", "weight")]
CHOICES = ["#/vehicleType", "#/deliveryMode"]
ZIPCODES = ["#/pickup/address/zipcode", "#/dropoffs/0/address/zipcode"]
