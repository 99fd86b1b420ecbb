"""The JSON objects of `GET /api/deliveries`: the summary of a delivery in the list, and everything about one."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.conf import settings
from django.utils import timezone

from delivery import bodies, detail_types, lifecycle, stop_details
from delivery.lifecycle import Trigger
from delivery.models import ArrivalEstimate, Delivery, Stop, Transition, WebhookEvent
from delivery.stop_details import StopDetails

# The kind of actor by the first word of `Transition.by`. Everything else is done by the service itself.
_KINDS_OF_ACTORS = {
    "token": "integrator",  # nosec B105  # no password
    "user": "dispatcher",
    "command": "dispatcher",
    "driver": "driver",
    "sandbox": "driver",
}


def summary(delivery: Delivery) -> detail_types.DeliverySummary:
    """An item of the list. Reads the stops, which the caller prefetches."""
    return {
        "deliveryId": str(delivery.pk),
        "status": delivery.status,
        "shippingValue": float(delivery.shipping_value),
        "route": bodies.route(delivery),
        "orders": [
            {"point": stop.label, "externalId": stop.external_id, "status": stop.status}
            for stop in delivery.ordered_stops
        ],
        "createdAt": moment(delivery.created_at),
        "closedAt": moment_or_none(delivery.closed_at),
    }


def detail(delivery: Delivery, *, tracking: Mapping[int, str]) -> detail_types.DeliveryDetail:
    """Everything about a delivery. Reads its history and its events, and what `bodies.creation` reads.

    `tracking`: the addresses of the receivers' pages by the key of the stop, as far as they work.
    """
    details = stop_details.read(delivery.ordered_stops)
    transitions = list(delivery.transitions.order_by("id"))
    moments = {transition.trigger: transition.at for transition in transitions}
    if not delivery.is_held and not delivery.is_closed:  # a driver that accepted was released
        moments.pop(Trigger.ACCEPT, None)
    return {
        "deliveryId": str(delivery.pk),
        "status": delivery.status,
        "shippingValue": float(delivery.shipping_value),
        "deliveryMode": delivery.mode,
        "route": bodies.route(delivery),
        "driver": bodies.driver(delivery),
        "pickup": {"contacts": _contacts(delivery), "address": bodies.address(delivery)},
        "orders": [
            _order(stop, transitions, details[stop.pk], tracking.get(stop.pk)) for stop in delivery.ordered_stops
        ],
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


def _order(
    stop: Stop, transitions: Sequence[Transition], details: StopDetails, tracking_url: str | None
) -> detail_types.OrderDetail:
    return {
        **bodies.order(stop),
        "contacts": _contacts(stop),
        "instructions": details.instructions,
        "trackingUrl": tracking_url,
        "arrival": arrival(details.arrival),
        "proof": _proof(details),
        "failureReason": stop.failure_reason or None,
        "closedAt": moment_or_none(_closed_at(stop, transitions)),
    }


def _proof(details: StopDetails) -> detail_types.Proof:
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


def _cancellation(delivery: Delivery, transitions: Sequence[Transition]) -> detail_types.CancellationDetail | None:
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


def _transition(transition: Transition) -> detail_types.Transition:
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


def _event(event: WebhookEvent) -> detail_types.EventState:
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


def arrival(estimate: ArrivalEstimate | None) -> detail_types.Arrival | None:
    """An item of `ArrivalEstimate.objects.of(stops)`: when the driver arrives at the stop. None where unknown."""
    if estimate is None:
        return None
    return {
        "at": moment(estimate.arrives_at),
        "earliest": moment(estimate.earliest),
        "latest": moment(estimate.latest),
    }


def _contacts(place: Stop | Delivery) -> detail_types.Contacts:
    return {"name": place.contact_name, "phoneNumber": place.contact_phone}


def _kind_of_actor(by: str) -> str:
    """`integrator`, `dispatcher`, `driver` or `system`. Names of people and of tokens stay with us."""
    return _KINDS_OF_ACTORS.get(by.partition(" ")[0], "system")


def moment(at: datetime) -> str:
    """ISO 8601 with the service's offset, as in every answer of area A."""
    return timezone.localtime(at).isoformat()


def moment_or_none(at: datetime | None) -> str | None:
    return None if at is None else moment(at)
