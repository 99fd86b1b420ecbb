"""The way of a route by road, as the routing engine has it."""

import logging
from functools import lru_cache

from django.conf import settings

from delivery.geo import routing
from delivery.geo.distance import Point
from delivery.lifecycle import Mode
from delivery.models import Delivery

_log = logging.getLogger(__name__)
_MOST_KEPT = 500  # in a process, each some kilobytes


def of(delivery: Delivery) -> list[Point]:
    """The line from A over the stops, and to A where the route ends there. Empty without a routing engine's answer.

    Waits for the engine two seconds at most, once for each route in a process.
    """
    if not settings.ROUTING_URL:
        return []
    points = [place.point for place in delivery.places]
    if delivery.mode == Mode.RETURN:
        points.append(delivery.point)
    try:
        return _way(settings.ROUTING_ENGINE, settings.ROUTING_URL, delivery.vehicle_type, tuple(points))
    except routing.RoutingFailed as error:  # not kept
        _log.warning("No way by road. %s", error)
        return []


@lru_cache(_MOST_KEPT)
def _way(name: str, url: str, vehicle: str, points: tuple[Point, ...]) -> list[Point]:
    return routing.way(name, points, url=url, vehicle=vehicle)
