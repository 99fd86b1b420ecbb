"""Identifiers and the coordinates that several nouns share."""

from uuid import UUID

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from uuid_utils import compat

from delivery.distance import Point


def new_id() -> UUID:
    """A UUIDv7: unique, and sorted by the time it was made."""
    return compat.uuid7()


class Identified(models.Model):
    """Something whose id is a UUIDv7."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)

    class Meta:
        abstract = True


class Located(models.Model):
    """Something at a place. Decimal degrees, WGS84."""

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
