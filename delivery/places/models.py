from datetime import timedelta

from django.db import models

from common.fields import one_of, personal
from delivery.models.bases import Located, on_earth
from delivery.places.geocoding import Located as Place
from delivery.places.geocoding import Precision

# Streets are renamed and map data is corrected.
KEPT = timedelta(days=90)


class LocatedAddress(Located):
    """Where the geocoder has found an address. Of the address itself only a keyed digest is stored."""

    digest = personal(models.BinaryField(max_length=32, unique=True, editable=False))
    precision = models.CharField(max_length=8, choices=[(each.value, each.value) for each in Precision])
    created_at = models.DateTimeField(db_index=True)

    class Meta:
        default_permissions = ()
        constraints = [
            on_earth("located_address_on_earth"),
            one_of("located_address_precision", "precision", [each.value for each in Precision]),
        ]

    def __str__(self) -> str:
        return str(self.pk)  # without the place

    @property
    def place(self) -> Place:
        return Place(self.point, Precision(self.precision))
