"""The JSON objects of `GET /api/deliveries`: the summary of a delivery in the list, and everything about one."""

from collections.abc import Sequence
from datetime import datetime

from django.utils import timezone

from delivery import bodies, detail_types, lifecycle
from delivery.lifecycle import Trigger
from delivery.models import Delivery, Stop, Transition, WebhookEvent

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


def detail(delivery: Delivery) -> detail_types.DeliveryDetail:
    """Everything about a delivery. Reads its history and its events, and what `bodies.creation` reads."""
    transitions = list(delivery.transitions.order_by("id"))
    # Each of these triggers occurs at most once in a delivery.
    moments = {transition.trigger: transition.at for transition in transitions}
    return {
        "deliveryId": str(delivery.pk),
        "status": delivery.status,
        "shippingValue": float(delivery.shipping_value),
        "deliveryMode": delivery.mode,
        "route": bodies.route(delivery),
        "driver": bodies.driver(delivery),
        "pickup": {"contacts": _contacts(delivery), "address": bodies.address(delivery)},
        "orders": [_order(stop, transitions) for stop in delivery.ordered_stops],
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


def _order(stop: Stop, transitions: Sequence[Transition]) -> detail_types.OrderDetail:
    return {
        **bodies.order(stop),
        "contacts": _contacts(stop),
        "failureReason": stop.failure_reason or None,
        "closedAt": moment_or_none(_closed_at(stop, transitions)),
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
