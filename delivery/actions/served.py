"""Whether places are inside the service area."""

from collections.abc import Mapping

from django.conf import settings

from delivery.errors import OutsideServiceArea
from delivery.geo import service_area
from delivery.geo.distance import Point


def check(places: Mapping[str, Point]) -> None:
    """Raise OutsideServiceArea unless all are inside. It names the others, by their keys."""
    boxes = settings.SERVICE_AREA
    outside = [
        f"{name} ({point.latitude}, {point.longitude})"
        for name, point in places.items()
        if not service_area.serves(boxes, point.latitude, point.longitude)
    ]
    if outside:
        raise OutsideServiceArea(
            "This is outside the area that this service serves: %(places)s.", places=", ".join(outside)
        )
