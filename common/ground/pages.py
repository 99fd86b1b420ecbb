"""What pages with maps need of the ground: where its tiles are, and the answers with them."""

import logging
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpResponse

from common.ground import archive
from common.ground.pmtiles_format import ArchiveError

_log = logging.getLogger(__name__)
_KEPT_SECONDS = 24 * 60 * 60
# Zoom levels of maps. PMTiles can have 31.
_MOST_ZOOM = 24


def tiles(address: Callable[[str], str]) -> dict[str, Any]:
    """The ground of the maps: of a tile server, or vector tiles of the map file. Without a `url` there is none.

    `address` gives the path of the tile 0/0/0 of a version of the map file.
    """
    if settings.MAP_TILE_URL:
        return {"url": settings.MAP_TILE_URL, "attribution": settings.MAP_ATTRIBUTION, "is_vector": False}
    opened = archive.current()
    if opened is None:
        return {"url": "", "attribution": "", "is_vector": False}
    folder = address(opened.version).removesuffix("0/0/0.mvt")
    return {
        "url": f"{folder}{{z}}/{{x}}/{{y}}.mvt",
        "attribution": settings.MAP_ATTRIBUTION or "© OpenStreetMap",
        "is_vector": True,
        "max_zoom": opened.max_zoom,
    }


def tile(version: str, z: int, x: int, y: int) -> HttpResponse:
    """A vector tile (MVT). 204 where the map file has none, or where there is no map file.

    Browsers keep it for a day; its address names the version of the file.
    """
    opened = archive.current()
    found = None
    if opened is not None and z <= _MOST_ZOOM:
        try:
            found = opened.tile(z, x, y)
        except ArchiveError as error:
            _log.warning("The tile %s/%s/%s cannot be read: %s", z, x, y, error)
    if opened is None or not found:
        return HttpResponse(status=204)
    response = HttpResponse(found, content_type="application/vnd.mapbox-vector-tile")
    if opened.is_packed:
        response["Content-Encoding"] = "gzip"
    if version == opened.version:
        response["Cache-Control"] = f"private, max-age={_KEPT_SECONDS}, immutable"
    return response
