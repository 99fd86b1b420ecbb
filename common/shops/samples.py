"""Orders of an invented customer as each platform posts them, signed, for trying a connection. Pure."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, NamedTuple

from common.shops import platforms
from common.shops.order import Address
from common.shops.platforms import SIGNATURE_HEADERS, Platform

_FIRST_NAME, _LAST_NAME = "Maria", "Souza (teste)"
_NAME = f"{_FIRST_NAME} {_LAST_NAME}"
_PHONE, _EMAIL, _CPF = "71999990000", "maria@example.com", "52998224725"
_PRODUCT, _SKU = "Camiseta de teste", "TESTE-1"
_NOTE = "Pedido de teste."
_METHOD = "Entrega local"


class Posting(NamedTuple):
    headers: dict[str, str]
    body: bytes


def posting(platform: Platform, *, secret: str, to: Address, number: int, at: datetime) -> Posting:
    """A paid order `number` of two pieces to the address `to`, placed `at`, as `platform` posts it."""
    order, topic = _BODIES[platform](to, number, at.astimezone(UTC)), _TOPICS[platform]
    body = json.dumps(order).encode()
    signature = {SIGNATURE_HEADERS[platform]: platforms.sign(secret=secret, body=body)}
    return Posting({"Content-Type": "application/json", **topic, **signature}, body)


def _woocommerce(to: Address, number: int, at: datetime) -> dict[str, Any]:
    moment = at.replace(microsecond=0, tzinfo=None).isoformat()
    address = {
        "first_name": _FIRST_NAME, "last_name": _LAST_NAME, "company": "", "address_1": to.street,
        "address_2": to.complement, "city": to.city, "state": to.state, "postcode": to.postal_code,
        "country": to.country, "phone": _PHONE, "number": to.number, "neighborhood": to.district,
    }  # fmt: skip  # a table
    return {
        "id": number,
        "number": str(number),
        "status": "processing",
        "currency": "BRL",
        "date_created_gmt": moment,
        "date_modified_gmt": moment,
        "date_paid_gmt": moment,
        "total": "75.00",
        "customer_note": _NOTE,
        "payment_method": "pix",
        "billing": {**address, "email": _EMAIL, "persontype": "F", "cpf": _CPF, "cnpj": "", "cellphone": _PHONE},
        "shipping": address,
        "meta_data": [],
        "line_items": [
            {"id": 1, "name": _PRODUCT, "quantity": 2, "total": "60.00", "sku": _SKU, "price": 30, "meta_data": []}
        ],
        "shipping_lines": [{"id": 2, "method_title": _METHOD, "method_id": "flat_rate", "total": "15.00"}],
        "refunds": [],
    }


def _shopify(to: Address, number: int, at: datetime) -> dict[str, Any]:
    moment = at.replace(microsecond=0).isoformat()
    address = {
        "first_name": _FIRST_NAME, "last_name": _LAST_NAME, "name": _NAME, "company": None, "phone": _PHONE,
        "address1": f"{to.street}, \u2060{to.number}", "address2": f"{to.complement}, \u2060{to.district}",
        "city": to.city, "province": to.state, "province_code": to.state, "zip": to.postal_code,
        "country": "Brazil", "country_code": to.country, "latitude": to.latitude, "longitude": to.longitude,
    }  # fmt: skip  # a table
    return {
        "id": number,
        "name": f"#{number}",
        "order_number": number,
        "test": True,
        "currency": "BRL",
        "financial_status": "paid",
        "fulfillment_status": None,
        "cancelled_at": None,
        "created_at": moment,
        "updated_at": moment,
        "total_price": "75.00",
        "current_total_price": "75.00",
        "note": _NOTE,
        "note_attributes": [{"name": "CPF", "value": _CPF}],
        "email": _EMAIL,
        "payment_gateway_names": ["pix"],
        "shipping_address": address,
        "billing_address": address,
        "line_items": [
            {
                "id": 1, "name": _PRODUCT, "title": _PRODUCT, "sku": _SKU, "quantity": 2, "current_quantity": 2,
                "fulfillable_quantity": 2, "price": "30.00", "grams": 250, "requires_shipping": True,
                "gift_card": False, "discount_allocations": [],
            },
        ],
        "shipping_lines": [{"id": 2, "title": _METHOD, "code": _METHOD, "price": "15.00"}],
        "refunds": [],
    }  # fmt: skip  # a table


def _yampi(to: Address, number: int, at: datetime) -> dict[str, Any]:
    moment = {"date": f"{at:%Y-%m-%d %H:%M:%S.%f}", "timezone_type": 3, "timezone": "UTC"}
    return {
        "event": "order.paid",
        "time": f"{at:%Y-%m-%d %H:%M:%S}",
        "merchant": {"id": 1, "alias": "loja-de-teste"},
        "resource": {
            "id": number,
            "number": number,
            "value_total": 75,
            "shipment_service": _METHOD,
            "created_at": moment,
            "updated_at": moment,
            "status": {"data": {"id": 4, "name": "Pago", "alias": "paid"}},
            "customer": {
                "data": {
                    "type": "f", "name": _NAME, "first_name": _FIRST_NAME, "last_name": _LAST_NAME, "cpf": _CPF,
                    "cnpj": None, "email": _EMAIL, "phone": {"full_number": _PHONE, "area_code": _PHONE[:2]},
                }
            },
            "shipping_address": {
                "data": {
                    "receiver": _NAME, "zip_code": to.postal_code, "zipcode": to.postal_code, "street": to.street,
                    "number": to.number, "complement": to.complement, "neighborhood": to.district, "city": to.city,
                    "uf": to.state, "state": to.state, "country": to.country, "reference": _NOTE,
                }
            },
            "items": {
                "data": [
                    {
                        "id": 1, "item_sku": _SKU, "quantity": 2, "price": 30, "is_digital": False,
                        "sku": {
                            "data": {
                                "sku": _SKU, "title": _PRODUCT, "weight": 1, "width": 20, "height": 5, "length": 30,
                            }
                        },
                    }
                ]
            },
        },
    }  # fmt: skip  # a table


_BODIES: Mapping[Platform, Callable[[Address, int, datetime], dict[str, Any]]] = MappingProxyType({
    Platform.WOOCOMMERCE: _woocommerce,
    Platform.SHOPIFY: _shopify,
    Platform.YAMPI: _yampi,
})  # fmt: skip  # a table
_TOPICS: Mapping[Platform, Mapping[str, str]] = MappingProxyType({
    Platform.WOOCOMMERCE: {"X-WC-Webhook-Topic": "order.updated"},
    Platform.SHOPIFY: {"X-Shopify-Topic": "orders/paid", "X-Shopify-Test": "true"},
    Platform.YAMPI: {},  # the event is in the body
})  # fmt: skip  # a table
