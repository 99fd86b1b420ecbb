"""Geodesic distances."""

from typing import NamedTuple

from geographiclib.geodesic import Geodesic

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


def metres(start: Point, end: Point) -> float:
    """Geodesic distance on the WGS84 ellipsoid, in metres."""
    return float(Geodesic.WGS84.Inverse(*start, *end, outmask=Geodesic.DISTANCE)["s12"])


def metres_at_most(start: Point, end: Point) -> float:
    """No less than `metres`: the way along a meridian, and then along the equator instead of a parallel."""
    return _LONGEST_DEGREE_M * (abs(start.latitude - end.latitude) + abs(start.longitude - end.longitude))


def away_from(start: Point, *, metres: float, bearing: float) -> Point:
    """The point at this geodesic distance, in the direction of `bearing`: degrees clockwise from north."""
    found = Geodesic.WGS84.Direct(*start, bearing, metres)
    return Point(found["lat2"], found["lon2"])
