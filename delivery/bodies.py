"""What integrators see of a delivery: the specification's objects, shared by the API's answers and the webhooks.

Money and distances are `Decimal` inside and JSON numbers here. Source of every key: the specification's
"Resources and their fields".
"""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from delivery.lifecycle import RouteStatus
from delivery.models import Delivery, DriverPosition, Stop

Body = dict[str, Any]

ADDRESS_TEXTS = ("city", "state", "street", "number", "zipcode", "district", "country", "complement")

# A webhook to try an endpoint with: every key of a real one. No delivery has this id.
_NOWHERE = {"latitude": -23.561414, "longitude": -46.655881}
_NO_ID = "00000000-0000-0000-0000-000000000000"
TEST_EVENT: Body = {
    "deliveryId": _NO_ID,
    "status": "PENDING",
    "route": {
        "routeId": _NO_ID,
        "status": "AVAILABLE",
        "pointsCount": 2,
        "fixedValue": 0.0,
        "totalDistanceKm": 0.0,
        "vehicleType": "MOTORCYCLE",
        "acceptMode": "WHOLE_ROUTE",
        "immutable": True,
        "points": [{"label": "A", "type": "pickup"}, {"label": "B", "type": "dropoff"}],
    },
    "driver": {"name": "", "phone": "", "coordinates": {"latitude": None, "longitude": None}},
    "orders": [
        {
            "status": "PENDING",
            "externalId": "test",
            "point": "B",
            "coordinates": _NOWHERE,
            "address": {**dict.fromkeys(ADDRESS_TEXTS, ""), **_NOWHERE},
        }
    ],
}

# A position older than this is shown as stale.
STALE_AFTER = timedelta(seconds=120)


def creation(delivery: Delivery) -> Body:
    """Answer to request-delivery."""
    return {
        "deliveryId": str(delivery.pk),
        "shippingValue": float(delivery.shipping_value),
        "status": delivery.status,
        "route": _route(delivery),
        "driver": _driver(delivery),
        "orders": [_order(stop, with_point=True) for stop in delivery.ordered_stops],
    }


def event(delivery: Delivery) -> Body:
    """A webhook's body: one consolidated event of the whole route."""
    return {
        "deliveryId": str(delivery.pk),
        "status": delivery.status,
        "route": _route(delivery),
        "driver": _driver(delivery),
        "orders": [_order(stop, with_point=True) for stop in delivery.ordered_stops],
    }


def info(delivery: Delivery) -> Body:
    """Answer to info-delivery and cancel-delivery. `cancellation` is there only after a cancel that followed pickup."""
    body: Body = {
        "deliveryId": str(delivery.pk),
        "shippingValue": float(delivery.shipping_value),
        "driver": _driver(delivery),
        "orders": [_order(stop, with_point=False) for stop in delivery.ordered_stops],
    }
    if delivery.was_cancelled_after_pickup:
        body["cancellation"] = {
            "reason": delivery.cancel_reason,
            "fee": float(delivery.cancel_fee or 0),
            "returnToOrigin": True,
        }
    return body


def location(delivery: Delivery, *, at: datetime) -> Body:
    """Answer to location-delivery. Unavailable tracking is a normal answer with its reason."""
    reason, position = _tracking(delivery)
    age = position.age_seconds(at=at) if position else None
    return {
        "deliveryId": str(delivery.pk),
        "status": delivery.status,
        "tracking": {
            "available": position is not None,
            "reason": reason,
            "updatedAt": timezone.localtime(position.recorded_at).isoformat() if position else None,
            "ageSeconds": age,
            "stale": position is not None and at - position.recorded_at > STALE_AFTER,
        },
        "driver": {
            "name": delivery.driver.name if delivery.driver else "",
            "coordinates": {
                "latitude": position.latitude if position else None,
                "longitude": position.longitude if position else None,
                "accuracyMeters": position.accuracy_m if position else None,
            },
        },
        "orders": [{"externalId": stop.external_id, "status": stop.status} for stop in delivery.ordered_stops],
    }


def _tracking(delivery: Delivery) -> tuple[str | None, DriverPosition | None]:
    """Why there is no position to show, and the position when there is."""
    if delivery.is_closed:
        return "FINISHED", None
    if delivery.route_status == RouteStatus.AVAILABLE:
        return "NOT_ASSIGNED", None
    position = delivery.driver_position()
    return (None, position) if position else ("NO_POSITION", None)


def _route(delivery: Delivery) -> Body:
    stops = delivery.ordered_stops
    return {
        "routeId": str(delivery.route_id),
        "status": delivery.route_status,
        "pointsCount": 1 + len(stops),
        "fixedValue": float(delivery.shipping_value),
        "totalDistanceKm": float(delivery.distance_km),
        "vehicleType": delivery.vehicle_type,
        "acceptMode": "WHOLE_ROUTE",
        "immutable": True,
        "points": [
            {"label": "A", "type": "pickup"},
            *({"label": stop.label, "type": "dropoff"} for stop in stops),
        ],
    }


def _driver(delivery: Delivery) -> Body:
    position = delivery.driver_position()
    return {
        "name": delivery.driver.name if delivery.driver else "",
        "phone": delivery.driver.phone if delivery.driver else "",
        "coordinates": {
            "latitude": position.latitude if position else None,
            "longitude": position.longitude if position else None,
        },
    }


def _order(stop: Stop, *, with_point: bool) -> Body:
    return {
        "status": stop.status,
        "externalId": stop.external_id,
        **({"point": stop.label} if with_point else {}),
        "coordinates": {"latitude": stop.latitude, "longitude": stop.longitude},
        "address": {
            **{name: stop.address.get(name, "") for name in ADDRESS_TEXTS},
            "latitude": stop.latitude,
            "longitude": stop.longitude,
        },
    }
