"""Data of the maps, which pages contain as JSON and `map.js` draws with Leaflet."""

from typing import Any

from django.urls import reverse

from common.pages import map_file
from delivery.models import Delivery, DispatchRules, DriverPosition, LatestPosition
from delivery.words import text_of_simulator

_LONGEST_DISTRICT = 60


def tiles() -> dict[str, Any]:
    """The background of the panel's maps. Without a `url` there is none."""
    return map_file.ground(
        lambda version: reverse("panel:map_file", args=[version]),
        openstreetmap=DispatchRules.current().streets_from_openstreetmap,
    )


def point(label: str, latitude: float, longitude: float, status: str = "", *, district: Any = "") -> dict[str, Any]:
    """The pickup or a stop of a route. Maps without a background show the districts."""
    found = {"label": label, "lat": latitude, "lng": longitude, "status": status}
    return found | {"district": str(district)[:_LONGEST_DISTRICT]} if district else found


def route(delivery: Delivery, position: DriverPosition | LatestPosition | None) -> dict[str, Any]:
    """A, B, C, D in order with their statuses, and the driver where a position is known. Decimal degrees."""
    points = [point("A", delivery.latitude, delivery.longitude, district=delivery.address.get("district"))]
    points += [
        point(stop.label, stop.latitude, stop.longitude, stop.status, district=stop.address.get("district"))
        for stop in delivery.ordered_stops
    ]
    driver = None
    if position is not None and delivery.driver is not None and not delivery.is_closed:
        driver = {"name": text_of_simulator(delivery.driver.name), "lat": position.latitude, "lng": position.longitude}
    return {
        "id": str(delivery.pk),
        "points": points,
        "driver": driver,
        "returns": delivery.mode == "RETURN",
        "reverse": delivery.mode == "REVERSE",
    }
