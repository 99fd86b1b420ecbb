"""Orders of Shopify, as its webhooks post them: the resource Order of its REST Admin API. Pure.

They have no sizes of their products. The CPF or CNPJ that Shopify's own checkout asks for (`TAX_CREDENTIAL_BR`) is a
localized field, which only its GraphQL API shows: it is in no webhook, so that the document is found only where an app
or the theme asks for it.
"""

import unicodedata
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import NamedTuple

from common.shops import street_lines, values
from common.shops.order import Address, Item, Person, ShopOrder, Stage, UnknownForm
from common.shops.values import Object, first, joined, object_at, objects, text

_FORM: values.Form = {
    "id": values.identifier,
    "financial_status": text,
    "total_price": values.reais,
    "line_items": values.listing,
}
_PAID = frozenset(("paid", "partially_refunded"))
_CANCELLED = frozenset(("voided", "refunded"))
# Gateways of money at the door, folded: Shopify's own name of it, and how shops call it in Portuguese.
_AT_DOOR = ("cashondelivery", "pagamentonaentrega", "cod")
# Names of additional details, folded and without the prefixes that say of which address they are.
_DOCUMENTS = ("cpf", "cnpj", "cpfcnpj", "cpfoucnpj", "customerdocument", "document", "documento", "infodocument")
_NUMBERS = ("number", "numero", "streetnumber", "addressnumber")
_DISTRICTS = ("neighborhood", "bairro", "district")
# Between two parts of a line, where Shopify's form of an address in Brazil asks for each: street and number, complement
# and district. Source: Shopify/worldwide, `lang/typescript/src/utils/address-fields.ts` and `data/regions/BR.yml`.
_DELIMITER = "\u2060"
# Of a shop without that form, before the district: `apto 301, Pituba` and `apto 301 - Pituba`.
_SEPARATORS = (",", " - ")
_SHORTEST_DISTRICT = 2
_PARTS_OF_HOUSES = frozenset(("casa", "cobertura", "frente", "fundos", "portaria", "sobrado", "terreo"))


def read(body: Object) -> ShopOrder:
    """The order in `body`. Raises UnknownForm."""
    values.require(body, _FORM)
    if text(body.get("currency")) not in {"", "BRL"}:
        raise UnknownForm(("currency=BRL",))
    order_id, methods = values.identifier(body["id"]), objects(body.get("shipping_lines"), values.MOST_METHODS)
    notes, pays_at_door = _notes(body), _pays_at_door(body)
    return ShopOrder(
        id=order_id,
        number=values.identifier(values.present(body, "name", "order_number")) or order_id,
        stage=_stage(body, pays_at_door=pays_at_door),
        is_test=body.get("test") is True,
        placed_at=values.moment(body.get("created_at")),
        changed_at=values.moment(body.get("updated_at")),
        receiver=_receiver(body, notes),
        address=_address(body, notes),
        note=text(body.get("note"), values.LONGEST_NOTE),
        shipping_methods=values.texts(method.get(key) for method in methods for key in ("title", "code")),
        total=values.price(values.present(body, "current_total_price", "total_price")),
        pays_at_door=pays_at_door,
        items=_items(body),
    )


def _stage(body: Object, *, pays_at_door: bool) -> Stage:
    status = text(body["financial_status"])
    if body.get("cancelled_at") is not None or status in _CANCELLED:
        return Stage.CANCELLED
    return Stage.PAID if status in _PAID or pays_at_door else Stage.UNPAID


def _pays_at_door(body: Object) -> bool:
    # A customer whose first payment fails may choose another: the last name is that of the last one.
    gateways = values.listing(body.get("payment_gateway_names")) or [""]
    last = _folded(text(gateways[-1]))
    return text(body["financial_status"]) == "pending" and last.startswith(_AT_DOOR)


def _notes(body: Object) -> Mapping[str, str]:
    """Additional details of the order, which apps and themes ask for, by their folded names."""
    entries = objects(body.get("note_attributes"), values.MOST_NOTES)
    return {_folded(text(entry.get("name"))): shown for entry in entries if (shown := text(entry.get("value")))}


def _noted(notes: Mapping[str, str], names: Iterable[str], *prefixes: str) -> str:
    return first(*(notes.get(f"{prefix}{name}") for prefix in prefixes for name in names))


def _folded(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name).casefold()
    return "".join(character for character in plain if character.isascii() and character.isalnum())


