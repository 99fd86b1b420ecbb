from collections.abc import Iterator
from datetime import timedelta
from enum import StrEnum

from django.db import models

from common.fields import not_personal, one_of, personal
from delivery.models.bases import Located, on_earth
from delivery.places import street_names
from delivery.places.geocoding import Located as Place
from delivery.places.geocoding import Precision
from delivery.places.packed_houses import House, unpack

# Streets are renamed and map data is corrected.
KEPT = timedelta(days=90)
LONGEST_CITY = 100  # characters of a city and of a district


class Form(StrEnum):
    """Whose files of addresses are read: IBGE's census, OpenAddresses, OpenStreetMap."""

    CNEFE = "cnefe"
    OPENADDRESSES = "openaddresses"
    OSM = "osm"


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


class AddressCity(models.Model):
    """A city whose addresses were imported from files of one form."""

    state = not_personal(models.CharField(max_length=2))
    name = not_personal(models.CharField(max_length=LONGEST_CITY))
    plain_name = not_personal(models.CharField(max_length=LONGEST_CITY))
    form = models.CharField(max_length=13, choices=[(each.value, each.value) for each in Form])
    addresses = models.PositiveIntegerField()
    imported_at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["plain_name", "state", "form"], name="address_city_once"),
            one_of("address_city_form", "form", [each.value for each in Form]),
        ]

    def __str__(self) -> str:
        return f"{self.name}/{self.state}"


class AddressStreet(models.Model):
    """A street within one postcode and district, with its houses, and the box that contains them."""

    city = models.ForeignKey(AddressCity, models.CASCADE, db_index=False, related_name="streets")
    key = not_personal(models.CharField(max_length=street_names.LONGEST))
    name = not_personal(models.CharField(max_length=street_names.LONGEST))
    district = not_personal(models.CharField(max_length=LONGEST_CITY, blank=True))
    postcode = not_personal(models.CharField(max_length=8, blank=True))
    houses = not_personal(models.BinaryField())
    south = models.IntegerField()
    west = models.IntegerField()
    north = models.IntegerField()
    east = models.IntegerField()

    class Meta:
        default_permissions = ()
        indexes = [
            models.Index(fields=["city", "key"], name="address_street_by_key"),
            models.Index(fields=["postcode"], name="address_street_by_postcode"),
        ]

    def __str__(self) -> str:
        return self.name

    def each_house(self) -> Iterator[House]:
        return unpack(bytes(self.houses))
