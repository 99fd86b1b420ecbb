"""The addresses of the demo's district: invented numbers on the streets of the demo's day."""

from datetime import datetime

from common.brazil.municipalities import Municipality
from delivery.geo.distance import Point, away_from
from delivery.places import address_imports
from delivery.places.address_files import Address
from delivery.places.models import Form
from dev.demo.day import ADDRESSES

_CITY = Municipality("SP", "São Paulo")
_BETWEEN = 10  # numbers
_LARGEST = 3_000
# Numbers of São Paulo are metres from the street's beginning. Its hill lies south-west of the centre.
_BEARING = 225.0


def fill(*, at: datetime) -> None:
    """Put them into the table of addresses."""
    houses = [house for address in ADDRESSES for house in _street(*address)]
    address_imports.fill(houses, form=Form.OPENADDRESSES, at=at)


def _street(name: str, known: str, district: str, postcode: str, point: Point) -> list[Address]:
    """Houses in a line through the one that is known."""
    numbers = {int(known), *range(_BETWEEN, _LARGEST + 1, _BETWEEN)}
    places = {number: away_from(point, metres=number - int(known), bearing=_BEARING) for number in numbers}
    return [Address(_CITY, name, number, district, postcode, *places[number]) for number in sorted(numbers)]
