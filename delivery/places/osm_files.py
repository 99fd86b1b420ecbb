"""Addresses of an extract of OpenStreetMap, read by osmium, which is installed with requirements-osm.lock.

Source: https://wiki.openstreetmap.org/wiki/Key:addr:*
"""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from delivery.errors import WrongAddressFile
from delivery.places.address_files import Address, Reading, RefusedRowError, Scope, VagueRowError, address_of

_NUMBER = "addr:housenumber"
# Of a district the first that is there.
_KEYS = {
    "number": (_NUMBER,),
    "street": ("addr:street",),
    "district": ("addr:suburb", "addr:district", "addr:neighbourhood"),
    "city": ("addr:city",),
    "region": ("addr:state",),
    "postcode": ("addr:postcode",),
}


def read(path: Path, scope: Scope, reading: Reading) -> Iterator[Address]:
    """The nodes and ways with a house number. A way, such as a building, lies at its first node.

    Raises WrongAddressFile for a file that cannot be read, and without osmium.
    """
    osmium = _library()
    with_number = osmium.filter.KeyFilter(_NUMBER)
    try:
        for node in osmium.FileProcessor(path, osmium.osm.NODE).with_filter(with_number):
            yield from _read("node", node, (node.location.lat, node.location.lon), scope, reading)
        first_nodes = osmium.IdTracker()
        for way in osmium.FileProcessor(path, osmium.osm.WAY).with_filter(with_number):
            first_nodes.add_node(way.nodes[0].ref)
        nodes = osmium.FileProcessor(path, osmium.osm.NODE).with_filter(first_nodes.id_filter())
        places = {node.id: (node.location.lat, node.location.lon) for node in nodes}
        for way in osmium.FileProcessor(path, osmium.osm.WAY).with_filter(with_number):
            # An extract may end within a way.
            yield from _read("way", way, places.get(way.nodes[0].ref, (0.0, 0.0)), scope, reading)
    except RuntimeError as error:
        raise WrongAddressFile(f"{path.name} cannot be read: {error}") from error


def _read(kind: str, found: Any, place: tuple[float, float], scope: Scope, reading: Reading) -> Iterator[Address]:
    reading.lines += 1
    tags = {tag.k: tag.v.strip() for tag in found.tags}
    texts = {name: next(filter(None, map(tags.get, keys)), "") for name, keys in _KEYS.items()}
    latitude, longitude = place
    try:
        address = address_of({**texts, "lat": str(latitude), "lon": str(longitude)}, scope)
    except RefusedRowError as error:
        reading.refuse(kind, found.id, str(error))
    except VagueRowError:
        reading.vague += 1
    else:
        if address is not None:
            yield address


def _library() -> Any:
    try:
        return import_module("osmium")
    except ImportError as error:
        raise WrongAddressFile("osmium reads extracts of OpenStreetMap: install requirements-osm.lock.") from error
