"""Geodesic distances."""

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pyproj import Geod

# Of a meridian, at the poles, rounded up; one of the equator has 111,320 m.
_LONGEST_DEGREE_M = 111_700.0


class Point(NamedTuple):
    """Decimal degrees, WGS84."""

    latitude: float
    longitude: float

    @property
    def is_on_earth(self) -> bool:
        """Whether the coordinates are within -90..90 and -180..180. False for NaN."""
        return abs(self.latitude) <= 90 and abs(self.longitude) <= 180  # noqa: PLR2004  # degrees of the globe


@cache
def wgs84() -> "Geod":
    """The ellipsoid. It takes 60 ms and 17 MB to import, so that commands which measure nothing do without it."""
    from pyproj import Geod

    return Geod(ellps="WGS84")


def metres(start: Point, end: Point) -> float:
    """Geodesic distance on the WGS84 ellipsoid, in metres."""
    return float(wgs84().inv(start.longitude, start.latitude, end.longitude, end.latitude)[2])


def metres_at_most(start: Point, end: Point) -> float:
    """No less than `metres`: the way along a meridian, and then along the equator instead of a parallel."""
    return _LONGEST_DEGREE_M * (abs(start.latitude - end.latitude) + abs(start.longitude - end.longitude))


def away_from(start: Point, *, metres: float, bearing: float) -> Point:
    """The point at this geodesic distance, in the direction of `bearing`: degrees clockwise from north."""
    longitude, latitude, _back = wgs84().fwd(start.longitude, start.latitude, bearing, metres)
    return Point(latitude, longitude)
