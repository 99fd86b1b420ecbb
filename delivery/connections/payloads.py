"""A shop's order as a body of request-delivery, and such a body as the actions take it. Pure.

The bodies are of our own making, so that they are read without checks: `source` cuts and leaves out what the API would
refuse. Keys without a value are absent.
"""

from decimal import Decimal
from typing import Any, cast

from django.core.exceptions import ValidationError

from common.brazil.states import postcode_of
from common.mail import outbox
from common.shops.bodies import Body, merged, without_blanks
from common.shops.order import Item, ShopOrder
from delivery.bodies import ADDRESS_TEXTS
from delivery.geo.distance import Point
from delivery.models.stop import LONGEST_INSTRUCTIONS
from delivery.payload import DeliveryRequest, Options, Package, Place

MOST_PACKAGES = 200  # as the API takes
_GRAMS = 1000
_IN_BRAZIL = str.maketrans(",.", ".,")  # the signs of amounts
_LARGEST = 1_000_000_000  # as the API takes
PLACE = ("latitude", "longitude")
_SIDES = ("width", "height", "length")
# What an address is looked for by: when it changes, its place is looked for anew.
_LOCATED_BY = ("street", "number", "district", "city", "state", "zipcode")


def dropoff(order: ShopOrder) -> Body:
    """The drop-off of an order, as `dropoffs` has it."""
    address, receiver = order.address, order.receiver
    return without_blanks(
        {
            "externalId": order.number or order.id,
            "contacts": {"name": receiver.name, "phoneNumber": receiver.phone, "email": _email(receiver.email)},
            "address": {
                "street": address.street,
                "number": address.number,
                "complement": address.complement,
                "district": address.district,
                "city": address.city,
                "state": address.state,
                "zipcode": postcode_of(address.postal_code),
                "country": address.country,
                "latitude": address.latitude,
                "longitude": address.longitude,
            },
            "instructions": _instructions(order),
        }
    )


def _instructions(order: ShopOrder) -> str:
    """The customer's note, after what drivers have to ask for. In Portuguese, as what drivers are told by shops is."""
    amount = f"{order.total:,.2f}".translate(_IN_BRAZIL)
    due = f"Receber na entrega: R$ {amount}." if order.pays_at_door else ""
    return " ".join(filter(None, (due, order.note)))[:LONGEST_INSTRUCTIONS]


def packages(order: ShopOrder) -> list[Body]:
    """The items, as `orderPackages` has them. Those that it has no room for are one, with their weight."""
    if len(order.items) <= MOST_PACKAGES:
        return [_package(item) for item in order.items]
    kept, rest = order.items[: MOST_PACKAGES - 1], order.items[MOST_PACKAGES - 1 :]
    grams = sum((item.weight_g or 0) * item.quantity for item in rest)
    return [*map(_package, kept), without_blanks({"quantity": 1, "weight": _kilograms(grams)})]


def _package(item: Item) -> Body:
    sides = dict(zip(_SIDES, map(_measure, item.size_cm), strict=True)) if item.size_cm else {}
    weight = _kilograms(item.weight_g or 0)
    quantity = min(max(item.quantity, 1), _LARGEST)
    return without_blanks({"description": item.name, "quantity": quantity, "weight": weight, **sides})


def _kilograms(grams: int) -> float | None:
    return _measure(Decimal(grams) / _GRAMS)


def _measure(value: Decimal) -> float | None:
    return float(value) if 0 < value <= _LARGEST else None


def _email(text: str) -> str:
    try:
        return outbox.clean_address(text) if text else ""
    except ValidationError:
        return ""


def merged_dropoff(now: Body, *, before: Body, here: Body) -> Body:
    """The drop-off `here` with what has changed in the shop, between `before` and `now`; the rest stays as it is here.

    If its address changes, its place is unknown unless the shop says it.
    """
    found: Body = merged(now, before=before, here=here)
    if not is_same_address(found, here) and _place_of(found) == _place_of(here):
        found = at_place(found, None)
    return found


def is_same_address(one: Body, other: Body) -> bool:
    """Whether the addresses of two drop-offs are looked for alike."""
    first, second = one.get("address", {}), other.get("address", {})
    return all(first.get(name) == second.get(name) for name in _LOCATED_BY)


def _place_of(found: Body) -> tuple[Any, ...]:
    return tuple(found.get("address", {}).get(name) for name in PLACE)


def at_place(found: Body, point: Point | None) -> Body:
    """The drop-off with this place."""
    place = dict(zip(PLACE, point or (None, None), strict=True))
    return without_blanks({**found, "address": {**found.get("address", {}), **place}})


def point_of(found: Body) -> Point | None:
    """The place of a drop-off or a pickup; None if it is not known."""
    latitude, longitude = _place_of(found)
    return None if latitude is None or longitude is None else Point(latitude, longitude)


def address_of(found: Body) -> dict[str, str]:
    return {name: found.get("address", {}).get(name) or "" for name in ADDRESS_TEXTS}


def delivery_request(body: Body) -> DeliveryRequest:
    """The body as the actions take it. All its places are known."""
    return DeliveryRequest(
        vehicle_type=body["vehicleType"],
        pickup=_read_place(body["pickup"]),
        dropoffs=[_read_place(each) for each in body["dropoffs"]],
        packages=[cast("Package", each) for each in body.get("orderPackages", [])],
    )


def _read_place(found: Body) -> Place:
    contacts, point = found.get("contacts", {}), point_of(found)
    assert point is not None  # noqa: S101  # nosec B101  # see `delivery_request`
    return Place(
        point=point,
        address=address_of(found),
        contact_name=contacts.get("name", ""),
        contact_phone=contacts.get("phoneNumber", ""),
        external_id=found.get("externalId", ""),
        options=Options(instructions=found.get("instructions", ""), email=contacts.get("email", "")),
    )
