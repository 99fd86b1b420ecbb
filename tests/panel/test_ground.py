"""The tiles of the map file: who may load them, and how long browsers keep them."""

import gzip
import shutil

import pytest
from django.conf import settings
from django.urls import reverse
from pmtiles.tile import Compression, TileType

from common.ground.archive import Archive
from panel import maps
from tests.panel import archives

PLACE = (-23.55, -46.63)


@pytest.fixture
def map_file(tmp_path, settings):
    settings.MAP_FILE = tmp_path / "map.pmtiles"
    archives.write(settings.MAP_FILE, *PLACE, zooms=range(10, 15))
    return settings.MAP_FILE


def address(z=14, x=None, y=None, version=""):
    at = archives.tile_at(*PLACE, z) if x is None else (x, y)
    return reverse("panel:map_tile", args=[version or Archive(settings.MAP_FILE).version, z, *at])


class TestTile:
    def test_is_sent_as_it_is_stored(self, as_role, shop, map_file):
        response = as_role("member").get(address())

        assert (response.status_code, response["Content-Encoding"]) == (200, "gzip")
        assert response["Content-Type"] == "application/vnd.mapbox-vector-tile"
        assert gzip.decompress(response.content) == archives.tile(14, *archives.tile_at(*PLACE, 14))

    def test_is_kept_by_browsers_under_the_version_of_the_file(self, as_role, shop, map_file):
        client = as_role("member")

        kept, other = (client.get(address(version=version)) for version in ("", "an-older-one"))

        assert kept["Cache-Control"] == "private, max-age=86400, immutable"
        assert (other.status_code, other["Cache-Control"]) == (200, "no-store, private")

    def test_requires_a_log_in(self, client, db, map_file):
        assert client.get(address()).status_code == 302

    @pytest.mark.parametrize("place", [(14, 0, 0), (9, 189, 290), (15, 0, 0), (14, 2**14, 0), (31, 1, 1), (99, 1, 1)])
    def test_is_empty_where_the_file_has_none(self, as_role, shop, map_file, place):
        assert as_role("member").get(address(*place)).status_code == 204

    def test_is_found_through_directories_of_directories(self, as_role, shop, map_file, monkeypatch):
        archives.in_leaves(monkeypatch)
        archives.write(map_file, *PLACE, zooms=range(10, 16))

        response = as_role("member").get(address(15))

        assert Archive(map_file)._header["leaf_directory_length"] > 0
        assert gzip.decompress(response.content) == archives.tile(15, *archives.tile_at(*PLACE, 15))

    def test_is_empty_when_the_file_is_damaged(self, as_role, shop, map_file):
        content = bytearray(map_file.read_bytes())
        content[130:160] = b"x" * 30  # of the directory
        map_file.write_bytes(content)

        assert as_role("member").get(address()).status_code == 204


class TestGround:
    def test_is_of_the_map_file(self, map_file):
        tiles = maps.tiles()

        assert (tiles["is_vector"], tiles["max_zoom"], tiles["attribution"]) == (True, 14, "© OpenStreetMap")
        assert tiles["url"] == f"/panel/map/{Archive(settings.MAP_FILE).version}/{{z}}/{{x}}/{{y}}.mvt"

    def test_is_of_the_new_file_when_it_is_replaced(self, map_file, tmp_path):
        before = maps.tiles()
        archives.write(tmp_path / "new", *PLACE, zooms=range(10, 13))

        shutil.move(tmp_path / "new", map_file)

        after = maps.tiles()
        assert (before["max_zoom"], after["max_zoom"]) == (14, 12)
        assert before["url"] != after["url"]

    def test_is_of_the_tile_server_when_one_is_set(self, map_file, settings):
        settings.MAP_TILE_URL = "https://tile.example.com/{z}/{x}/{y}.png"

        assert maps.tiles() == {"url": settings.MAP_TILE_URL, "attribution": "", "is_vector": False}

    @pytest.mark.parametrize(
        "change",
        [
            lambda path: path.unlink(),
            lambda path: path.write_bytes(b""),
            lambda path: path.write_bytes(b"<html>" * 100),
            lambda path: archives.write(path, *PLACE, zooms=range(9, 10), tile_type=TileType.PNG),
            lambda path: archives.write(path, *PLACE, zooms=range(9, 10), tile_compression=Compression.BROTLI),
        ],
    )
    def test_is_none_without_a_file_that_can_be_used(self, map_file, change):
        change(map_file)

        assert maps.tiles()["url"] == ""
