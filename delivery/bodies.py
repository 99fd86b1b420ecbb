"""The specification's JSON objects of a delivery, shared by the API's answers and the webhooks.

Money, kilometres and degrees are JSON numbers here. Source of every key: the specification's "Resources and their
fields".
"""

from datetime import datetime

from django.utils import timezone

from delivery.body_types import (
    STALE_AFTER,
    Address,
    Coordinates,
    Creation,
    Driver,
    Event,
    Info,
    Location,
    OrderWithPoint,
    Route,
    RoutePoint,
)
from delivery.lifecycle import RouteStatus
from delivery.models import Delivery, DriverPosition, Stop

ADDRESS_TEXTS = ("city", "state", "street", "number", "zipcode", "district", "country", "complement")

_NIL_ID = "00000000-0000-0000-0000-000000000000"

# Body of a test webhook, with every key of a real one. No delivery has the nil UUID.
TEST_EVENT: Event = {
    "deliveryId": _NIL_ID,
    "status": "PENDING",
    "route": {
        "routeId": _NIL_ID,
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
            "coordinates": {"latitude": -23.561414, "longitude": -46.655881},
            "address": {
                "city": "",
                "state": "",
                "street": "",
                "number": "",
                "zipcode": "",
                "district": "",
                "country": "",
                "complement": "",
                "latitude": -23.561414,
                "longitude": -46.655881,
            },
        }
    ],
}


def creation(delivery: Delivery) -> Creation:
    return {
        "deliveryId": str(delivery.pk),
        "shippingValue": float(delivery.shipping_value),
        **event(delivery),
    }


def event(delivery: Delivery) -> Event:
    return {
        "deliveryId": str(delivery.pk),
        "status": delivery.status,
        "route": route(delivery),
        "driver": driver(delivery),
        "orders": [order(stop) for stop in delivery.ordered_stops],
    }


def info(delivery: Delivery) -> Info:
    body: Info = {
        "deliveryId": str(delivery.pk),
        "shippingValue": float(delivery.shipping_value),
        "driver": driver(delivery),
        "orders": [
            {
                "status": stop.status,
                "externalId": stop.external_id,
                "coordinates": _coordinates(stop),
                "address": address(stop),
            }
            for stop in delivery.ordered_stops
        ],
    }
    if delivery.was_cancelled_after_pickup:
        body["cancellation"] = {
            "reason": delivery.cancel_reason,
            "fee": float(delivery.cancel_fee or 0),
            "returnToOrigin": True,
        }
    return body


def location(delivery: Delivery, *, at: datetime) -> Location:
    reason, position = _tracking(delivery)
    return {
        "deliveryId": str(delivery.pk),
        "status": delivery.status,
        "tracking": {
            "available": position is not None,
            "reason": reason,
            "updatedAt": timezone.localtime(position.recorded_at).isoformat() if position else None,
            "ageSeconds": position.age_seconds(at=at) if position else None,
            "stale": position is not None and at - position.recorded_at > STALE_AFTER,
        },
        "driver": {
            "name": delivery.driver.name if delivery.driver else "",
            "coordinates": {
                **_coordinates(position),
                "accuracyMeters": position.accuracy_m if position else None,
            },
        },
        "orders": [{"externalId": stop.external_id, "status": stop.status} for stop in delivery.ordered_stops],
    }


def _tracking(delivery: Delivery) -> tuple[str | None, DriverPosition | None]:
    """`tracking.reason` of a delivery without a position to show, or None and the position."""
    if delivery.is_closed:
        return "FINISHED", None
    if delivery.route_status == RouteStatus.AVAILABLE:
        return "NOT_ASSIGNED", None
    position = delivery.driver_position
    return (None, position) if position else ("NO_POSITION", None)


def route(delivery: Delivery) -> Route:
    """The route, the same object in every answer and event."""
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
            *(RoutePoint(label=stop.label, type="dropoff") for stop in stops),
        ],
    }


def order(stop: Stop) -> OrderWithPoint:
    return {
        "status": stop.status,
        "externalId": stop.external_id,
        "point": stop.label,
        "coordinates": _coordinates(stop),
        "address": address(stop),
    }


def driver(delivery: Delivery) -> Driver:
    """The driver, with the latest position that the integrator may see."""
    return {
        "name": delivery.driver.name if delivery.driver else "",
        "phone": delivery.driver.phone if delivery.driver else "",
        "coordinates": _coordinates(delivery.driver_position),
    }


def _coordinates(place: Stop | DriverPosition | None) -> Coordinates:
    return {
        "latitude": place.latitude if place else None,
        "longitude": place.longitude if place else None,
    }


def address(place: Stop | Delivery) -> Address:
    """The address of a stop, or of a delivery's pickup."""
    texts = place.address
    return {
        "city": texts.get("city", ""),
        "state": texts.get("state", ""),
        "street": texts.get("street", ""),
        "number": texts.get("number", ""),
        "zipcode": texts.get("zipcode", ""),
        "district": texts.get("district", ""),
        "country": texts.get("country", ""),
        "complement": texts.get("complement", ""),
        "latitude": place.latitude,
        "longitude": place.longitude,
    }
