"""Orders of WooCommerce, as its webhooks post them: the answer of its REST API, version 3. Pure.

They have neither weights nor sizes of their products, do not say which lines are virtual or were refunded, and know no
test orders.
Number, district and CPF are `Fields` of plug-ins.
An order that was moved to the trash is its `id` alone, posted by another webhook: that of the topic *Order deleted*.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from html import unescape
from typing import NamedTuple

from common.shops import street_lines, values
from common.shops.order import Address, Item, Person, ShopOrder, Stage, UnknownForm
from common.shops.values import Object, first, joined, object_at, objects, text

_FORM: values.Form = {
    "id": values.identifier,
    "status": text,
    "total": values.reais,
    "billing": values.mapping,
    "line_items": values.listing,
}
_PAID, _SENT = "processing", "completed"
_UNPAID = frozenset(("pending", "on-hold", "failed", "checkout-draft", "auto-draft", "draft"))
_CANCELLED = frozenset(("cancelled", "refunded", "trash"))
# Methods by which the customer comes to the shop: of WooCommerce, of its checkout block, of its plug-in.
_COLLECTED = frozenset(("local_pickup", "pickup_location", "local_pickup_plus"))
_AT_DOOR = "cod"
_CHECKOUTS = frozenset(("checkout", "store-api"))  # `created_via`: the classic checkout, the checkout block
_ERROR = "woocommerce_rest_"
_ENTITY = re.compile("&#?[0-9A-Za-z]{1,31};")
_COMPANY = frozenset(("J", "2"))  # kinds of persons, in the answer and in the meta data
_DELETED: Object = {"status": "trash", "total": "0", "billing": {}, "line_items": []}
_NUMBERS, _DISTRICTS = ("number", "numero", "house_number"), ("neighborhood", "bairro", "district")


class Fields(NamedTuple):
    """Fields of plug-ins, in their three forms.

    Keys of the addresses, as *Brazilian Market on WooCommerce* adds them to the answer of the REST API
    (`shipping.number`); meta data of it and of its like (`_shipping_number`, `billing_cpf`); additional fields of the
    checkout block (`_wc_shipping/any-plug-in/number`, `_wc_other/any-plug-in/cpf`). `meta` has the latter two as
    `shipping_number` and `other_cpf`.
    """

    order: Object
    meta: Mapping[str, str]

    def of(self, kind: str, *names: str) -> str:
        """The first of `names` that is found, of the address `billing` or `shipping`, or of the order: `other`."""
        address = object_at(self.order, kind)
        return first(*(address.get(name) for name in names), *(self.meta.get(f"{kind}_{name}") for name in names))


def read(body: Object) -> ShopOrder:
    """The order in `body`. Raises UnknownForm."""
    if error := _error(body):
        raise UnknownForm((f"id ({error})",))
    if body.keys() == {"id"}:
        body = {**body, **_DELETED}
    values.require(body, _FORM)
    if text(body.get("currency")) not in {"", "BRL"}:
        raise UnknownForm(("currency=BRL",))
    body = {**body, **{kind: _plain(object_at(body, kind)) for kind in ("billing", "shipping")}}
    order_id, fields = values.identifier(body["id"]), _plug_in_fields(body)
    methods = [_plain(method) for method in objects(body.get("shipping_lines"), values.MOST_METHODS)]
    return ShopOrder(
        id=order_id,
        number=values.identifier(body.get("number")) or order_id,
        stage=_stage(body),
        is_test=False,
        placed_at=_moment(body, "date_created"),
        changed_at=_moment(body, "date_modified"),
        receiver=_receiver(body, fields),
        address=_address(body, fields),
        note=text(body.get("customer_note"), values.LONGEST_NOTE),
        shipping_methods=values.texts(method.get(key) for method in methods for key in ("method_title", "method_id")),
        total=values.price(values.price(body["total"]) - _refunded(body)),
        pays_at_door=text(body.get("payment_method")) == _AT_DOOR,
        items=_items(body, methods),
    )


def _error(body: Object) -> str:
    """The code with which the REST API has answered in place of the order, as `woocommerce_rest_cannot_view`.

    WooCommerce reads the order as the person who has created the webhook, who may not see orders any more.
    """
    code = values.identifier(body.get("code"))
    return code if code.startswith(_ERROR) and "id" not in body else ""


def _plain(found: Object) -> Object:
    """With plain texts. Titles are HTML, and so is what is typed at the checkout block: `Ana &amp; Bia`."""
    return {key: _without_entities(text(value)) if isinstance(value, str) else value for key, value in found.items()}


def _without_entities(shown: str) -> str:
    # `unescape` alone would turn `Sol&paralelo`, typed at the classic checkout, into `Sol¶lelo`.
    return _ENTITY.sub(lambda entity: unescape(entity[0]), shown)


def _refunded(body: Object) -> Decimal:
    refunds = objects(body.get("refunds"), values.MOST_NOTES)
    amounts = (values.reais(refund.get("total")) for refund in refunds)  # negative ones
    return sum((abs(amount) for amount in amounts if amount is not None), values.ZERO)


def _moment(body: Object, key: str) -> datetime | None:
    # The key without `_gmt` is in the shop's zone, which the order does not name.
    return values.moment(body.get(f"{key}_gmt"))


def _stage(body: Object) -> Stage:
    status = text(body["status"])
    if status in _CANCELLED:
        return Stage.CANCELLED
    if status in _UNPAID:
        return Stage.UNPAID
    # A status of a plug-in, as "being packed", is of a paid order if that has the moment of it.
    is_paid = status in {_PAID, _SENT} or _moment(body, "date_paid") is not None
    return Stage.PAID if is_paid else Stage.UNPAID


def _plug_in_fields(body: Object) -> Fields:
    entries = map(_plain, objects(body.get("meta_data"), values.MOST_NOTES))
    found = {_plain_key(text(entry.get("key"))): shown for entry in entries if (shown := text(entry.get("value")))}
    return Fields(body, found)


def _plain_key(key: str) -> str:
    kind, *rest = key.lower().removeprefix("_").removeprefix("wc_").split("/")
    return f"{kind}_{rest[-1]}".replace("-", "_") if rest else kind


def _receiver(body: Object, fields: Fields) -> Person:
    billing, shipping = object_at(body, "billing"), object_at(body, "shipping")
    return Person(
        name=_name(shipping) or _name(billing),
        phone=first(shipping.get("phone"), fields.of("billing", "cellphone"), billing.get("phone")),
        email=text(billing.get("email")),
        document=_document(fields),
    )


def _name(address: Object) -> str:
    return joined(address.get("first_name"), address.get("last_name")) or text(address.get("company"))


def _document(fields: Fields) -> str:
    names = ("cnpj", "cpf") if fields.of("billing", "persontype") in _COMPANY else ("cpf", "cnpj")
    kinds = ("shipping", "billing", "other")
    return first(
        *(fields.of(kind, name) for kind in kinds for name in names),
        fields.of("other", "cpf_cnpj"),
        fields.meta.get("cpf"),
        fields.meta.get("cnpj"),
    )


def _address(body: Object, fields: Fields) -> Address:
    kind = "shipping" if _has_address(body, "shipping") else "billing"
    address, billing = object_at(body, kind), object_at(body, "billing")
    # A shop that asks for one address only may have its plug-in's fields in the other.
    is_same = all(text(address.get(key)) == text(billing.get(key)) for key in ("address_1", "postcode"))
    kinds = (kind, "billing") if is_same else (kind,)
    lines = street_lines.split(text(address.get("address_1")), first(*(fields.of(kind, *_NUMBERS) for kind in kinds)))
    return Address(
        postal_code=text(address.get("postcode")),
        street=lines.street,
        number=lines.number,
        complement=joined(address.get("address_2"), lines.rest, by=", "),
        district=first(*(fields.of(kind, *_DISTRICTS) for kind in kinds)),
        city=text(address.get("city")),
        state=text(address.get("state")),
        country=text(address.get("country")),
    )


def _has_address(body: Object, kind: str) -> bool:
    address = object_at(body, kind)
    return any(text(address.get(key)) for key in ("address_1", "postcode"))


def _items(body: Object, methods: list[Object]) -> tuple[Item, ...]:
    found = values.lines(body["line_items"], "line_items")
    is_collected = bool(methods) and all(text(method.get("method_id")) in _COLLECTED for method in methods)
    # An order of virtual products has no method, and an address to send it to only where the checkout repeats the
    # payer's. One that the shop's people make may have no method either, but an address.
    is_of_checkout = text(body.get("created_via")) in _CHECKOUTS
    is_virtual = not methods and (is_of_checkout or not _has_address(body, "shipping"))
    if is_collected or is_virtual or text(body["status"]) == _SENT:
        return ()
    return tuple(_item(_plain(line), quantity) for line in found if (quantity := values.pieces(line.get("quantity"))))


def _item(line: Object, quantity: int) -> Item:
    price = values.reais(line.get("price"))
    if price is None:
        total = values.price(line.get("total"))
        price = total / quantity
    return Item(
        sku=text(line.get("sku")), name=text(line.get("name")), quantity=quantity, unit_price=values.price(price)
    )
