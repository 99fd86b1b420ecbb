"""Filling the table of addresses from files, each city in one transaction.

The memory that this takes depends on the largest city, not on the file.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from django.db import connection, transaction

from common.brazil.municipalities import Municipality, plain
from delivery.places import address_files, osm_files, street_names
from delivery.places.address_files import Address, Reading, Scope
from delivery.places.models import AddressCity, AddressStreet, Form
from delivery.places.packed_houses import UNITS, House, pack

# Addresses that are held at once, about 20 MB: of several cities, or of a part of the streets of a larger one. A file
# with more of them is read several times.
_MOST_HELD = 1_500_000
_TOLD_AFTER = 500_000  # lines
_WRITTEN_AT_ONCE = 500  # streets
# A house while its street is read: a number with the bit of `is_exact`, and its place from the corner of Brazil.
_BYTES, _LATITUDE_BITS, _LONGITUDE_BITS = 9, 22, 23
_SOUTH, _WEST = -35 * UNITS, -75 * UNITS

Tell = Callable[[str], None]
_Streets = dict[tuple[str, str, str], "_Street"]
_plain = lru_cache(maxsize=5_000)(plain)


def run(path: Path, *, form: Form, scope: Scope, at: datetime, tell: Tell) -> dict[str, Any]:
    """Import the cities of a file, each in the place of what an earlier file of the form had of it.

    Returns what was read, imported and refused. `tell` is called with the progress. Raises WrongAddressFile.
    """
    reading = Reading()
    counts = Counter(address.city for address in _told(_read(path, form, scope, reading), reading, tell))
    cities = []
    for batch in _batches(counts):
        for city, parts in _held(path, form, scope, batch, counts=counts):
            written = _write(city, parts, form=form, addresses=counts[city], at=at)
            cities.append({"city": str(city), "addresses": counts[city], "streets": written})
            tell(f"{city}: {counts[city]:,} addresses, {written:,} streets")
    return {
        "form": form.value,
        "lines": reading.lines,
        "imported": counts.total(),
        "refused": reading.refused,
        "withoutPlace": reading.vague,
        "problems": reading.problems,
        "cities": cities,
    }


def fill(addresses: Iterable[Address], *, form: Form, at: datetime) -> None:
    """Import the addresses of one city, in the place of those that the form had of it."""
    given = list(addresses)
    streets: _Streets = {}
    for address in given:
        _hold(streets, address)
    _write(given[0].city, [streets], form=form, addresses=len(given), at=at)


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


def _batches(counts: Mapping[Municipality, int]) -> Iterator[list[Municipality]]:
    batch: list[Municipality] = []
    held = 0
    for city, count in counts.items():
        if batch and held + count > _MOST_HELD:
            yield batch
            batch, held = [], 0
        batch.append(city)
        held += count
    if batch:
        yield batch


def _held(
    path: Path, form: Form, scope: Scope, batch: Collection[Municipality], *, counts: Mapping[Municipality, int]
) -> Iterator[tuple[Municipality, Iterable[_Streets]]]:
    """Each city with its streets. A large one is alone, and the file is read again for each part of its streets."""
    parts = -(-sum(counts[city] for city in batch) // _MOST_HELD)

    def read(part: int) -> dict[Municipality, _Streets]:
        held: dict[Municipality, _Streets] = {city: {} for city in batch}
        for address in _read(path, form, scope, Reading()):
            if address.city in held and hash(address.street) % parts == part:
                _hold(held[address.city], address)
        return held

    if parts > 1:
        (city,) = batch
        yield city, (read(part)[city] for part in range(parts))
    else:
        held = read(0)
        yield from ((city, [held.pop(city)]) for city in batch)


class _Street:
    __slots__ = ("district", "houses", "key", "name", "postcode")

    def __init__(self, key: str, address: Address) -> None:
        self.key, self.name = key, address.street
        self.district, self.postcode = address.district, address.postcode
        self.houses = bytearray()


def _hold(streets: _Streets, address: Address) -> None:
    name = street_names.read(address.street)
    if not name.key:
        return
    of = (name.whole, address.postcode, _plain(address.district))
    street = streets.get(of)
    if street is None:
        street = streets[of] = _Street(name.key, address)
    latitude, longitude = round(address.latitude * UNITS) - _SOUTH, round(address.longitude * UNITS) - _WEST
    packed = (address.number << 1 | address.is_exact) << _LATITUDE_BITS | latitude
    street.houses += (packed << _LONGITUDE_BITS | longitude).to_bytes(_BYTES, "big")


def _write(city: Municipality, parts: Iterable[_Streets], *, form: Form, addresses: int, at: datetime) -> int:
    """Returns the number of streets. Forgets them as it writes them."""
    count = 0
    with transaction.atomic():
        with connection.cursor() as cursor:  # the file is read between the parts
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        row, is_new = AddressCity.objects.update_or_create(
            state=city.state,
            plain_name=plain(city.name),
            form=form.value,
            defaults={"name": city.name, "addresses": addresses, "imported_at": at},
        )
        if not is_new:
            row.streets.all().delete()
        for streets in parts:
            count += len(streets)
            rows = (_row(row, streets.pop(key)) for key in list(streets))
            while written := list(islice(rows, _WRITTEN_AT_ONCE)):
                AddressStreet.objects.bulk_create(written)
    return count


def _row(city: AddressCity, street: _Street) -> AddressStreet:
    houses = list(_one_of_each_number(street.houses))
    latitudes, longitudes = [each.latitude for each in houses], [each.longitude for each in houses]
    return AddressStreet(
        city=city,
        key=street.key,
        name=street.name,
        district=street.district,
        postcode=street.postcode,
        houses=pack(houses),
        south=min(latitudes),
        west=min(longitudes),
        north=max(latitudes),
        east=max(longitudes),
    )


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
