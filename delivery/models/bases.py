"""What several models share: primary keys, coordinates, and constants in SQL."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from django.db import models
from django.db.models import F, Q
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import ASin, Cos, Least, Radians, Sin, Sqrt
from django.utils.translation import gettext_lazy as _

from common import fields
from common.brazil import zones
from common.fields import new_id, personal
from delivery.geo.distance import Point


def quoted(values: Iterable[str]) -> str:
    """Constants of the code as they stand in a SQL list, such as `IN ('ACCEPTED', 'COLLECTED')`."""
    return ", ".join(f"'{value}'" for value in values)


class Identified(models.Model):
    """Abstract model with a UUIDv7 primary key."""

    id = fields.UUIDField(primary_key=True, default=new_id, editable=False)

    class Meta:
        abstract = True


_LATITUDE, _LONGITUDE = F("latitude"), F("longitude")
# WGS84.
_EQUATORIAL_RADIUS_M = 6_378_137.0
_ECCENTRICITY_SQUARED = 0.006694379990141317
_MEAN_RADIUS_M = 6_371_008.8


class Located(models.Model):
    """Abstract model with coordinates."""

    latitude = personal(models.FloatField(_("latitude")))
    longitude = personal(models.FloatField(_("longitude")))

    class Meta:
        abstract = True

    @property
    def point(self) -> Point:
        return Point(self.latitude, self.longitude)

    @property
    def zone(self) -> ZoneInfo:
        """The time zone of the place."""
        return zones.of_place(self.latitude, self.longitude, getattr(self, "address", None))


def on_earth(name: str) -> models.CheckConstraint:
    """Constraint that the row's coordinates exist. In PostgreSQL a NaN exceeds every number, so it fails too."""
    return models.CheckConstraint(
        name=name,
        violation_error_message=_("Latitude runs from -90 to 90, longitude from -180 to 180, in decimal degrees."),
        condition=Q(latitude__gte=-90, latitude__lte=90, longitude__gte=-180, longitude__lte=180),
    )


def cartesian(point: Point) -> tuple[float, float, float]:
    """Earth-centred, Earth-fixed x, y and z, in metres, of a point on the ellipsoid.

    In degrees a bounding box needs special cases at the poles and at the 180th meridian; in metres it needs none.
    """
    latitude, longitude = math.radians(point.latitude), math.radians(point.longitude)
    x, y, z = _cartesian(
        math.sin(latitude), math.cos(latitude), math.sin(longitude), math.cos(longitude), square_root=math.sqrt
    )
    return x, y, z


def cartesian_columns(
    latitude: Any = _LATITUDE, longitude: Any = _LONGITUDE
) -> tuple[CombinedExpression, CombinedExpression, CombinedExpression]:
    """`cartesian` of these columns or expressions, as expressions."""
    north, east = Radians(latitude), Radians(longitude)
    x, y, z = _cartesian(Sin(north), Cos(north), Sin(east), Cos(east), square_root=Sqrt)
    return x, y, z


def _cartesian(
    sin_latitude: Any, cos_latitude: Any, sin_longitude: Any, cos_longitude: Any, *, square_root: Callable[[Any], Any]
) -> tuple[Any, Any, Any]:
    """x, y and z from numbers or from expressions."""
    normal = _EQUATORIAL_RADIUS_M / square_root(1.0 - _ECCENTRICITY_SQUARED * sin_latitude * sin_latitude)
    return (
        normal * cos_latitude * cos_longitude,
        normal * cos_latitude * sin_longitude,
        normal * (1 - _ECCENTRICITY_SQUARED) * sin_latitude,
    )


def distance_m(columns: Sequence[str | CombinedExpression], point: Point) -> CombinedExpression:
    """Metres between `point` and the x, y and z in these columns or expressions.

    It is the arc of a sphere over the straight line. Differs from the geodesic distance by less than 0.1 mm at 15 km
    and 30 m at 1,000 km.
    """
    terms = (F(column) if isinstance(column, str) else column for column in columns)
    dx, dy, dz = (term - value for term, value in zip(terms, cartesian(point), strict=True))
    chord = Sqrt(dx * dx + dy * dy + dz * dz)
    return ASin(Least(chord / (2 * _MEAN_RADIUS_M), 1.0)) * (2 * _MEAN_RADIUS_M)
