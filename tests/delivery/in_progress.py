"""Deliveries in each status of a route that is not closed."""

from typing import Any

from django.utils import timezone

from delivery.actions import deliveries
from delivery.lifecycle import Mode, RouteStatus
from delivery.models import Delivery
from tests.factories import BY, DeliveryFactory

# Of the first stop in mode REVERSE, in which the last collection lets the driver go to A.
_COLLECTED_AT = {RouteStatus.COLLECTED: "B", RouteStatus.RETURNING: "BCD"}
_TRAITS = {
    RouteStatus.AVAILABLE: {},
    RouteStatus.ACCEPTED: {"accepted": True},
    RouteStatus.COLLECTED: {"collected": True},
    RouteStatus.RETURNING: {"collected": True},
}


def in_progress(route_status: RouteStatus, **values: Any) -> Delivery:
    """A delivery whose route has this status; one that returns, because all drop-offs have failed.

    In mode REVERSE it returns with everything, and is COLLECTED with two stops or more.
    """
    delivery: Delivery
    if values.get("mode") is Mode.REVERSE:
        delivery = DeliveryFactory.create(accepted=route_status is not RouteStatus.AVAILABLE, **values)
        for point in _COLLECTED_AT.get(route_status, "")[: len(delivery.ordered_stops)]:
            delivery = deliveries.collect(delivery=delivery, point=point, by=BY, at=timezone.now())
        return delivery
    delivery = DeliveryFactory.create(**_TRAITS[route_status], **values)
    if route_status is RouteStatus.RETURNING:
        for stop in delivery.ordered_stops:
            delivery = deliveries.fail(delivery=delivery, point=stop.label, reason="Closed", by=BY, at=timezone.now())
    return delivery
