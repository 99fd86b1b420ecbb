"""Areas on the map, such as that of a city: polygons, read from what people paste. Pure."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

from delivery.geo.distance import Point
from delivery.geo.service_area import Box

MOST_POINTS = 1_000
LONGEST_TEXT = 100_000  # characters; those points in GeoJSON with fifteen digits have about half as many
_FEWEST_POINTS = 3
_CORNERS = 4  # numbers of a box

# Rings of [latitude, longitude]: the first is the border of the polygon, others are holes in it.
Ring = list[list[float]]
Polygon = list[Ring]


class InvalidArea(ValueError):
    """The text is no area: malformed, off the Earth, without an inside, or of more than MOST_POINTS points."""


@dataclass(frozen=True)
class Area:
    """A place is in it if it is in one of the polygons. None of them crosses the 180th meridian."""

    polygons: list[Polygon]

    def contains(self, point: Point) -> bool:
        return any(box.contains(*point) and _is_inside(point, rings) for box, rings in self._boxed)

    @property
    def size(self) -> float:
        """To compare areas with: square degrees of the boxes around the polygons."""
        return sum((box.north - box.south) * (box.east - box.west) for box, _rings in self._boxed)

    @cached_property
    def _boxed(self) -> list[tuple[Box, Polygon]]:
        return [(_box(rings[0]), rings) for rings in self.polygons]


def _box(border: Ring) -> Box:
    latitudes, longitudes = zip(*border, strict=True)
    return Box(min(latitudes), min(longitudes), max(latitudes), max(longitudes))


def _is_inside(point: Point, rings: Polygon) -> bool:
    """Whether a line from the point to the east crosses the rings an odd number of times."""
    north, east = point
    inside = False
    for ring in rings:
        latitude, longitude = ring[-1]
        for next_latitude, next_longitude in ring:
            if (latitude > north) != (next_latitude > north):
                share = (north - latitude) / (next_latitude - latitude)
                inside ^= east < longitude + share * (next_longitude - longitude)
            latitude, longitude = next_latitude, next_longitude
    return inside


def parse(text: str) -> list[Polygon]:
    """The polygons of a text. Raises InvalidArea.

    It is GeoJSON of a Polygon or MultiPolygon, or of a Feature or FeatureCollection of such; or boxes
    `south,west,north,east; …`; or the corners of one polygon, `latitude,longitude; …`. Line breaks separate like `;`.
    """
    if len(text) > LONGEST_TEXT:
        raise InvalidArea
    polygons = _from_geojson(text) if text.lstrip().startswith("{") else _from_lists(text)
    rings = [ring for polygon in polygons for ring in polygon]
    if not polygons or not all(polygons) or sum(map(len, rings)) > MOST_POINTS:
        raise InvalidArea
    return polygons


def write(polygons: list[Polygon]) -> str:
    """The shortest text that `parse` reads as these polygons."""
    if all(_is_box(polygon) for polygon in polygons):
        return "; ".join(",".join(map(str, _box(polygon[0]))) for polygon in polygons)
    if len(polygons) == len(polygons[0]) == 1:
        return "; ".join(f"{latitude},{longitude}" for latitude, longitude in polygons[0][0])
    swapped = [[[point[::-1] for point in [*ring, ring[0]]] for ring in polygon] for polygon in polygons]
    return json.dumps({"type": "MultiPolygon", "coordinates": swapped}, separators=(",", ":"))


def _is_box(polygon: Polygon) -> bool:
    return len(polygon) == 1 and polygon[0] == _ring_of(_box(polygon[0]))


def _ring_of(box: Box) -> Ring:
    return [[box.south, box.west], [box.south, box.east], [box.north, box.east], [box.north, box.west]]


def _from_lists(text: str) -> list[Polygon]:
    parts = [part.split(",") for part in text.replace("\n", ";").split(";") if part.strip()]
    try:
        numbers = [[float(number) for number in part] for part in parts]
    except ValueError as error:
        raise InvalidArea from error
    if all(len(part) == _CORNERS for part in numbers):
        if any(not (box[0] < box[2] and box[1] < box[3]) for box in numbers):
            raise InvalidArea
        return [[_ring(_ring_of(Box(*box)))] for box in numbers]
    return [[_ring(numbers)]]


def _from_geojson(text: str) -> list[Polygon]:
    try:
        found = json.loads(text, parse_constant=_refuse)
        return [
            [_ring([point[1::-1] for point in ring]) for ring in polygon]
            for geometry in _geometries(found)
            for polygon in _polygons(geometry)
        ]
    except (ValueError, RecursionError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise InvalidArea from error


def _refuse(_constant: str) -> NoReturn:
    raise InvalidArea


def _geometries(found: Any) -> Iterator[Any]:
    if found["type"] == "FeatureCollection":
        yield from (feature["geometry"] for feature in found["features"])
    else:
        yield found["geometry"] if found["type"] == "Feature" else found


def _polygons(geometry: Any) -> Iterable[Any]:
    match geometry["type"]:
        case "Polygon":
            return [geometry["coordinates"]]
        case "MultiPolygon":
            return list(geometry["coordinates"])
    raise InvalidArea


def _ring(points: list[Any]) -> Ring:
    """The ring without the repetition of its first point at its end."""
    ring = [[_number(number) for number in point] for point in points]
    if any(len(point) != len(Point._fields) or not Point(*point).is_on_earth for point in ring):
        raise InvalidArea
    if ring[-1:] == ring[:1]:
        del ring[-1:]
    if len({tuple(point) for point in ring}) < _FEWEST_POINTS:
        raise InvalidArea
    box = _box(ring)
    if box.south == box.north or box.west == box.east:
        raise InvalidArea
    return ring


def _number(value: Any) -> float:
    """Raises InvalidArea for what is not a number of JSON, and for those beyond the degrees of the globe."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= 180:  # noqa: PLR2004
        raise InvalidArea
    return float(value)
