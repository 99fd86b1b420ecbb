"""The background of maps: a tile server, or the map file of this server, of which browsers read ranges of bytes.

The map file (MAP_FILE) has the format PMTiles, version 3.
"""

import hashlib
import logging
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse

_log = logging.getLogger(__name__)
# More than a directory or a tile has. An answer is in memory as a whole.
MOST_BYTES = 4 * 1024 * 1024
_KEPT_SECONDS = 24 * 60 * 60
_RANGE = re.compile(r"bytes=([0-9]{1,15})-([0-9]{1,15})")
# The header and the first directory, which has the places of all tiles or of further directories.
_START_BYTES = 16 * 1024
_HEADER_BYTES = 127
_MAGIC = b"PMTiles\x03"
_UNPACKED = (1, 2)  # compressions that browsers undo: none and gzip
_VECTOR_TILES = 1


def ground(address: Callable[[str], str], *, openstreetmap: bool) -> dict[str, Any]:
    """The background of the maps, from a tile server or the map file. Without a `url` there is none.

    `address` gives the path of a version of the map file. `openstreetmap`: without another background, that of
    openstreetmap.org. Its policy of tiles asks for the attribution with its link, and for a Referer, which `map.js` has
    browsers send: https://operations.osmfoundation.org/policies/tiles/.
    """
    if settings.MAP_TILE_URL:
        return {"url": settings.MAP_TILE_URL, "attribution": settings.MAP_ATTRIBUTION, "is_vector": False}
    start = _start()
    if start is None:
        return _of_openstreetmap() if openstreetmap else {"url": "", "attribution": "", "is_vector": False}
    return {
        "url": address(_version(start)),
        "attribution": settings.MAP_ATTRIBUTION or "© OpenStreetMap",
        "is_vector": True,
        "max_zoom": start[101],
    }


def exists() -> bool:
    """Whether this server has a map file that maps can be drawn from."""
    return _start() is not None


def origin_of_openstreetmap() -> str:
    """The origin of its tiles, for the Content-Security-Policy."""
    parts = urlsplit(settings.OPENSTREETMAP_TILE_URL)
    return f"{parts.scheme}://{parts.netloc}"


def _of_openstreetmap() -> dict[str, Any]:
    link = '<a href="https://www.openstreetmap.org/copyright" target="_blank" rel="noopener">OpenStreetMap</a>'
    return {"url": settings.OPENSTREETMAP_TILE_URL, "attribution": f"© {link}", "is_vector": False}


def answer(request: HttpRequest, version: str) -> HttpResponse:
    """A range of the map file (206). 404 without a map file, 416 without a range or for one of more than MOST_BYTES.

    Browsers keep it for a day if its address names the version of the file.
    """
    try:
        file = settings.MAP_FILE.open("rb")
    except OSError:
        return HttpResponse(status=404)
    with file:
        current = _version(file.read(_START_BYTES))
        size = file.seek(0, 2)
        asked = _RANGE.fullmatch(request.headers.get("Range", ""))
        first, last = (int(asked[1]), min(int(asked[2]), size - 1)) if asked else (0, -1)
        if not first <= last < first + MOST_BYTES:
            return HttpResponse(status=416, headers={"Content-Range": f"bytes */{size}"})
        file.seek(first)
        content = file.read(last - first + 1)
    response = HttpResponse(content, status=206, content_type="application/vnd.pmtiles")
    response["Content-Range"] = f"bytes {first}-{last}/{size}"
    response["ETag"] = f'"{current}"'  # by which the browser notices that the file was replaced
    if version == current:
        response["Cache-Control"] = f"private, max-age={_KEPT_SECONDS}, immutable"
    return response


def _start() -> bytes | None:
    """The start of the map file. None: there is none, or maps cannot be drawn from it, which is logged."""
    try:
        with settings.MAP_FILE.open("rb") as file:
            start: bytes = file.read(_START_BYTES)
    except FileNotFoundError:
        return None
    except OSError as error:
        _log.warning("The map file cannot be read: %s", error)
        return None
    if len(start) < _HEADER_BYTES or not start.startswith(_MAGIC):
        reason = "it is no archive of PMTiles, version 3"
    elif start[97] not in _UNPACKED or start[98] not in _UNPACKED:
        reason = "its compression is neither gzip nor none"
    elif start[99] != _VECTOR_TILES:
        reason = "its tiles are no vector tiles (MVT)"
    else:
        return start
    _log.warning("The map file %s cannot be used: %s", settings.MAP_FILE, reason)
    return None


def _version(start: bytes) -> str:
    """The version of the file: the same on all machines that have the same file."""
    return hashlib.blake2b(start, digest_size=8).hexdigest()
