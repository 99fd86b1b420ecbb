"""A shop's order as a body of create-order, and such a body as the actions take it.

The bodies are of our own making, so that they are read without checks, once nothing is missing of them.
"""

from decimal import ROUND_CEILING, Decimal
from typing import Any, cast

from django.core.exceptions import ValidationError

from common.brazil.phones import national
from common.brazil.states import postcode_of, state_named
from common.mail import outbox
from common.shops.bodies import Body, without_blanks
from common.shops.order import Item, ShopOrder
from integration.actions.orders import Item as OrderItem
from integration.actions.orders import NewOrder, Receiver
from integration.connections.models import Connection

_GRAMS = Decimal(1000)
_MOBILE_DIGITS = 11
_NO_NAME = "Item"  # the API requires a description
# By the code, what an order cannot be made without.
_NEEDED = {
    "missing_name": ("receiver", "name"),
    "missing_zipcode": ("receiver", "address", "zipCode"),
    "missing_street": ("receiver", "address", "street"),
    "missing_number": ("receiver", "address", "streetNumber"),
    "missing_neighborhood": ("receiver", "address", "neighborhood"),
    "missing_city": ("receiver", "address", "city"),
    "missing_state": ("receiver", "address", "state"),
}
MISSING = tuple(_NEEDED)


def body_of(order: ShopOrder, connection: Connection) -> Body:
    """What is known of an order, as the API takes it."""
    company = connection.company
    return {
        **without_blanks({"company_document": company.document if company else ""}),
        "orderId": order.number or order.id,
        "orderCost": float(order.total),
        "service": connection.service,
        "items": [_item(item, connection.dimensions) for item in order.items],
        "receiver": {"address": {}, **_receiver(order)},
    }


def _receiver(order: ShopOrder) -> Body:
    receiver, address = order.receiver, order.address
    # Brazilian mobile numbers have a digit more than others. Platforms tell one number, of either kind.
    kind = "cellphone" if len(national(receiver.phone)) == _MOBILE_DIGITS else "phone"
    return without_blanks(
        {
            "name": receiver.name,
            "document": receiver.document,
            kind: receiver.phone,
            "email": _email(receiver.email),
            "address": {
                "street": address.street,
                "streetNumber": address.number,
                "complement": address.complement,
                "neighborhood": address.district,
                "city": address.city,
                "state": state_named(address.state) or address.state,
                "zipCode": postcode_of(address.postal_code),
            },
        }
    )


def _email(text: str) -> str:
    try:
        return outbox.clean_address(text) if text else ""
    except ValidationError:
        return ""


def _item(item: Item, default: str) -> Body:
    sides, _comma, weight = default.partition(",")
    if item.size_cm:
        sides = "x".join(str(int(side.to_integral_value(ROUND_CEILING))) for side in item.size_cm)
    if item.weight_g:
        weight = f"{(item.weight_g / _GRAMS).normalize():f}"
    return {
        "description": item.name or item.sku or _NO_NAME,
        "dimensions": f"{sides},{weight}",
        "quantity": item.quantity,
        "price": float(item.unit_price),
    }


def missing_of(body: Body) -> list[str]:
    """Codes of what a body lacks."""
    found = [] if "company_document" in body else ["company_not_found"]
    return found + [code for code, path in _NEEDED.items() if not _at(body, path)]


def _at(body: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        body = body.get(key, {})
    return body


def new_order(body: Body) -> NewOrder:
    """The body as the actions take it. Without what it lacks, which is empty."""
    receiver = {"name": "", **body["receiver"]}
    return NewOrder(
        company_document=body.get("company_document", ""),
        code=body["orderId"],
        tracking_code=body.get("trackingCode", ""),
        service=body["service"],
        cost=_amount(body["orderCost"]),
        items=[cast("OrderItem", {**item, "price": _amount(item["price"])}) for item in body["items"]],
        receiver=cast("Receiver", receiver),
        invoice=None,
        volumes=body.get("volumes", 1),
    )


def _amount(value: float) -> Decimal:
    return Decimal(str(value))


def body_of_order(order: NewOrder) -> Body:
    """The body of an order that people have filled in."""
    items = [{**item, "price": float(item["price"])} for item in order.items]
    return {
        "company_document": order.company_document,
        "orderId": order.code,
        "orderCost": float(order.cost),
        "service": order.service,
        "items": items,
        "receiver": order.receiver,
        **without_blanks({"trackingCode": order.tracking_code}),
        **({"volumes": order.volumes} if order.volumes != 1 else {}),
    }
