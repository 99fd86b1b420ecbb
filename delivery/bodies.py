"""The JSON objects of a delivery: the specification's, shared by answers and webhooks, and `GET /api/deliveries`'s.

Money, kilometres and degrees are JSON numbers here. Source of the specification's keys: its "Resources and their
fields".
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.conf import settings
from django.utils import timezone

from delivery import body_types, lifecycle, stop_details
from delivery.lifecycle import RouteStatus, Trigger
from delivery.models import ArrivalEstimate, Delivery, DriverPosition, Stop, Transition, WebhookEvent
from delivery.stop_details import StopDetails

ADDRESS_TEXTS = ("city", "state", "street", "number", "zipcode", "district", "country", "complement")

# The kind of actor by the first word of `Transition.by`. Everything else is done by the service itself.
_KINDS_OF_ACTORS = {
    "token": "integrator",  # nosec B105  # no password
    "user": "dispatcher",
    "command": "dispatcher",
    "driver": "driver",
    "sandbox": "driver",
}

_NIL_ID = "00000000-0000-0000-0000-000000000000"

# Body of a test webhook, with every key of a real one. No delivery has the nil UUID.
TEST_EVENT: body_types.Event = {
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


def creation(delivery: Delivery) -> body_types.Creation:
    return {
        "deliveryId": str(delivery.pk),
        "shippingValue": float(delivery.shipping_value),
        **event(delivery),
    }


def event(delivery: Delivery) -> body_types.Event:
    return {
        "deliveryId": str(delivery.pk),
        "status": delivery.status,
        "route": route(delivery),
        "driver": driver(delivery),
        "orders": [order(stop) for stop in delivery.ordered_stops],
    }


def info(delivery: Delivery) -> body_types.Info:
    body: body_types.Info = {
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


def location(delivery: Delivery, *, at: datetime) -> body_types.Location:
    reason, position = _tracking(delivery)
    return {
        "deliveryId": str(delivery.pk),
        "status": delivery.status,
        "tracking": {
            "available": position is not None,
            "reason": reason,
            "updatedAt": timezone.localtime(position.recorded_at).isoformat() if position else None,
            "ageSeconds": position.age_seconds(at=at) if position else None,
            "stale": position is not None and at - position.recorded_at > body_types.STALE_AFTER,
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


def route(delivery: Delivery) -> body_types.Route:
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
            *(body_types.RoutePoint(label=stop.label, type="dropoff") for stop in stops),
        ],
    }


def order(stop: Stop) -> body_types.OrderWithPoint:
    return {
        "status": stop.status,
        "externalId": stop.external_id,
        "point": stop.label,
        "coordinates": _coordinates(stop),
        "address": address(stop),
    }


def driver(delivery: Delivery) -> body_types.Driver:
    """The driver, with the latest position that the integrator may see."""
    return {
        "name": delivery.driver.name if delivery.driver else "",
        "phone": delivery.driver.phone if delivery.driver else "",
        "coordinates": _coordinates(delivery.driver_position),
    }


def _coordinates(place: Stop | DriverPosition | None) -> body_types.Coordinates:
    return {
        "latitude": place.latitude if place else None,
        "longitude": place.longitude if place else None,
    }


def address(place: Stop | Delivery) -> body_types.Address:
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


def summary(delivery: Delivery) -> body_types.DeliverySummary:
    """An item of the list. Reads the stops, which the caller prefetches."""
    return {
        "deliveryId": str(delivery.pk),
        "status": delivery.status,
        "shippingValue": float(delivery.shipping_value),
        "route": route(delivery),
        "orders": [
            {"point": stop.label, "externalId": stop.external_id, "status": stop.status}
            for stop in delivery.ordered_stops
        ],
        "createdAt": moment(delivery.created_at),
        "closedAt": moment_or_none(delivery.closed_at),
    }


def detail(delivery: Delivery, *, tracking: Mapping[int, str]) -> body_types.DeliveryDetail:
    """Everything about a delivery. Reads its history and its events, and what `creation` reads.

    `tracking`: the addresses of the receivers' pages by the key of the stop, as far as they work.
    """
    details = stop_details.read(delivery.ordered_stops, addresses=tracking)
    transitions = list(delivery.transitions.order_by("id"))
    moments = {transition.trigger: transition.at for transition in transitions}
    if not delivery.is_held and not delivery.is_closed:  # a driver that accepted was released
        moments.pop(Trigger.ACCEPT, None)
    return {
        "deliveryId": str(delivery.pk),
        "status": delivery.status,
        "shippingValue": float(delivery.shipping_value),
        "deliveryMode": delivery.mode,
        "route": route(delivery),
        "driver": driver(delivery),
        "pickup": {"contacts": _contacts(delivery), "address": address(delivery)},
        "orders": [_order(stop, transitions, details[stop.pk]) for stop in delivery.ordered_stops],
        "orderPackages": delivery.packages,
        "createdAt": moment(delivery.created_at),
        "offerExpiresAt": moment(delivery.offer_expires_at),
        "acceptedAt": moment_or_none(moments.get(Trigger.ACCEPT)),
        "collectedAt": moment_or_none(moments.get(Trigger.COLLECT)),
        "returnedAt": moment_or_none(moments.get(Trigger.RETURN)),
        "cancelledAt": moment_or_none(delivery.cancelled_at),
        "closedAt": moment_or_none(delivery.closed_at),
        "cancellation": _cancellation(delivery, transitions),
        "transitions": [_transition(transition) for transition in transitions],
        "events": [
            _event(event) for event in delivery.events.defer("body").select_related("queue_item").order_by("sequence")
        ],
    }


def _order(stop: Stop, transitions: Sequence[Transition], details: StopDetails) -> body_types.OrderDetail:
    return {
        **order(stop),
        "contacts": _contacts(stop),
        "instructions": details.instructions,
        "trackingUrl": details.link,
        "arrival": arrival(details.arrival),
        "proof": _proof(details),
        "failureReason": stop.failure_reason or None,
        "closedAt": moment_or_none(_closed_at(stop, transitions)),
    }


def _proof(details: StopDetails) -> body_types.Proof:
    return {
        "photoRequired": details.needs_photo,
        "pin": details.pin or None,
        "receivedBy": details.received_by or None,
        "pinConfirmedAt": moment_or_none(details.pin_confirmed_at),
        "photos": [
            {"url": f"{settings.SITE_URL}{photo.path}", "takenAt": moment(photo.taken_at)} for photo in details.photos
        ],
    }


def _closed_at(stop: Stop, transitions: Sequence[Transition]) -> datetime | None:
    """When the stop was delivered or failed, or when a cancellation or an expiry failed it."""
    if stop.status in lifecycle.OPEN:
        return None
    of_stop = [transition.at for transition in transitions if transition.point == stop.label]
    of_all = [transition.at for transition in transitions if transition.trigger in (Trigger.CANCEL, Trigger.EXPIRE)]
    return next(iter(of_stop + of_all), None)


def _cancellation(delivery: Delivery, transitions: Sequence[Transition]) -> body_types.CancellationDetail | None:
    cancel = next((transition for transition in transitions if transition.trigger == Trigger.CANCEL), None)
    if cancel is None:
        return None
    return {
        "reason": delivery.cancel_reason,
        "fee": float(delivery.cancel_fee or 0),
        "returnToOrigin": delivery.was_cancelled_after_pickup,
        "at": moment(cancel.at),
        "by": _kind_of_actor(cancel.by),
    }


def _transition(transition: Transition) -> body_types.Transition:
    return {
        "trigger": transition.trigger,
        "point": transition.point or None,
        "reason": transition.reason or None,
        "status": transition.status,
        "routeStatus": transition.route_status,
        "by": _kind_of_actor(transition.by),
        "at": moment(transition.at),
        "madeAt": moment_or_none(transition.made_at),
    }


def _event(event: WebhookEvent) -> body_types.EventState:
    return {
        "id": str(event.pk),
        "sequence": event.sequence,
        "status": event.name,
        "state": event.state,
        "createdAt": moment(event.created_at),
        "sentAt": moment_or_none(event.sent_at),
        "attempts": event.attempts_made,
        "nextAttemptAt": moment_or_none(event.next_attempt_at),
    }


def arrival(estimate: ArrivalEstimate | None) -> body_types.Arrival | None:
    """An item of `ArrivalEstimate.objects.of(stops)`: when the driver arrives at the stop. None where unknown."""
    if estimate is None:
        return None
    return {
        "at": moment(estimate.arrives_at),
        "earliest": moment(estimate.earliest),
        "latest": moment(estimate.latest),
    }


def _contacts(place: Stop | Delivery) -> body_types.Contacts:
    return {"name": place.contact_name, "phoneNumber": place.contact_phone}


def _kind_of_actor(by: str) -> str:
    """`integrator`, `dispatcher`, `driver` or `system`. Names of people and of tokens stay with us."""
    return _KINDS_OF_ACTORS.get(by.partition(" ")[0], "system")


def moment(at: datetime) -> str:
    """ISO 8601 with the service's offset, as in every answer of area A."""
    return timezone.localtime(at).isoformat()


def moment_or_none(at: datetime | None) -> str | None:
    return None if at is None else moment(at)
