"""Small archives of vector tiles: in each tile a grid of named streets, a park, a river and a district."""

import gzip
import math
from pathlib import Path

from pmtiles.tile import Compression, TileType, zxy_to_tileid
from pmtiles.writer import Writer

EXTENT = 4096
_TREES = ["Acácias", "Aroeiras", "Cerejeiras", "Figueiras", "Jabuticabeiras", "Magnólias", "Palmeiras", "Quaresmeiras"]
_STATES = ["Acre", "Bahia", "Ceará", "Goiás", "Maranhão", "Pará", "Paraná", "Sergipe"]
_DISTRICTS = ["Alto", "Belo", "Claro", "Feliz", "Lindo", "Novo", "Velho", "Verde"]


def _varint(number: int) -> bytes:
    encoded = b""
    while number > 127:
        encoded += bytes([number & 127 | 128])
        number >>= 7
    return encoded + bytes([number])


def _field(number: int, content: bytes | int) -> bytes:
    """A field of a protocol buffer: a number, or bytes with their length."""
    if isinstance(content, int):
        return _varint(number << 3) + _varint(content)
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _geometry(points: list[tuple[int, int]], kind: int) -> bytes:
    numbers, at = [9], (0, 0)
    for index, point in enumerate(points):
        if index == 1:
            numbers.append((len(points) - 1) << 3 | 2)
        deltas = (point[0] - at[0], point[1] - at[1])
        numbers += [delta << 1 if delta >= 0 else -delta * 2 - 1 for delta in deltas]
        at = point
    return b"".join(_varint(number) for number in ([*numbers, 15] if kind == 3 else numbers))


def layer(name: str, features: list[tuple[int, list[tuple[int, int]], dict[str, str]]]) -> bytes:
    """`features`: 1 point, 2 line or 3 polygon; its points; its properties."""
    keys = sorted({key for _kind, _points, properties in features for key in properties})
    values = sorted({value for _kind, _points, properties in features for value in properties.values()})
    encoded = _field(15, 2) + _field(1, name.encode())
    for kind, points, properties in features:
        tags = b"".join(_varint(keys.index(key)) + _varint(values.index(text)) for key, text in properties.items())
        encoded += _field(2, _field(2, tags) + _field(3, kind) + _field(4, _geometry(points, kind)))
    encoded += b"".join(_field(3, key.encode()) for key in keys)
    encoded += b"".join(_field(4, _field(1, text.encode())) for text in values)
    return _field(3, encoded + _field(5, EXTENT))


def _one(names: list[str], number: int) -> str:
    return names[number % len(names)]


def tile(z: int, x: int, y: int) -> bytes:
    square = [(0, 0), (EXTENT, 0), (EXTENT, EXTENT), (0, EXTENT)]
    kinds = ["highway", "major_road", "minor_road", "minor_road"]
    roads = []
    for number, kind in enumerate(kinds):
        at = 400 + 1000 * number
        roads.append((2, [(0, at), (EXTENT, at)], {"kind": kind, "name": f"Rua das {_one(_TREES, 4 * y + number)}"}))
        roads.append(
            (2, [(at + 300, 0), (at + 300, EXTENT)], {"kind": kind, "name": f"Avenida {_one(_STATES, 4 * x + number)}"})
        )
    return b"".join(
        [
            layer("earth", [(3, square, {"kind": "earth"})]),
            layer("landuse", [(3, [(500, 500), (1300, 500), (1300, 1300), (500, 1300)], {"kind": "park"})]),
            layer(
                "water",
                [
                    (
                        3,
                        [(0, 2550), (2048, 2650), (4096, 2550), (4096, 2850), (2048, 2950), (0, 2850)],
                        {"kind": "river"},
                    )
                ],
            ),
            layer("buildings", [(3, [(1800, 1800), (2100, 1800), (2100, 2200), (1800, 2200)], {"kind": "building"})]),
            layer("roads", roads),
            layer(
                "places",
                [(1, [(2200, 1600)], {"kind": "locality", "name": f"Bairro {_one(_DISTRICTS, 5 * x + 3 * y + z)}"})],
            ),
        ]
    )


def tile_at(latitude: float, longitude: float, zoom: int) -> tuple[int, int]:
    y = (1 - math.asinh(math.tan(math.radians(latitude))) / math.pi) / 2
    return int((longitude + 180) / 360 * 2**zoom), int(y * 2**zoom)


def write(path: Path, latitude: float, longitude: float, *, zooms: range, around: int = 3, **header: object) -> int:
    """An archive with the tiles around a place at each zoom level. Returns their number."""
    ids = set()
    for zoom in zooms:
        x, y = tile_at(latitude, longitude, zoom)
        size = 2**zoom
        for dx in range(-around, around + 1):
            for dy in range(-around, around + 1):
                if 0 <= x + dx < size and 0 <= y + dy < size:
                    ids.add((zxy_to_tileid(zoom, x + dx, y + dy), zoom, x + dx, y + dy))
    with path.open("wb") as file:
        writer = Writer(file)
        for tile_id, zoom, x, y in sorted(ids):
            writer.write_tile(tile_id, gzip.compress(tile(zoom, x, y), mtime=0))
        writer.finalize(
            {"tile_type": TileType.MVT, "tile_compression": Compression.GZIP, **header},
            {"attribution": "© OpenStreetMap"},
        )
    return len(ids)
