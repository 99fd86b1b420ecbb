"""Orders of Yampi, as its webhooks post them: event, moment and the order with all that it includes. Pure.

Each included object is in an object of its own, under `data`; an empty one is `[]`. Weights are in kilograms, sizes in
centimetres. They have no note of the customer, know no test orders, and do not say which items were refunded.
"""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from common.shops import street_lines, values
from common.shops.order import Address, Item, Person, ShopOrder, Stage
from common.shops.values import Object, at, first, joined, object_at, text

_FORM: values.Form = {
    "id": values.identifier,
    "status.data.alias": text,
    "value_total": values.reais,
    "shipping_address.data": values.mapping,
    "items.data": values.listing,
}
_PAID = frozenset((
    "paid", "payment_approved", "approved", "invoiced", "handling_products", "in_separation", "ready_for_shipping",
    "shipment_exception",
))  # fmt: skip  # a list
_SENT = frozenset(("on_carriage", "shipped", "delivered"))
_CANCELLED = frozenset(("cancelled", "refused", "refunded", "chargeback"))
_BRASILIA = ZoneInfo("America/Sao_Paulo")  # of moments whose zone is not UTC: Yampi's clocks show no other one
_GRAMS = 1_000
_COMPANY = "j"


def read(body: Object) -> ShopOrder:
    """The order in `body`. Raises UnknownForm."""
    order = object_at(body, "resource")
    values.require(order, _FORM, prefix="resource.")
    order_id = values.identifier(order["id"])
    return ShopOrder(
        id=order_id,
        number=values.identifier(order.get("number")) or order_id,
        stage=_stage(body, _alias(order)),
        is_test=False,
        placed_at=_moment(order.get("created_at")),
        changed_at=_moment(order.get("updated_at")),
        receiver=_receiver(order),
        address=_address(order),
        # What the customer wrote for finding the place is the only text of that kind.
        note=text(at(order, "shipping_address", "data", "reference"), values.LONGEST_NOTE),
        shipping_methods=values.texts((order.get("shipment_service"), order.get("shipment_service_id"))),
        total=values.price(order["value_total"]),
        pays_at_door=False,
        items=_items(order),
    )


def _alias(order: Object) -> str:
    return text(at(order, "status", "data", "alias"))


def _stage(body: Object, alias: str) -> Stage:
    if alias in _CANCELLED:
        return Stage.CANCELLED
    is_paid = alias in _PAID or alias in _SENT or text(body.get("event")) == "order.paid"
    return Stage.PAID if is_paid else Stage.UNPAID


def _moment(value: Any) -> datetime | None:
    """A moment as PHP writes it: `{"date": "2025-01-01 12:00:00.000000", "timezone": "America/Sao_Paulo"}`."""
    zone = ZoneInfo("UTC") if text(at(value, "timezone")) == "UTC" else _BRASILIA
    return values.moment(first(at(value, "date"), value), zone)


def _receiver(order: Object) -> Person:
    customer, address = object_at(order, "customer", "data"), object_at(order, "shipping_address", "data")
    phone = customer.get("phone")
    names = ("cnpj", "cpf") if text(customer.get("type")) == _COMPANY else ("cpf", "cnpj")
    return Person(
        name=first(
            address.get("receiver"), customer.get("name"), joined(customer.get("first_name"), customer.get("last_name"))
        ),
        phone=first(at(phone, "full_number"), at(phone, "formated_number"), phone),
        email=text(customer.get("email")),
        document=first(*(customer.get(name) for name in names), _listed(order).get("customer_document")),
    )


def _listed(order: Object) -> Object:
    """The first of the lines that Yampi writes to spreadsheets, which has texts also of objects that are left out."""
    return next(iter(values.objects(at(order, "spreadsheet", "data"), 1)), {})


def _address(order: Object) -> Address:
    address, listed = object_at(order, "shipping_address", "data"), _listed(order)
    lines = street_lines.split(text(address.get("street")), first(address.get("number"), listed.get("shipping_number")))
    return Address(
        postal_code=first(address.get("zip_code"), address.get("zipcode")),
        street=lines.street,
        number=lines.number,
        complement=joined(address.get("complement"), lines.rest, by=", "),
        district=first(address.get("neighborhood"), listed.get("shipping_neighborhood")),
        city=text(address.get("city")),
        state=first(address.get("uf"), address.get("state")),
        country=text(address.get("country")),
    )


def _items(order: Object) -> tuple[Item, ...]:
    found = values.lines(at(order, "items", "data"), "resource.items.data")
    if _alias(order) in _SENT:
        return ()
    return tuple(_item(line, quantity) for line in found if (quantity := _quantity(line)))


def _quantity(line: Object) -> int:
    return 0 if line.get("is_digital") is True else values.pieces(line.get("quantity"))


def _item(line: Object, quantity: int) -> Item:
    sku = object_at(line, "sku", "data")
    return Item(
        sku=first(line.get("item_sku"), sku.get("sku")),
        name=text(sku.get("title")),
        quantity=quantity,
        unit_price=values.price(line.get("price")),
        weight_g=values.grams(sku.get("weight"), of_unit=_GRAMS),
        size_cm=values.size(sku.get("width"), sku.get("height"), sku.get("length")),
    )
