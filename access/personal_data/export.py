"""Everything that is stored about one person, as JSON (LGPD, article 18)."""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from access.personal_data import search
from access.personal_data.search import Person
from delivery import bodies
from delivery.models import Delivery, Driver, DriverPosition, DropoffOptions, Stop, StopProof
from integration.actions import forgetting as in_orders
from integration.models import Company, Invoice, Order

_READ_AT_ONCE = 2000


def chunks(person: Person, *, at: datetime) -> Iterator[str]:
    """The parts of the text of one JSON object, read from the database while they are written.

    Its last key is `complete`, which is true: an export that was interrupted is no JSON.
    """
    found = search.find(person, until=at)
    stops = found.stops.select_related("delivery__integrator", "options", "proof").prefetch_related("photos")
    lists: dict[str, Iterator[str]] = {
        "dropoffs": _array(map(_stop, stops.order_by("-pk").iterator(_READ_AT_ONCE))),
        "pickups": _array(map(_pickup, found.pickups.order_by("-pk").iterator(_READ_AT_ONCE))),
        "orders": _array(map(_order, found.orders.select_related("seller").order_by("-pk").iterator(_READ_AT_ONCE))),
        "invoices": _array(map(_invoice, found.invoices.defer("raw").order_by("-pk").iterator(_READ_AT_ONCE))),
        "drivers": _joined(map(_driver, found.drivers.order_by("pk"))),
        "companies": _array(map(_company, found.companies.select_related("seller"))),
    }
    who = {"document": person.document} if person.document else {"phone": person.phone}
    yield _text({"exportedAt": at.isoformat(), "person": who}).removesuffix("}")
    for name, parts in lists.items():
        yield f',\n"{name}": '
        yield from parts
    yield ',\n"complete": true}'


def _text(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _array(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    return _joined([_text(row)] for row in rows)


def _joined(items: Iterable[Iterable[str]]) -> Iterator[str]:
    """A JSON array of these items, each given in parts."""
    yield "["
    for number, parts in enumerate(items):
        yield ",\n" if number else "\n"
        yield from parts
    yield "]"


def _stop(stop: Stop) -> dict[str, Any]:
    options: DropoffOptions | None = getattr(stop, "options", None)
    proof: StopProof | None = getattr(stop, "proof", None)
    return {
        "deliveryId": str(stop.delivery_id),
        "account": stop.delivery.integrator.name,
        "point": stop.label,
        "externalId": stop.external_id,
        "status": stop.status,
        "requestedAt": stop.delivery.created_at.isoformat(),
        "name": stop.contact_name,
        "phone": stop.contact_phone,
        "address": bodies.address(stop),
        "instructions": options.instructions if options else "",
        "email": options.contact_email if options else "",
        "receivedBy": proof.received_by if proof else "",
        "failureReason": stop.failure_reason,
        "photosTakenAt": [photo.taken_at.isoformat() for photo in stop.photos.all()],
    }


def _pickup(delivery: Delivery) -> dict[str, Any]:
    return {
        "deliveryId": str(delivery.pk),
        "requestedAt": delivery.created_at.isoformat(),
        "name": delivery.contact_name,
        "phone": delivery.contact_phone,
        "address": bodies.address(delivery),
    }


def _order(order: Order) -> dict[str, Any]:
    return {
        "orderId": order.code,
        "seller": order.seller.name,
        "status": order.status,
        "createdAt": order.created_at.isoformat(),
        "items": order.items,
        "receiver": order.receiver,
    }


def _invoice(invoice: Invoice) -> dict[str, Any]:
    until = in_orders.kept_until(invoice)
    return {
        "accessKey": invoice.access_key,
        "receivedAt": invoice.received_at.isoformat(),
        "keptUntil": until.isoformat() if until else None,
    }


def _company(company: Company) -> dict[str, Any]:
    return {"document": company.document, "name": company.name, "seller": company.seller.name}


def _driver(driver: Driver) -> Iterator[str]:
    known = {
        "name": driver.name,
        "phone": driver.phone,
        "vehicleType": driver.vehicle_type,
        "active": driver.active,
        "phones": [device.name for device in driver.devices.all()],
    }
    yield _text(known).removesuffix("}")
    yield ', "positions": '
    yield from _array(map(_position, driver.positions.order_by("-recorded_at").iterator(_READ_AT_ONCE)))
    yield "}"


def _position(fix: DriverPosition) -> dict[str, Any]:
    return {"latitude": fix.latitude, "longitude": fix.longitude, "recordedAt": fix.recorded_at.isoformat()}
