"""Coordinates of rows: latitude and longitude in decimal degrees (WGS84), and distances computed by the database."""

from collections.abc import Iterable

from django.db import models
from django.db.models import Q, Value
from django.db.models.expressions import Combinable, CombinedExpression
from django.db.models.functions import ASin, Cos, Least, Radians, Sin, Sqrt
from django.utils.translation import gettext_lazy as _

from delivery.distance import Point

# WGS84.
_EQUATORIAL_RADIUS_M = 6_378_137.0
_ECCENTRICITY_SQUARED = 0.006694379990141317
_MEAN_RADIUS_M = 6_371_008.8


class Located(models.Model):
    """Abstract model with coordinates."""

    latitude = models.FloatField(_("latitude"))
    longitude = models.FloatField(_("longitude"))

    class Meta:
        abstract = True

    @property
    def point(self) -> Point:
        return Point(self.latitude, self.longitude)


def on_earth(name: str) -> models.CheckConstraint:
    """Constraint that the row's coordinates exist. In PostgreSQL a NaN exceeds every number, so it fails too."""
    return models.CheckConstraint(
        name=name,
        violation_error_message=_("Latitude runs from -90 to 90, longitude from -180 to 180, in decimal degrees."),
        condition=Q(latitude__gte=-90, latitude__lte=90, longitude__gte=-180, longitude__lte=180),
    )


def cartesian(latitude: Combinable, longitude: Combinable) -> tuple[CombinedExpression, ...]:
    """Earth-centred, Earth-fixed x, y and z, in metres, of a point on the ellipsoid.

    In degrees a bounding box needs special cases at the poles and at the 180th meridian; in metres it needs none.
    """
    phi, lambda_ = Radians(latitude), Radians(longitude)
    normal = Value(_EQUATORIAL_RADIUS_M) / Sqrt(Value(1.0) - Value(_ECCENTRICITY_SQUARED) * Sin(phi) * Sin(phi))
    return (
        normal * Cos(phi) * Cos(lambda_),
        normal * Cos(phi) * Sin(lambda_),
        normal * Value(1 - _ECCENTRICITY_SQUARED) * Sin(phi),
    )


def distance_m(start: Iterable[Combinable], end: Iterable[Combinable]) -> CombinedExpression:
    """Metres between two points given as x, y and z: the arc of a sphere over the straight line between them.

    Differs from the geodesic distance by less than 0.1 mm at 15 km and 30 m at 1,000 km.
    """
    dx, dy, dz = (a - b for a, b in zip(start, end, strict=True))
    chord = Sqrt(dx * dx + dy * dy + dz * dz)
    diameter = Value(2 * _MEAN_RADIUS_M)
    return ASin(Least(chord / diameter, Value(1.0))) * diameter
