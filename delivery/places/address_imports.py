"""Filling the table of addresses from files, each city in one transaction.

A file is read once, and its streets are collected on disk: the memory that this takes depends neither on the file nor
on its largest city, and no transaction is open meanwhile.
"""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from django.db import connection, transaction

from common.brazil.municipalities import Municipality, plain
from delivery.places import address_files, osm_files, street_names
from delivery.places.address_files import Address, Reading, Scope
from delivery.places.models import AddressCity, AddressStreet, Form
from delivery.places.packed_houses import UNITS, House, pack

_MOST_HELD = 16_000_000  # bytes of streets in memory
_BYTES_OF_STREET = 700  # in memory, without its houses
_TOLD_AFTER = 500_000  # lines
_COPY = """
COPY delivery_addressstreet (city_id, key, name, district, postcode, houses, south, west, north, east) FROM STDIN
"""
# A house while its street is read: a number with the bit of `is_exact`, and its place from the corner of Brazil.
_BYTES, _LATITUDE_BITS, _LONGITUDE_BITS = 9, 22, 23
_SOUTH, _WEST = -35 * UNITS, -75 * UNITS

Tell = Callable[[str], None]
_plain = lru_cache(maxsize=5_000)(plain)


def run(path: Path, *, form: Form, scope: Scope, at: datetime, tell: Tell) -> dict[str, Any]:
    """Import the cities of a file, each in the place of what an earlier file of the form had of it.

    Returns what was read, imported and refused. `tell` is called with the progress. Raises WrongAddressFile.
    """
    reading = Reading()
    cities: list[dict[str, Any]] = []
    found = _told(_read(path, form, scope, reading), reading, tell)
    for city, addresses, streets in _import(found, form=form, at=at):
        cities.append({"city": str(city), "addresses": addresses, "streets": streets})
        tell(f"{city}: {addresses:,} addresses, {streets:,} streets")
    return {
        "form": form.value,
        "lines": reading.lines,
        "imported": sum(each["addresses"] for each in cities),
        "refused": reading.refused,
        "withoutPlace": reading.vague,
        "problems": reading.problems,
        "cities": cities,
    }


def fill(addresses: Iterable[Address], *, form: Form, at: datetime) -> None:
    """Import addresses, each city in the place of what the form had of it."""
    for _city in _import(addresses, form=form, at=at):
        pass


def clear(scope: Scope) -> dict[str, int]:
    """Delete the cities of a scope."""
    cities = AddressCity.objects.all()
    if scope.state:
        cities = cities.filter(state=scope.state)
    if scope.city:
        cities = cities.filter(plain_name=plain(scope.city))
    with transaction.atomic():
        _total, by_model = cities.delete()
    return {"cities": by_model.get(AddressCity._meta.label, 0), "streets": by_model.get(AddressStreet._meta.label, 0)}


def _read(path: Path, form: Form, scope: Scope, reading: Reading) -> Iterator[Address]:
    return osm_files.read(path, scope, reading) if form is Form.OSM else address_files.read(path, form, scope, reading)


def _told(addresses: Iterable[Address], reading: Reading, tell: Tell) -> Iterator[Address]:
    told = 0
    for address in addresses:
        if reading.lines - told >= _TOLD_AFTER:
            told = reading.lines
            tell(f"{reading.lines:,} lines read, {reading.refused:,} refused")
        yield address


def _import(addresses: Iterable[Address], *, form: Form, at: datetime) -> Iterator[tuple[Municipality, int, int]]:
    """Each city once it is written, how many addresses were read of it, and how many streets it has."""
    with closing(sqlite3.connect("")) as database:  # a temporary file without a name
        streets = _Streets(database)
        for city, count in streets.collect(addresses).items():
            yield city, count, _write(city, streets.of(city), form=form, addresses=count, at=at)


class _Street(NamedTuple):
    """A street of a file, or a part of it, as the first of its addresses is written."""

    city: str
    whole: str
    postcode: str
    plain_district: str
    key: str
    name: str
    district: str
    houses: bytearray