def _receiver(body: Object, notes: Mapping[str, str]) -> Person:
    shipping, billing = object_at(body, "shipping_address"), object_at(body, "billing_address")
    customer = object_at(body, "customer")
    return Person(
        name=_name(shipping) or _name(billing) or _name(customer),
        phone=first(shipping.get("phone"), billing.get("phone"), body.get("phone"), customer.get("phone")),
        email=first(body.get("email"), body.get("contact_email"), customer.get("email")),
        document=first(_noted(notes, _DOCUMENTS, "shipping", "", "billing"), *_typed_documents(shipping, billing)),
    )


def _name(person: Object) -> str:
    return joined(person.get("first_name"), person.get("last_name")) or text(person.get("name"))


def _typed_documents(*addresses: Object) -> list[str]:
    """Documents in the fields that shops without an app rename for them: the company, and the second line."""
    typed = [text(address.get(key)) for key in ("company", "address2") for address in addresses]
    return [shown for shown in typed if street_lines.is_document(shown)]


class _Parts(NamedTuple):
    first: str
    second: str


def _address(body: Object, notes: Mapping[str, str]) -> Address:
    shipping = object_at(body, "shipping_address")
    line, second = text(shipping.get("address1")), _complement(text(shipping.get("address2")))
    if _DELIMITER in line:
        lines = street_lines.Lines(*_parts(line), "")
    else:
        lines = street_lines.split(line, _noted(notes, _NUMBERS, "shipping", ""))
    return Address(
        postal_code=text(shipping.get("zip")),
        street=lines.street,
        number=lines.number,
        complement=joined(second.first, lines.rest, by=", "),
        district=second.second or _noted(notes, _DISTRICTS, "shipping", ""),
        city=text(shipping.get("city")),
        state=first(shipping.get("province_code"), shipping.get("province")),
        country=first(shipping.get("country_code"), shipping.get("country")),
        latitude=values.degrees(shipping.get("latitude"), 90),
        longitude=values.degrees(shipping.get("longitude"), 180),
    )


def _parts(line: str) -> _Parts:
    before, _delimiter, behind = line.partition(_DELIMITER)
    return _Parts(before.strip().rstrip(","), behind.replace(_DELIMITER, "").strip())


def _complement(line: str) -> _Parts:
    """The second line as complement and district."""
    if _DELIMITER in line:
        return _parts(line)
    if street_lines.is_document(line):
        return _Parts("", "")
    for separator in _SEPARATORS:
        complement, _separator, district = line.rpartition(separator)
        if any(map(str.isdigit, complement)) and _may_be_district(_folded(district)):
            return _Parts(complement.strip(), district.strip())
    return _Parts(line, "")


def _may_be_district(folded: str) -> bool:
    # What stands behind a number may be a part of the house too: `apto 301, bloco 2`, `casa 5 - A`, `21, fundos`.
    return len(folded) >= _SHORTEST_DISTRICT and folded.isalpha() and folded not in _PARTS_OF_HOUSES


def _items(body: Object) -> tuple[Item, ...]:
    found = values.lines(body["line_items"], "line_items")
    # Without an address the customer collects it, or has it already: a webhook tells in no other way that an order is
    # of local pickup.
    if not object_at(body, "shipping_address"):
        return ()
    return tuple(_item(line, quantity) for line in found if (quantity := _quantity(line)))


def _quantity(line: Object) -> int:
    if line.get("requires_shipping") is False or line.get("gift_card") is True:
        return 0
    # What is left to be sent; else what is left after refunds; else what was ordered.
    return values.pieces(values.present(line, "fulfillable_quantity", "current_quantity", "quantity"))


def _item(line: Object, quantity: int) -> Item:
    return Item(
        sku=text(line.get("sku")),
        name=first(line.get("name"), line.get("title")),
        quantity=quantity,
        unit_price=_unit_price(line),
        weight_g=values.grams(line.get("grams")),
    )


def _unit_price(line: Object) -> Decimal:
    """The price of one, less its part of the discounts, which are of the whole line as it was ordered."""
    price, ordered = values.price(line.get("price")), values.pieces(line.get("quantity")) or 1
    allocations = objects(line.get("discount_allocations"), values.MOST_NOTES)
    discount = sum((values.price(part.get("amount")) for part in allocations), values.ZERO)
    return values.price(price - discount / ordered)
