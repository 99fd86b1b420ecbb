"""Orders of WooCommerce, as its webhooks post them: the answer of its REST API, version 3. Pure.

Its orders have neither weights nor sizes of their products, and do not say which lines of an order were refunded.
"""

from decimal import Decimal
from typing import Any

from common.shops import street_lines, values
from common.shops.order import Address, Item, Person, ShopOrder, Stage, UnknownForm
from common.shops.values import Object, first, object_at, objects, text

_REQUIRED = ("id", "status", "total", "billing", "line_items")
_CANCELLED = frozenset(("cancelled", "refunded", "trash"))
_UNPAID = frozenset(("pending", "on-hold", "failed", "checkout-draft", "auto-draft", "draft"))
_PAID = "processing"
_SENT = "completed"
# Methods of WooCommerce by which the customer comes to the shop.
_COLLECTED = frozenset(("local_pickup", "pickup_location"))
_AT_DOOR = "cod"


def read(body: Object) -> ShopOrder:
    """The order in `body`. Raises UnknownForm."""
    order_id, total = text(body.get("id"), values.LONGEST_ID), values.reais(body.get("total"))
    missing = [key for key in _REQUIRED if not values.is_there(body, key)]
    if not order_id:
        missing.append("id")
    if total is None:
        missing.append("total")
    currency = text(body.get("currency"))
    if currency not in {"", "BRL"}:
        missing.append("currency=BRL")
    if missing or total is None:
        raise UnknownForm(tuple(dict.fromkeys(missing)))
    refunded = sum((values.reais(refund.get("total")) or Decimal(0) for refund in _refunds(body)), Decimal(0))
    methods = objects(body.get("shipping_lines"), values.MOST_METHODS)
    return ShopOrder(
        id=order_id,
        number=first(body.get("number"), order_id, longest=values.LONGEST_ID),
        stage=_stage(body),
        is_test=False,
        placed_at=_moment(body, "date_created"),
        changed_at=_moment(body, "date_modified"),
        receiver=_receiver(body),
        address=_address(body),
        note=text(body.get("customer_note"), values.LONGEST_NOTE),
        shipping_methods=values.texts(method.get(key) for method in methods for key in ("method_title", "method_id")),
        total=max(total - abs(refunded), Decimal(0)),
        pays_at_door=text(body.get("payment_method")) == _AT_DOOR,
        items=_items(body, methods),
    )


def _refunds(body: Object) -> list[Object]:
    return objects(body.get("refunds"), values.MOST_NOTES)


def _moment(body: Object, key: str) -> Any:
    # The other key is in the shop's zone, which the order does not name.
    return values.moment(body.get(f"{key}_gmt"))


def _stage(body: Object) -> Stage:
    status = text(body.get("status"))
    if status in _CANCELLED:
        return Stage.CANCELLED
    if status in _UNPAID:
        return Stage.UNPAID
    if status in {_PAID, _SENT}:
        return Stage.PAID
    # A status of a plug-in, as "being packed": the order was paid if it has the moment of it.
    return Stage.PAID if _moment(body, "date_paid") else Stage.UNPAID


def _receiver(body: Object) -> Person:
    billing, shipping, meta = object_at(body, "billing"), object_at(body, "shipping"), _meta(body)
    return Person(
        name=_name(shipping) or _name(billing),
        phone=first(
            shipping.get("phone"),
            meta.get("_shipping_phone"),
            billing.get("cellphone"),
            meta.get("_billing_cellphone"),
            billing.get("phone"),
        ),
        email=text(billing.get("email")),
        document=_document(billing, meta),
    )


def _name(address: Object) -> str:
    names = (text(address.get("first_name")), text(address.get("last_name")))
    return text(" ".join(name for name in names if name)) or text(address.get("company"))


def _meta(body: Object) -> dict[str, Any]:
    entries = objects(body.get("meta_data"), values.MOST_NOTES)
    return {key: entry.get("value") for entry in entries if (key := text(entry.get("key")))}


def _document(billing: Object, meta: Object) -> str:
    cpf = (billing.get("cpf"), meta.get("_billing_cpf"), meta.get("billing_cpf"))
    cnpj = (billing.get("cnpj"), meta.get("_billing_cnpj"), meta.get("billing_cnpj"))
    is_company = first(billing.get("persontype"), meta.get("_billing_persontype")) in {"J", "2"}
    return first(*cnpj, *cpf) if is_company else first(*cpf, *cnpj)


def _address(body: Object) -> Address:
    shipping, meta, kind = object_at(body, "shipping"), _meta(body), "shipping"
    if not text(shipping.get("address_1")) and not text(shipping.get("postcode")):
        shipping, kind = object_at(body, "billing"), "billing"
    line = text(shipping.get("address_1"))
    number = first(shipping.get("number"), meta.get(f"_{kind}_number"), meta.get(f"{kind}_number"))
    lines = street_lines.Lines(line, number, "") if number else street_lines.split(line)
    return Address(
        postal_code=text(shipping.get("postcode")),
        street=lines.street,
        number=lines.number,
        complement=text(", ".join(part for part in (text(shipping.get("address_2")), lines.rest) if part)),
        district=first(
            shipping.get("neighborhood"), meta.get(f"_{kind}_neighborhood"), meta.get(f"{kind}_neighborhood")
        ),
        city=text(shipping.get("city")),
        state=text(shipping.get("state")),
        country=text(shipping.get("country")),
    )


def _items(body: Object, methods: list[Object]) -> tuple[Item, ...]:
    collected = bool(methods) and all(text(method.get("method_id")) in _COLLECTED for method in methods)
    shipping = object_at(body, "shipping")
    # An order of virtual products has neither a method nor an address to send it to.
    is_virtual = not methods and not text(shipping.get("address_1"))
    if collected or is_virtual or text(body.get("status")) == _SENT:
        return ()
    lines = values.bounded(body.get("line_items"), "line_items")
    return tuple(_item(line, quantity) for line in lines if (quantity := values.whole(line.get("quantity"))))


def _item(line: Object, quantity: int) -> Item:
    price = values.reais(line.get("price"))
    if price is None:
        price = ((values.number(line.get("total")) or Decimal(0)) / quantity).quantize(values.CENTAVO)
    return Item(sku=text(line.get("sku")), name=text(line.get("name")), quantity=quantity, unit_price=price)
