"""Bodies of examples."""

from typing import Any

from config.openapi.operations.common import UUID

_PICKUP_ADDRESS: dict[str, Any] = {
    "city": "São Paulo", "state": "SP", "street": "Avenida Paulista", "number": "1578", "zipcode": "01310-200",
    "district": "Bela Vista", "country": "BR", "complement": "Loja 1", "latitude": -23.561414, "longitude": -46.655881,
}  # fmt: skip  # an address
_DROPOFF_ADDRESS: dict[str, Any] = {
    "city": "São Paulo", "state": "SP", "street": "Rua Augusta", "number": "900", "zipcode": "01304001",
    "district": "Consolação", "country": "BR", "complement": "", "latitude": -23.5531, "longitude": -46.6559,
}  # fmt: skip  # an address
_COORDINATES = {"latitude": -23.5531, "longitude": -46.6559}

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
ROUTE: dict[str, Any] = {
    "routeId": "019aa8f0-5c1e-7d5a-9f00-3b6c1d2e4f51",
    "status": "AVAILABLE",
    "pointsCount": 2,
    "fixedValue": 9.9,
    "totalDistanceKm": 1.2,
    "vehicleType": "MOTORCYCLE",
    "acceptMode": "WHOLE_ROUTE",
    "immutable": True,
    "points": [{"label": "A", "type": "pickup"}, {"label": "B", "type": "dropoff"}],
}
NO_DRIVER: dict[str, Any] = {"name": "", "phone": "", "coordinates": {"latitude": None, "longitude": None}}
_ORDER = {"status": "PENDING", "externalId": "order-1001", "coordinates": _COORDINATES, "address": _DROPOFF_ADDRESS}
EVENT: dict[str, Any] = {
    "deliveryId": UUID,
    "status": "PENDING",
    "route": ROUTE,
    "driver": NO_DRIVER,
    "orders": [{**_ORDER, "point": "B"}],
}
CREATION = {**EVENT, "shippingValue": 9.9}
INFO = {"deliveryId": UUID, "shippingValue": 9.9, "driver": NO_DRIVER, "orders": [_ORDER]}
LOCATION = {
    "deliveryId": UUID,
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

FREIGHT: dict[str, Any] = {
    "origin": "01310100", "destination": "40020000", "width": "20", "height": "10", "length": "30", "weight": 1.5,
    "declared_amount": 15000,
}  # fmt: skip  # a quote
ORDER: dict[str, Any] = {
    "company_document": "48.372.915/0001-54",
    "orderId": "A-1001",
    "orderCost": 150.5,
    "service": "base",
    "items": [{"description": "Cafeteira", "dimensions": "10x20x30,1.5", "quantity": 1, "price": 150.5}],
    "receiver": {
        "name": "Maria",
        "cellphone": "11977770001",
        "address": {
            "state": "SP", "city": "São Paulo", "zipCode": "01304001", "street": "Rua Augusta", "streetNumber": "900",
            "neighborhood": "Consolação",
        },
    },
}  # fmt: skip  # an order
