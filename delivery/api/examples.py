"""What the description of the API shows: bodies of the calls of area A, and the webhook of a delivery."""

from typing import Any

from common.api.openapi import webhook
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


WEBHOOK = webhook(
    "delivery",
    summary="A delivery has changed",
    sent="Sent to the URL of the account and environment for every change that an integrator can see",
    subject="delivery",
    event="Event",  # `GET /api/events` answers with the component too
    security=[{"token": []}],
    headers={
        "Rota-Failure": (
            "On the event of a failure: the point and the failure's code, a dictionary (RFC 9651), such as `b=ABSENT`. "
            "The first failure of a drop-off with onFailure RETRY leaves the statuses as they were."
        )
    },
)
