"""An order as Yampi posts it, of invented people, and where its field names come from."""

from copy import deepcopy
from decimal import Decimal
from typing import Any

_DOCUMENTATION = (
    "docs.yampi.com.br, Webhooks, *Visão Geral*: payload of order.created, order.paid, order.status.updated"
)
_RECORDED = "JohnPetros/sertton-industrial, src/@types/mock.ts: a recorded order"
_CLIENT = "public models of the event (`YampiEvent`, `Resource`, `Customer`, `ShippingAddress`, `SKU`)"
SOURCES = {
    _DOCUMENTATION: ("event", "time", "merchant", "resource", "resource.id", "resource.number"),
    _RECORDED: (
        "resource.value_total", "resource.shipment_service", "resource.shipment_service_id", "resource.created_at",
        "resource.updated_at", "resource.status", "resource.customer", "resource.shipping_address", "resource.items",
        "resource.spreadsheet", "resource.promocode", "resource.created_at.date", "resource.created_at.timezone_type",
        "resource.created_at.timezone", "resource.status.data.alias", "resource.status.data.name",
        "resource.customer.data.type", "resource.customer.data.cpf", "resource.customer.data.cnpj",
        "resource.customer.data.first_name", "resource.customer.data.last_name", "resource.customer.data.email",
        "resource.shipping_address.data.receiver", "resource.shipping_address.data.zip_code",
        "resource.shipping_address.data.zipcode", "resource.shipping_address.data.street",
        "resource.shipping_address.data.number", "resource.shipping_address.data.complement",
        "resource.shipping_address.data.reference", "resource.shipping_address.data.neighborhood",
        "resource.shipping_address.data.city", "resource.shipping_address.data.uf",
        "resource.shipping_address.data.state", "resource.shipping_address.data.country",
    ),
    _CLIENT: (
        "resource.customer.data.name", "resource.customer.data.razao_social", "resource.customer.data.phone",
        "resource.customer.data.phone.full_number", "resource.customer.data.phone.formated_number",
    ),
}  # fmt: skip  # a table
# Of the aliases of `status`: public clients that map them (`STATUS_MAP` with the ids 5 to 12), and the recorded order.
_MOMENT = {"date": "2026-03-02 10:30:00.000000", "timezone_type": 3, "timezone": "America/Sao_Paulo"}
_ITEM = {
    "id": 124473304, "item_sku": "CAN-1", "quantity": 3, "price": Decimal("21.99"), "is_digital": False, "gift": False,
    "sku": {
        "data": {
            "id": 151463680, "sku": "CAN-1", "title": "Caneca azul", "weight": Decimal("0.35"),
            "width": Decimal("12.5"), "height": 10, "length": Decimal("9.75"),
        }
    },
}  # fmt: skip  # a table
_ORDER: dict[str, Any] = {
    "event": "order.paid",
    "time": "2026-03-02 10:31:00",
    "merchant": {"id": 123456, "alias": "loja-exemplo"},
    "resource": {
        "id": 102855369,
        "number": 739383970908649,
        "value_total": Decimal("80.97"),
        "shipment_service": "Motoboy",
        "shipment_service_id": "29",
        "created_at": _MOMENT,
        "updated_at": {**_MOMENT, "date": "2026-03-02 10:31:00.000000"},
        "status": {"data": {"id": 4, "name": "Pagamento aprovado", "alias": "paid"}},
        "promocode": {"data": []},
        "customer": {
            "data": {
                "type": "f", "name": "Ana d'Ávila", "razao_social": None, "first_name": "Ana", "last_name": "d'Ávila",
                "cpf": "52998224725", "cnpj": None, "email": "ana@example.com",
                "phone": {"full_number": "71991234567", "formated_number": "(71) 99123-4567"},
            }
        },
        "shipping_address": {
            "data": {
                "receiver": "Bento Sá", "zip_code": "40020000", "zipcode": "40020000", "street": "Rua Chile",
                "number": "21", "complement": "apto 302", "reference": "Ao lado do elevador", "neighborhood": "Centro",
                "city": "Salvador", "uf": "BA", "state": "BA", "country": "BR",
            }
        },
        "items": {"data": [_ITEM]},
        "spreadsheet": {"data": [{"customer_document": "52998224725", "sku": "CAN-1"}]},
    },
}  # fmt: skip  # a table


def order(event="order.paid", **changes):
    """The order with other values of its keys; those of objects under `data` are merged."""
    changed = deepcopy(_ORDER)
    changed["event"] = event
    for key, value in changes.items():
        known = changed["resource"].get(key)
        if isinstance(value, dict) and isinstance(known, dict) and isinstance(known.get("data"), dict):
            known["data"].update(value)
        else:
            changed["resource"][key] = value
    return changed


def item(sku=None, **changes):
    changed = {**deepcopy(_ITEM), **changes}
    if sku is not None:
        changed["sku"]["data"].update(sku)
    return changed


def with_status(alias, event="order.status.updated"):
    return order(event, status={"alias": alias})
