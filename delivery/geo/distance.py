"""Geodesic distances."""

from math import atan, atan2, cos, hypot, radians, sin, sqrt, tan
from typing import NamedTuple

from geographiclib.geodesic import Geodesic

_EQUATORIAL_RADIUS_M, _FLATTENING = Geodesic.WGS84.a, Geodesic.WGS84.f
_POLAR_RADIUS_M = _EQUATORIAL_RADIUS_M * (1 - _FLATTENING)
_SECOND_ECCENTRICITY_SQUARED = (_EQUATORIAL_RADIUS_M / _POLAR_RADIUS_M) ** 2 - 1
# Vincenty's formula is exact to 0.1 mm after so many iterations up to this distance; near the antipodes it fails.
_ITERATIONS, _FARTHEST_DEGREES = 5, 90
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
    """Geodesic distance on the WGS84 ellipsoid, in metres, exact to 0.1 mm.

    By Vincenty's inverse formula, because geographiclib, which knows every case, takes ten times as long.
    """
    if abs(start.latitude - end.latitude) + abs(start.longitude - end.longitude) <= _FARTHEST_DEGREES:
        return _vincenty(start, end)
    return float(Geodesic.WGS84.Inverse(*start, *end, outmask=Geodesic.DISTANCE)["s12"])


def _vincenty(start: Point, end: Point) -> float:
    """Source: T. Vincenty, Survey Review 23 (1975), 88-93, and 25 (1980), 294, for the series of `k`.

    The names are the formula's: `lambda_` is the difference of longitude on the auxiliary sphere, `sigma` the angular
    distance on it, `alpha` the azimuth of the geodesic at the equator, and `mid` is cos(2 sigma_m).
    """
    u1, u2 = (atan((1 - _FLATTENING) * tan(radians(point.latitude))) for point in (start, end))
    sin_u1, cos_u1, sin_u2, cos_u2 = sin(u1), cos(u1), sin(u2), cos(u2)
    lambda_ = longitude = radians(end.longitude - start.longitude)
    for _iteration in range(_ITERATIONS):
        sin_lambda, cos_lambda = sin(lambda_), cos(lambda_)
        sin_sigma = hypot(cos_u2 * sin_lambda, cos_u1 * sin_u2 - sin_u1 * cos_u2 * cos_lambda)
        if not sin_sigma:  # the same place
            return 0.0
        cos_sigma = sin_u1 * sin_u2 + cos_u1 * cos_u2 * cos_lambda
        sigma = atan2(sin_sigma, cos_sigma)
        sin_alpha = cos_u1 * cos_u2 * sin_lambda / sin_sigma
        cos2_alpha = 1 - sin_alpha**2
        mid = cos_sigma - 2 * sin_u1 * sin_u2 / cos2_alpha if cos2_alpha else 0.0  # along the equator
        c = _FLATTENING / 16 * cos2_alpha * (4 + _FLATTENING * (4 - 3 * cos2_alpha))
        along = sigma + c * sin_sigma * (mid + c * cos_sigma * (2 * mid**2 - 1))
        lambda_ = longitude + (1 - c) * _FLATTENING * sin_alpha * along
    root = sqrt(1 + cos2_alpha * _SECOND_ECCENTRICITY_SQUARED)
    k = (root - 1) / (root + 1)
    a, b = (1 + k**2 / 4) / (1 - k), k * (1 - 3 / 8 * k**2)
    correction = cos_sigma * (2 * mid**2 - 1) - b / 6 * mid * (4 * sin_sigma**2 - 3) * (4 * mid**2 - 3)
    return _POLAR_RADIUS_M * a * (sigma - b * sin_sigma * (mid + b / 4 * correction))


def metres_at_most(start: Point, end: Point) -> float:
    """No less than `metres`: the way along a meridian, and then along the equator instead of a parallel."""
    return _LONGEST_DEGREE_M * (abs(start.latitude - end.latitude) + abs(start.longitude - end.longitude))


def away_from(start: Point, *, metres: float, bearing: float) -> Point:
    """The point at this geodesic distance, in the direction of `bearing`: degrees clockwise from north."""
    found = Geodesic.WGS84.Direct(*start, bearing, metres)
    return Point(found["lat2"], found["lon2"])
