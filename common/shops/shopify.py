"""Orders of Shopify, as its webhooks post them: the resource Order of its REST Admin API. Pure.

Its orders have no sizes of their products. The CPF or CNPJ that Shopify's own checkout asks for is a localized field,
which only the GraphQL API shows: webhooks do not carry it.
"""

import unicodedata
from decimal import Decimal
from typing import Any, NamedTuple

from common.shops import street_lines, values
from common.shops.order import Address, Item, Person, ShopOrder, Stage, UnknownForm
from common.shops.values import Object, first, object_at, objects, text

_REQUIRED = ("id", "financial_status", "total_price", "line_items")
_PAID = frozenset(("paid", "partially_refunded"))
_CANCELLED = frozenset(("voided", "refunded"))
# Between two parts of a line, where Shopify's address form for Brazil asks for each: street and number, complement and
# district. Source: Shopify/worldwide, `lang/typescript/src/utils/address-fields.ts` and `data/regions/BR.yml`.
_DELIMITER = "\u2060"
_DOCUMENT_DIGITS = (11, 14)


def read(body: Object) -> ShopOrder:
    """The order in `body`. Raises UnknownForm."""
    order_id = text(body.get("id"), values.LONGEST_ID)
    total = values.reais(values.first_there(body, "current_total_price", "total_price"))
    missing = [key for key in _REQUIRED if not values.is_there(body, key)]
    if not order_id:
        missing.append("id")
    if total is None:
        missing.append("total_price")
    if text(body.get("currency")) not in {"", "BRL"}:
        missing.append("currency=BRL")
    if missing or total is None:
        raise UnknownForm(tuple(dict.fromkeys(missing)))
    methods = objects(body.get("shipping_lines"), values.MOST_METHODS)
    notes = _notes(body)
    return ShopOrder(
        id=order_id,
        number=first(body.get("name"), body.get("order_number"), order_id, longest=values.LONGEST_ID),
        stage=_stage(body),
        is_test=body.get("test") is True,
        placed_at=values.moment(body.get("created_at")),
        changed_at=values.moment(body.get("updated_at")),
        receiver=_receiver(body, notes),
        address=_address(body, notes),
        note=text(body.get("note"), values.LONGEST_NOTE),
        shipping_methods=values.texts(method.get(key) for method in methods for key in ("title", "code")),
        total=total,
        pays_at_door=False,
        items=_items(body),
    )


def _stage(body: Object) -> Stage:
    status = text(body.get("financial_status"))
    if values.is_there(body, "cancelled_at") or status in _CANCELLED:
        return Stage.CANCELLED
    return Stage.PAID if status in _PAID else Stage.UNPAID


def _notes(body: Object) -> dict[str, Any]:
    """Additional details of the order, which themes and apps ask for, by their folded names."""
    entries = objects(body.get("note_attributes"), values.MOST_NOTES)
    return {_folded(text(entry.get("name"))): entry.get("value") for entry in entries}


def _folded(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).casefold()
    return "".join(character for character in plain if character.isascii() and character.isalnum())


def _shipping(body: Object) -> Object:
    return object_at(body, "shipping_address") or object_at(body, "billing_address")


def _receiver(body: Object, notes: Object) -> Person:
    shipping, billing, customer = _shipping(body), object_at(body, "billing_address"), object_at(body, "customer")
    return Person(
        name=_name(shipping) or _name(billing) or _name(customer),
        phone=first(shipping.get("phone"), billing.get("phone"), body.get("phone"), customer.get("phone")),
        email=first(body.get("email"), body.get("contact_email"), customer.get("email")),
        document=_document(shipping, billing, notes),
    )


def _name(person: Object) -> str:
    names = (text(person.get("first_name")), text(person.get("last_name")))
    return text(" ".join(name for name in names if name)) or text(person.get("name"))


def _document(shipping: Object, billing: Object, notes: Object) -> str:
    names = ("cpf", "cnpj", "cpfcnpj", "cpfoucnpj", "documento", "customerdocument", "document")
    if found := first(*(notes.get(name) for name in names)):
        return found
    companies = (text(address.get("company")) for address in (shipping, billing))
    return next((company for company in companies if _is_document(company)), "")


def _is_document(company: str) -> bool:
    # Shops without an app ask for the CPF in the field of the company.
    digits = [character for character in company if character.isdecimal()]
    return len(digits) in _DOCUMENT_DIGITS and not any(character.isalpha() for character in company)


class _Parts(NamedTuple):
    first: str
    second: str


def _parts(line: str) -> _Parts | None:
    before, delimiter, behind = line.partition(_DELIMITER)
    return _Parts(before.rstrip(" ,"), behind.replace(_DELIMITER, "").strip()) if delimiter else None


def _address(body: Object, notes: Object) -> Address:
    shipping = _shipping(body)
    line, second = text(shipping.get("address1")), text(shipping.get("address2"))
    noted = first(notes.get("numero"), notes.get("number"), notes.get("shippingnumber"))
    if parts := _parts(line):
        lines = street_lines.Lines(parts.first, parts.second, "")
    else:
        lines = street_lines.Lines(line, noted, "") if noted else street_lines.split(line)
    complement, district = _parts(second) or _Parts(second, "")
    return Address(
        postal_code=text(shipping.get("zip")),
        street=lines.street,
        number=lines.number,
        complement=text(", ".join(part for part in (complement, lines.rest) if part)),
        district=district or first(notes.get("bairro"), notes.get("neighborhood"), notes.get("district")),
        city=text(shipping.get("city")),
        state=first(shipping.get("province_code"), shipping.get("province")),
        country=first(shipping.get("country_code"), shipping.get("country")),
        latitude=values.degrees(shipping.get("latitude"), 90),
        longitude=values.degrees(shipping.get("longitude"), 180),
    )


def _items(body: Object) -> tuple[Item, ...]:
    lines = values.bounded(body.get("line_items"), "line_items")
    return tuple(_item(line, quantity) for line in lines if (quantity := _quantity(line)))


def _quantity(line: Object) -> int:
    if line.get("requires_shipping") is False or line.get("gift_card") is True:
        return 0
    # What is left to be sent; without what was refunded; as ordered.
    return values.whole(values.first_there(line, "fulfillable_quantity", "current_quantity", "quantity")) or 0


def _item(line: Object, quantity: int) -> Item:
    return Item(
        sku=text(line.get("sku")),
        name=first(line.get("name"), line.get("title")),
        quantity=quantity,
        unit_price=values.reais(line.get("price")) or Decimal("0.00"),
        weight_g=values.whole(line.get("grams")) or None,
    )
