"""Orders of a shop as WooCommerce posts them, and posting them."""

import json
from itertools import count
from typing import Any

from django.utils import timezone
from rest_framework.test import APIClient

from common.shops import platforms
from common.shops.models import ShopConnection
from common.shops.platforms import Platform
from delivery.connections import actions
from delivery.connections.models import Connection
from delivery.models import Environment, Tariff
from tests.factories import BY, DROPOFFS, IntegratorFactory, PickupPointFactory, TariffFactory

SECRET = "a secret of the shop"  # pragma: allowlist secret
NEAR, _EAST, _SOUTH = DROPOFFS
_numbers = count(1001)
ADDRESS = {
    "first_name": "Maria", "last_name": "Souza", "address_1": "Rua Augusta", "number": "500",
    "neighborhood": "Consolação", "address_2": "Ap. 12", "city": "São Paulo", "state": "SP", "postcode": "01304-000",
    "country": "BR",
}  # fmt: skip  # an address

PERSON = {"phone": "(11) 97777-0001", "email": "maria@example.com", "cpf": "529.982.247-25"}
WITHOUT_NUMBER = {"shipping": {"number": ""}, "billing": {"number": ""}}


def order(number: int | None = None, **changes: Any) -> dict[str, Any]:
    """A paid order of WooCommerce with the plug-in Brazilian Market. Keys of the addresses are changed one by one."""
    number = number or next(_numbers)
    shipping = {**ADDRESS, **changes.pop("shipping", {})}
    return {
        "id": number,
        "number": str(number),
        "status": "processing",
        "currency": "BRL",
        "total": "99.90",
        "date_created_gmt": "2026-11-20T12:00:00",
        "date_modified_gmt": "2026-11-20T12:00:00",
        "customer_note": "Deixar na portaria",
        "billing": {**ADDRESS, **PERSON, **changes.pop("billing", {})},
        "shipping": shipping,
        "shipping_lines": [{"method_id": "flat_rate", "method_title": "Entrega no mesmo dia", "total": "9.90"}],
        "line_items": [{"name": "Caneca", "sku": "C1", "quantity": 2, "price": 45, "total": "90.00"}],
        "refunds": [],
        "meta_data": [],
        **changes,
    }


def shop(**changes: Any) -> Connection:
    """A connected shop of an account with a pickup point, and a tariff for it."""
    integrator = changes.pop("integrator", None) or IntegratorFactory.create()
    pickup = changes.pop("pickup", None) or PickupPointFactory.create(integrator=integrator)
    if not Tariff.objects.exists():
        TariffFactory.create()
    made, _secret = actions.connect(
        integrator=integrator,
        environment=changes.pop("environment", Environment.LIVE),
        platform=changes.pop("platform", Platform.WOOCOMMERCE),
        settings=actions.Settings(**{"name": "Loja", "pickup": pickup, "contact_phone": "+55 11 3333-0000", **changes}),
        secret=SECRET,
        by=BY,
        at=timezone.now(),
    )
    return made


def post(
    connection: ShopConnection, body: Any, *, secret: str = SECRET, signed: bool = True, topic: str = "", **headers: str
) -> Any:
    """POST as the platform does, with its signature, and with the topic of WooCommerce where one is given."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    if topic:
        headers = {platforms.TOPIC_HEADER: topic, **headers}
    if signed:
        name = platforms.SIGNATURE_HEADERS[Platform(connection.platform)]
        headers = {name: platforms.sign(secret=secret, body=raw), **headers}
    return APIClient().post(connection.path, data=raw, content_type="application/json", headers=headers)
