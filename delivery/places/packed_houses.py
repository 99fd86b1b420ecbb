"""The houses of a street in a few bytes each: number and place as differences to the house before. Pure.

A place is in hundred-thousandths of a degree, about a metre.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from delivery.geo.distance import Point

UNITS = 100_000  # of a degree


class House(NamedTuple):
    """`number` is 0 for a house without one. `is_exact`: the place is that of the house, not of its block."""

    number: int
    latitude: int
    longitude: int
    is_exact: bool

    @property
    def point(self) -> Point:
        return Point(self.latitude / UNITS, self.longitude / UNITS)


def pack(houses: Iterable[House]) -> bytes:
    """Houses in the order of their numbers."""
    packed = bytearray()
    number = latitude = longitude = 0
    for each in houses:
        _write(packed, (each.number - number) << 1 | each.is_exact)
        _write(packed, _unsigned(each.latitude - latitude))
        _write(packed, _unsigned(each.longitude - longitude))
        number, latitude, longitude = each.number, each.latitude, each.longitude
    return bytes(packed)


def unpack(packed: bytes) -> Iterator[House]:
    numbers = _read(packed)
    number = latitude = longitude = 0
    for head in numbers:
        number += head >> 1
        latitude += _signed(next(numbers))
        longitude += _signed(next(numbers))
        yield House(number, latitude, longitude, bool(head & 1))


def _unsigned(number: int) -> int:
    """Small for a number near zero, of either sign."""
    return number << 1 if number >= 0 else (-number << 1) - 1


def _signed(number: int) -> int:
    return -((number + 1) >> 1) if number & 1 else number >> 1


def _write(packed: bytearray, number: int) -> None:
    """Seven bits in each byte, the lowest first; the highest bit says that another byte follows."""
    while number > 0x7F:  # noqa: PLR2004  # see above
        packed.append(number & 0x7F | 0x80)
        number >>= 7
    packed.append(number)


def _read(packed: bytes) -> Iterator[int]:
    number = shift = 0
    for byte in packed:
        number |= (byte & 0x7F) << shift
        if byte & 0x80:
            shift += 7
        else:
            yield number
            number = shift = 0
