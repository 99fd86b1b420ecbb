"""Everything that is stored about one person, as JSON (LGPD, article 18)."""

from datetime import datetime
from typing import Any

from delivery import bodies
from delivery.models import Delivery, Driver, DropoffOptions, Stop, StopProof
from integration.actions import forgetting as in_orders
from integration.models import Invoice, Order
from privacy import search
from privacy.people import Person

MOST = 10_000  # of each kind


def of(person: Person, *, at: datetime) -> dict[str, Any]:
    """`complete` is false if there are more than MOST of a kind; the newest are exported."""
    found = search.find(person, until=at)
    lists: dict[str, list[dict[str, Any]]] = {
        "dropoffs": [_stop(stop) for stop in _newest_stops(found)],
        "pickups": [_pickup(delivery) for delivery in found.pickups.order_by("-pk")[: MOST + 1]],
        "orders": [_order(order) for order in found.orders.select_related("seller").order_by("-pk")[: MOST + 1]],
        "invoices": [_invoice(invoice) for invoice in found.invoices.defer("raw").order_by("-pk")[: MOST + 1]],
        "drivers": [_driver(driver) for driver in found.drivers.order_by("pk")[: MOST + 1]],
        "companies": [
            {"document": company.document, "name": company.name, "seller": company.seller.name}
            for company in found.companies.select_related("seller")
        ],
    }
    return {
        "exportedAt": at.isoformat(),
        "person": {"document": person.document} if person.document else {"phone": person.phone},
        "complete": all(len(rows) <= MOST for rows in lists.values()),
        **{name: rows[:MOST] for name, rows in lists.items()},
    }


def _newest_stops(found: search.Found) -> list[Stop]:
    related = ("delivery__integrator", "options", "proof")
    return list(found.stops.select_related(*related).prefetch_related("photos").order_by("-pk")[: MOST + 1])


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


def _driver(driver: Driver) -> dict[str, Any]:
    positions = driver.positions.order_by("-recorded_at")[:MOST]
    return {
        "name": driver.name,
        "phone": driver.phone,
        "vehicleType": driver.vehicle_type,
        "active": driver.active,
        "positions": [
            {"latitude": fix.latitude, "longitude": fix.longitude, "recordedAt": fix.recorded_at.isoformat()}
            for fix in positions
        ],
        "phones": [device.name for device in driver.devices.all()],
    }
