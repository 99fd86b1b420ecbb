"""Calls with a test token."""

from delivery.models import Delivery
from tests.delivery.api.calls import (
    REQUEST,
)
from tests.factories import payload

MOVE = "/api/sandbox/deliveries/{}/{}"


def named(external_id, *, stops=1):
    body = payload(stops=stops)
    body["dropoffs"][0]["externalId"] = external_id
    return body


def request(api, external_id="order-1", **headers):
    return Delivery.objects.get(pk=api.post(REQUEST, named(external_id), **headers).json()["deliveryId"])
