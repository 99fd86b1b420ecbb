"""An order as Shopify posts it, of invented people, and where its field names come from."""

from copy import deepcopy
from typing import Any

_DOCUMENTATION = "Shopify, REST Admin API reference, resource Order; the webhooks' sample payload of orders/paid"
SOURCES = {
    _DOCUMENTATION: (
        "id", "name", "order_number", "test", "currency", "financial_status", "fulfillment_status", "cancelled_at",
        "created_at", "updated_at", "total_price", "current_total_price", "note", "note_attributes", "email",
        "contact_email", "phone", "payment_gateway_names", "customer", "shipping_address", "billing_address",
        "line_items", "shipping_lines", "refunds", "shipping_address.first_name", "shipping_address.last_name",
        "shipping_address.name", "shipping_address.company", "shipping_address.phone", "shipping_address.address1",
        "shipping_address.address2", "shipping_address.city", "shipping_address.province",
        "shipping_address.province_code", "shipping_address.zip", "shipping_address.country",
        "shipping_address.country_code", "shipping_address.latitude", "shipping_address.longitude",
        "billing_address.first_name", "billing_address.last_name", "billing_address.company", "billing_address.phone",
        "billing_address.address1", "billing_address.address2", "customer.first_name", "customer.last_name",
        "customer.phone", "customer.email",
    ),
}  # fmt: skip  # a table
# Where Brazilian stores have what the resource has no field for.
FORMS = {
    "address1 and address2 with U+2060 before the number and the district": (
        "Shopify/worldwide, data/regions/BR.yml and lang/typescript/src/utils/address-fields.ts"
    ),
    "note_attributes customer_document, cpf, document, numero, shipping_number, bairro, neighborhood": (
        "public integrations of Shopify with WooCommerce: `getCpfFromShopify`, `getNumberFromShopify`, "
        "`getNeighborhoodFromShopify`; the first is what the app Appmax writes"
    ),
    "note_attributes info_document, shipping_neighborhood": "public import of orders of Bagy (`bagy2shopify`)",
    "address2 or company with a document": "public readers of orders of Brazilian stores (`customerDocument`)",
}
_LINE = {
    "id": 466157049, "title": "Caneca", "name": "Caneca - azul", "sku": "CAN-1", "quantity": 3, "current_quantity": 3,
    "fulfillable_quantity": 3, "price": "24.90", "grams": 350, "requires_shipping": True, "gift_card": False,
    "discount_allocations": [{"amount": "8.73", "discount_application_index": 0}], "properties": [],
}  # fmt: skip  # a table
_ORDER: dict[str, Any] = {
    "id": 820982911946154508,
    "name": "#1001",
    "order_number": 1001,
    "test": False,
    "currency": "BRL",
    "financial_status": "paid",
    "fulfillment_status": None,
    "cancelled_at": None,
    "created_at": "2026-03-02T10:30:00-03:00",
    "updated_at": "2026-03-02T10:31:02-03:00",
    "total_price": "80.97",
    "current_total_price": "80.97",
    "note": "Presente: não colocar a nota na caixa.",
    "note_attributes": [{"name": "customer_document", "value": "529.982.247-25"}],
    "email": "ana@example.com",
    "contact_email": "ana@example.com",
    "phone": None,
    "payment_gateway_names": ["appmax_pix"],
    "customer": {
        "id": 115310627314723954, "email": "ana@example.com", "first_name": "Ana", "last_name": "d'Ávila",
        "phone": "+5571991234567",
    },
    "shipping_address": {
        "first_name": "Bento", "last_name": "Sá", "name": "Bento Sá", "company": None, "phone": "+55 71 98888-7777",
        "address1": "Rua Chile, \u206021-B", "address2": "apto 302, \u2060Centro", "city": "Salvador",
        "province": "Bahia", "province_code": "BA", "zip": "40020-000", "country": "Brazil", "country_code": "BR",
        "latitude": None, "longitude": None,
    },
    "billing_address": {
        "first_name": "Ana", "last_name": "d'Ávila", "company": None, "phone": "+5571991234567",
        "address1": "Av. Sete de Setembro, \u20601500", "address2": "\u2060Vitória",
    },
    "line_items": [_LINE],
    "shipping_lines": [{"id": 1, "title": "Motoboy", "code": "entrega-local", "price": "15.00"}],
    "refunds": [],
}  # fmt: skip  # a table


def order(**changes):
    """The order with other values of its keys; addresses are merged."""
    changed = deepcopy(_ORDER)
    for key, value in changes.items():
        if isinstance(value, dict) and isinstance(changed.get(key), dict):
            changed[key].update(value)
        else:
            changed[key] = value
    return changed


def line(**changes):
    return {**deepcopy(_LINE), **changes}


def attributes(**values):
    return [{"name": name, "value": value} for name, value in values.items()]
