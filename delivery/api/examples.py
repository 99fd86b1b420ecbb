"""What the description of the API shows: bodies of the calls of area A, and the webhook of a delivery."""

from typing import Any

from drf_spectacular.utils import OpenApiWebhook

from delivery.bodies import TEST_EVENT, Address, Coordinates, Creation, Event, Info, Location, Order, Route

_UUID = "019aa8f0-5c1e-7d5a-9f00-3b6c1d2e4f50"
_PICKUP_ADDRESS: Address = {
    "city": "São Paulo", "state": "SP", "street": "Avenida Paulista", "number": "1578", "zipcode": "01310-200",
    "district": "Bela Vista", "country": "BR", "complement": "Loja 1", "latitude": -23.561414, "longitude": -46.655881,
}  # fmt: skip  # an address
_DROPOFF_ADDRESS: Address = {
    "city": "São Paulo", "state": "SP", "street": "Rua Augusta", "number": "900", "zipcode": "01304001",
    "district": "Consolação", "country": "BR", "complement": "", "latitude": -23.5531, "longitude": -46.6559,
}  # fmt: skip  # an address
_COORDINATES: Coordinates = {"latitude": -23.5531, "longitude": -46.6559}

DELIVERY_REQUEST: dict[str, Any] = {
    "vehicleType": "MOTORCYCLE",
    "deliveryMode": "DEFAULT",
    "pickup": {
        "contacts": {"name": "Loja Paulista", "phoneNumber": "+55 11 3333-0000"},
        "address": _PICKUP_ADDRESS,
    },
    "dropoffs": [
        {
            "externalId": "order-1001",
            "contacts": {"name": "Maria", "phoneNumber": "+55 11 97777-0001"},
            "address": _DROPOFF_ADDRESS,
        }
    ],
    "orderPackages": [{"description": "Caixa", "height": 20, "width": 30, "length": 40, "weight": 2.5, "quantity": 1}],
}
_ROUTE: Route = {
    **TEST_EVENT["route"],
    "routeId": "019aa8f0-5c1e-7d5a-9f00-3b6c1d2e4f51",
    "fixedValue": 9.9,
    "totalDistanceKm": 1.2,
}
_NO_DRIVER = TEST_EVENT["driver"]
_ORDER: Order = {
    "status": "PENDING",
    "externalId": "order-1001",
    "coordinates": _COORDINATES,
    "address": _DROPOFF_ADDRESS,
}
_EVENT: Event = {
    "deliveryId": _UUID,
    "status": "PENDING",
    "route": _ROUTE,
    "driver": _NO_DRIVER,
    "orders": [{**_ORDER, "point": "B"}],
}
CREATION: Creation = {**_EVENT, "shippingValue": 9.9}
INFO: Info = {"deliveryId": _UUID, "shippingValue": 9.9, "driver": _NO_DRIVER, "orders": [_ORDER]}
LOCATION: Location = {
    "deliveryId": _UUID,
    "status": "ACCEPT",
    "tracking": {
        "available": True,
        "reason": None,
        "updatedAt": "2026-11-20T12:00:00-03:00",
        "ageSeconds": 4,
        "stale": False,
    },
    "driver": {"name": "Ana Souza", "coordinates": {**_COORDINATES, "accuracyMeters": 8.0}},
    "orders": [{"externalId": "order-1001", "status": "ACCEPT"}],
}


def _header(name: str, description: str, schema: dict[str, Any] | None = None, *, required: bool = True) -> Any:
    return {
        "name": name,
        "in": "header",
        "description": description,
        "required": required,
        "schema": schema or {"type": "string"},
    }


# As OpenAPI has it, because drf-spectacular makes no headers and no operationId of webhooks.
_OPERATION: dict[str, Any] = {
    "operationId": "delivery-webhook",
    "summary": "A delivery has changed",
    "description": (
        "Sent to the URL of the account and environment for every change that an integrator can see, at least once, in "
        "order for each delivery. Answer with 2xx within 15 seconds; otherwise it is sent again, 17 times within 72 "
        "hours."
    ),
    "tags": ["Webhooks"],
    "security": [{"token": []}],
    "parameters": [
        _header(
            "webhook-id",
            "The event's id, the same for every retry and replay.",
            {"type": "string", "format": "uuid"},
        ),
        _header("webhook-timestamp", "When this attempt was made, in seconds since 1970.", {"type": "integer"}),
        _header("webhook-signature", "Standard Webhooks `v1` signatures, one for each valid secret."),
        _header("webhook-sequence", "1, 2, 3 … within the delivery.", {"type": "integer", "minimum": 1}),
        _header("webhook-test", "`true` on test events only.", {"type": "string", "enum": ["true"]}, required=False),
        _header(
            "Rota-Failure",
            "On the event of a failure: the point and the failure's code, a dictionary (RFC 9651). The first failure "
            "of a drop-off with onFailure RETRY leaves the statuses as they were.",
            {"type": "string", "examples": ["b=ABSENT"]},
            required=False,
        ),
    ],
    # `GET /api/events` answers with the component too.
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Event"}}},
    },
    "responses": {
        "2XX": {"description": "Received. Nothing else ends the retries, except 410."},
        "410": {"description": "Switches the endpoint off; events are kept."},
    },
}
WEBHOOK = OpenApiWebhook("delivery", {"post": _OPERATION})