class _Streets:
    """The streets of a file: the last of them in memory, the others in a database of SQLite."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._held: dict[tuple[Municipality, str, str, str], _Street] = {}
        self._bytes = 0
        self._database = database
        self._database.execute(
            "CREATE TABLE street (city, whole, postcode, plain_district, key, name, district, houses)"
        )

    def collect(self, addresses: Iterable[Address]) -> Counter[Municipality]:
        """Returns how many addresses each city has."""
        counts = Counter[Municipality]()
        for address in addresses:
            counts[address.city] += 1
            self._add(address)
            if self._bytes > _MOST_HELD:
                self._store()
        self._store()
        self._database.execute("CREATE INDEX of_city ON street (city, whole, postcode, plain_district)")
        return counts

    def of(self, city: Municipality) -> Iterator[_Street]:
        """The streets of a city, each with all of its houses."""
        parts = self._database.execute(
            "SELECT * FROM street WHERE city = ? ORDER BY city, whole, postcode, plain_district, rowid", [str(city)]
        )
        for _street, rows in groupby(map(_Street._make, parts), key=lambda part: part[:4]):
            first, *others = rows
            yield first._replace(houses=bytearray().join(part.houses for part in (first, *others)))

    def _add(self, address: Address) -> None:
        name = street_names.read(address.street)
        if not name.key:
            return
        of = (address.city, name.whole, address.postcode, _plain(address.district))
        street = self._held.get(of)
        if street is None:
            written = (name.key, address.street, address.district)
            street = self._held[of] = _Street(str(address.city), *of[1:], *written, bytearray())
            self._bytes += _BYTES_OF_STREET
        latitude, longitude = round(address.latitude * UNITS) - _SOUTH, round(address.longitude * UNITS) - _WEST
        packed = (address.number << 1 | address.is_exact) << _LATITUDE_BITS | latitude
        street.houses.extend((packed << _LONGITUDE_BITS | longitude).to_bytes(_BYTES, "big"))
        self._bytes += _BYTES

    def _store(self) -> None:
        self._database.executemany("INSERT INTO street VALUES (?, ?, ?, ?, ?, ?, ?, ?)", self._held.values())
        self._held.clear()
        self._bytes = 0


def _write(city: Municipality, streets: Iterable[_Street], *, form: Form, addresses: int, at: datetime) -> int:
    """Returns the number of streets."""
    with transaction.atomic():
        row, is_new = AddressCity.objects.update_or_create(
            state=city.state,
            plain_name=plain(city.name),
            form=form.value,
            defaults={"name": city.name, "addresses": addresses, "imported_at": at},
        )
        if not is_new:
            row.streets.all().delete()
        # psycopg keeps the texts of the last INSERTs: 40 MB.
        with connection.cursor() as cursor:
            with cursor.copy(_COPY) as copy:
                for street in streets:
                    copy.write_row(_row(row.pk, street))
            count: int = cursor.rowcount
    return count


def _row(city: int, street: _Street) -> tuple[Any, ...]:
    """As `_COPY` takes it."""
    houses = list(_one_of_each_number(street.houses))
    latitudes, longitudes = [each.latitude for each in houses], [each.longitude for each in houses]
    box = min(latitudes), min(longitudes), max(latitudes), max(longitudes)
    return city, street.key, street.name, street.district, street.postcode, pack(houses), *box


def _one_of_each_number(held: bytearray) -> Iterator[House]:
    """Of the places of one number the one in the middle, because one of them may be wrong; exact ones first."""
    packed = sorted(int.from_bytes(held[start : start + _BYTES], "big") for start in range(0, len(held), _BYTES))
    for _number, found in groupby(map(_house, packed), key=lambda house: house.number):
        same = list(found)
        exact = [house for house in same if house.is_exact] or same
        yield exact[len(exact) // 2]


def _house(packed: int) -> House:
    rest, longitude = packed >> _LONGITUDE_BITS, packed & (1 << _LONGITUDE_BITS) - 1
    head, latitude = rest >> _LATITUDE_BITS, rest & (1 << _LATITUDE_BITS) - 1
    return House(head >> 1, latitude + _SOUTH, longitude + _WEST, bool(head & 1))
