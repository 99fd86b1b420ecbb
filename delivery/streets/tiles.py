"""Which tiles show a place: Web Mercator, and the numbers that PMTiles gives them. Pure."""

import math
from collections.abc import Iterable

from pmtiles.tile import zxy_to_tileid

from delivery.geo.distance import Point

_KM_PER_DEGREE = 111.32
_FARTHEST_LATITUDE = 85.0  # the map ends there

Box = tuple[float, float, float, float]  # west, south, east, north


def box(point: Point, *, km: float) -> Box:
    """The degrees around a point that contain all within `km`."""
    high = km / _KM_PER_DEGREE
    wide = high / math.cos(math.radians(min(abs(point.latitude) + high, _FARTHEST_LATITUDE)))
    south = max(point.latitude - high, -_FARTHEST_LATITUDE)
    north = min(point.latitude + high, _FARTHEST_LATITUDE)
    return point.longitude - wide, south, point.longitude + wide, north


def ids(boxes: Iterable[Box], *, zooms: range) -> list[int]:
    """The numbers of the tiles that touch these boxes, in their order."""
    found: set[tuple[int, int, int]] = set()
    for west, south, east, north in boxes:
        for zoom in zooms:
            most = 2**zoom - 1
            (first_x, first_y), (last_x, last_y) = _tile(west, north, zoom), _tile(east, south, zoom)
            rows = range(max(first_y, 0), min(last_y, most) + 1)
            found.update((zoom, x % (most + 1), y) for x in range(first_x, last_x + 1) for y in rows)
    return sorted(zxy_to_tileid(*each) for each in found)


def _tile(longitude: float, latitude: float, zoom: int) -> tuple[int, int]:
    y = (1 - math.asinh(math.tan(math.radians(latitude))) / math.pi) / 2
    return math.floor((longitude + 180) / 360 * 2**zoom), math.floor(y * 2**zoom)
