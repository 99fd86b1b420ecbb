"""Deliveries in each status of a route that is not closed."""

from typing import Any

from django.utils import timezone

from delivery.actions import deliveries
from delivery.lifecycle import RouteStatus
from delivery.models import Delivery
from tests.factories import BY, DeliveryFactory

_TRAITS = {
    RouteStatus.AVAILABLE: {},
    RouteStatus.ACCEPTED: {"accepted": True},
    RouteStatus.COLLECTED: {"collected": True},
    RouteStatus.RETURNING: {"collected": True},
}


def in_progress(route_status: RouteStatus, **values: Any) -> Delivery:
    """A delivery whose route has this status; one that returns, because all drop-offs have failed."""
    delivery: Delivery = DeliveryFactory.create(**_TRAITS[route_status], **values)
    if route_status is RouteStatus.RETURNING:
        for stop in delivery.ordered_stops:
            delivery = deliveries.fail_point(
                delivery=delivery, point=stop.label, reason="Closed", by=BY, at=timezone.now()
            )
    return delivery
