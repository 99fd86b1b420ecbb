"""Bodies of the calls of area B, as the description of the API shows them."""

from typing import Any

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
