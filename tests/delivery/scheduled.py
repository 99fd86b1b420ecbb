"""Deliveries with windows, requested through the action."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from delivery.lifecycle import Mode
from delivery.models import Delivery
from delivery.windows import Window
from tests.factories import DeliveryFactory, validated_payload


def scheduled(
    ahead: timedelta | None = None,
    *,
    at: datetime,
    pickup: Window | None = None,
    dropoffs: list[Window] | None = None,
    mode: Mode = Mode.DEFAULT,
    **values: Any,
) -> Delivery:
    """A delivery that is ready so long after `at`, or with these windows of A and of its stops. One stop by default."""
    window = pickup or Window(None if ahead is None else at + ahead)
    payload = validated_payload(stops=len(dropoffs or [None]), mode=mode)
    stops = [replace(place, window=own) for place, own in zip(payload.dropoffs, dropoffs or [Window()], strict=True)]
    payload = replace(payload, pickup=replace(payload.pickup, window=window), dropoffs=stops)
    delivery: Delivery = DeliveryFactory.create(payload=payload, at=at, **values)
    return delivery
