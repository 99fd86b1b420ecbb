"""Orders of Yampi, as its webhooks post them: event, moment and the order with all that it includes. Pure.

Each included object is in an object of its own, under `data`. Weights are kilograms, sizes centimetres.
"""

from datetime import datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from common.shops import values
from common.shops.order import Address, Item, Person, ShopOrder, Stage, UnknownForm
from common.shops.values import Object, at, first, object_at, text

_REQUIRED = ("id", "status.data.alias", "value_total", "shipping_address.data", "items.data")
_CANCELLED = frozenset(("cancelled", "refused", "refunded", "chargeback"))
_UNPAID = frozenset(("waiting_payment", "pending", "authorized"))
_SENT = frozenset(("on_carriage", "shipped", "delivered"))
_BRASILIA = ZoneInfo("America/Sao_Paulo")  # of moments whose zone is no name of one
_GRAMS = 1_000


def read(body: Object) -> ShopOrder:
    """The order in `body`. Raises UnknownForm."""
    order = object_at(body, "resource")
    order_id, total = text(order.get("id"), values.LONGEST_ID), values.reais(order.get("value_total"))
    missing = [f"resource.{path}" for path in _REQUIRED if at(order, *path.split(".")) is None]
    if not order_id:
        missing.append("resource.id")
    if total is None:
        missing.append("resource.value_total")
    if missing or total is None:
        raise UnknownForm(tuple(dict.fromkeys(missing)))
    stage = _stage(order)
    return ShopOrder(
        id=order_id,
        number=first(order.get("number"), order_id, longest=values.LONGEST_ID),
        stage=stage,
        is_test=False,
        placed_at=_moment(order.get("created_at")),
        changed_at=_moment(order.get("updated_at")),
        receiver=_receiver(order),
        address=_address(order),
        note=text(order.get("note"), values.LONGEST_NOTE),
        shipping_methods=values.texts((order.get("shipment_service"), order.get("shipment_service_id"))),
        total=total,
        pays_at_door=False,
        items=_items(order),
    )


def _alias(order: Object) -> str:
    return text(at(order, "status", "data", "alias"))


def _stage(order: Object) -> Stage:
    alias = _alias(order)
    if alias in _CANCELLED:
        return Stage.CANCELLED
    return Stage.UNPAID if alias in _UNPAID else Stage.PAID


def _moment(value: Any) -> datetime | None:
    """A moment as PHP writes it: `{"date": "2025-01-01 12:00:00.000000", "timezone": "America/Sao_Paulo"}`."""
    return values.moment(first(at(value, "date"), value), _zone(text(at(value, "timezone"))))


def _zone(name: str) -> ZoneInfo:
    return ZoneInfo("UTC") if name == "UTC" else _BRASILIA


def _receiver(order: Object) -> Person:
    customer, address = object_at(order, "customer", "data"), object_at(order, "shipping_address", "data")
    phone = customer.get("phone")
    names = (text(customer.get("first_name")), text(customer.get("last_name")))
    return Person(
        name=first(address.get("receiver"), customer.get("name"), " ".join(name for name in names if name)),
        phone=first(at(phone, "full_number"), at(phone, "formated_number"), phone),
        email=text(customer.get("email")),
        document=first(customer.get("cpf"), customer.get("cnpj")),
    )


def _address(order: Object) -> Address:
    address = object_at(order, "shipping_address", "data")
    parts = (text(address.get("complement")), text(address.get("reference")))
    return Address(
        postal_code=first(address.get("zip_code"), address.get("zipcode")),
        street=text(address.get("street")),
        number=text(address.get("number")),
        complement=text(", ".join(part for part in parts if part)),
        district=text(address.get("neighborhood")),
        city=text(address.get("city")),
        state=first(address.get("uf"), address.get("state")),
        country=text(address.get("country")),
    )


def _items(order: Object) -> tuple[Item, ...]:
    lines = values.bounded(at(order, "items", "data"), "resource.items.data")
    if _alias(order) in _SENT:
        return ()
    return tuple(_item(line, quantity) for line in lines if (quantity := _quantity(line)))


def _quantity(line: Object) -> int:
    return 0 if line.get("is_digital") is True else values.whole(line.get("quantity")) or 0


def _item(line: Object, quantity: int) -> Item:
    sku = object_at(line, "sku", "data")
    weight = values.number(sku.get("weight"))
    size = tuple(found for key in ("width", "height", "length") if (found := values.number(sku.get(key))) and found > 0)
    return Item(
        sku=first(line.get("item_sku"), sku.get("sku")),
        name=text(sku.get("title")),
        quantity=quantity,
        unit_price=values.reais(line.get("price")) or Decimal("0.00"),
        weight_g=int(weight * _GRAMS) if weight and weight > 0 else None,
        size_cm=(size[0], size[1], size[2]) if len(size) == 3 else None,  # noqa: PLR2004
    )
