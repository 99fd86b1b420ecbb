"""The grounds of maps: ranges of the map file, who may load them and how long they are kept; openstreetmap.org."""

import shutil

import pytest
from django.urls import reverse
from django.utils import timezone
from pmtiles.tile import Compression, TileType

from common.pages.map_file import MOST_BYTES
from delivery.actions import deliveries
from delivery.models import Delivery, DispatchRulesChange, DriverPosition
from panel import maps
from tests.factories import BY, DeliveryFactory
from tests.panel import archives

PLACE = (-23.55, -46.63)


@pytest.fixture
def map_file(tmp_path, settings):
    settings.MAP_FILE = tmp_path / "map.pmtiles"
    archives.write(settings.MAP_FILE, *PLACE, zooms=range(10, 15))
    return settings.MAP_FILE


@pytest.fixture
def get(as_role, shop):
    client = as_role("member")

    def get(ranges="", *, path=""):
        return client.get(path or maps.tiles()["url"], headers={"Range": ranges} if ranges else {})

    return get


class TestRange:
    @pytest.mark.parametrize(("first", "last"), [(0, 16_383), (300, 300), (500, 10**14)])
    def test_is_sent_as_it_is_stored(self, get, map_file, first, last):
        stored, size = map_file.read_bytes()[first : last + 1], map_file.stat().st_size

        response = get(f"bytes={first}-{last}")

        assert (response.status_code, response.content) == (206, stored)
        assert response["Content-Range"] == f"bytes {first}-{min(last, size - 1)}/{size}"

    @pytest.mark.parametrize("wrong", ["", "bytes=9-8", "bytes=0-", "bytes=-5", "bytes=0-1,4-5", "bytes={size}-{size}"])
    def test_has_to_be_one_within_the_file(self, get, map_file, wrong):
        size = map_file.stat().st_size

        response = get(wrong.format(size=size))

        assert (response.status_code, response.content) == (416, b"")
        assert response["Content-Range"] == f"bytes */{size}"

    def test_has_a_most_length(self, get, map_file):
        with map_file.open("r+b") as file:
            file.truncate(2 * MOST_BYTES)

        assert get(f"bytes=1-{MOST_BYTES}").status_code == 206
        assert get(f"bytes=0-{MOST_BYTES}").status_code == 416

    def test_is_kept_by_browsers_under_the_version_of_the_file(self, get, map_file):
        kept, other = get("bytes=0-9"), get("bytes=0-9", path="/panel/map/an-older-one.pmtiles")

        assert kept["Cache-Control"] == "private, max-age=86400, immutable"
        assert (other.status_code, other["Cache-Control"]) == (206, "no-store, private")
        assert kept["ETag"] == other["ETag"]

    def test_requires_a_log_in(self, client, db, map_file):
        assert client.get(maps.tiles()["url"], headers={"Range": "bytes=0-9"}).status_code == 302

    def test_is_none_without_a_file(self, get, map_file):
        path = maps.tiles()["url"]
        map_file.unlink()

        assert get("bytes=0-9", path=path).status_code == 404


class TestGround:
    def test_is_of_the_map_file(self, map_file):
        tiles = maps.tiles()

        assert (tiles["is_vector"], tiles["max_zoom"], tiles["attribution"]) == (True, 14, "© OpenStreetMap")

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
        ("change", "logged"),
        [
            (lambda path: path.unlink(), ""),
            (lambda path: [path.unlink(), path.mkdir()], "cannot be read"),
            (lambda path: path.write_bytes(b"PMTiles\x03"), "no archive"),
            (lambda path: path.write_bytes(b"<html>" * 100), "no archive"),
            (lambda path: archives.write(path, *PLACE, zooms=range(9, 10), tile_type=TileType.PNG), "no vector tiles"),
            (
                lambda path: archives.write(path, *PLACE, zooms=range(9, 10), tile_compression=Compression.BROTLI),
                "gzip",
            ),
        ],
    )
    def test_is_none_without_a_file_that_can_be_used(self, map_file, caplog, change, logged):
        change(map_file)

        assert maps.tiles()["url"] == ""
        assert (logged in caplog.text) if logged else not caplog.text


class TestRoute:
    def test_has_a_driver_whose_position_is_known_until_it_is_closed(self, shop):
        position = DriverPosition(latitude=-23.5, longitude=-46.6)
        offered = DeliveryFactory.create(token=shop.token)
        driven = DeliveryFactory.create(token=shop.token, stops=1, collected=True)
        assert driven.driver
        shown = {"name": driven.driver.name, "lat": -23.5, "lng": -46.6}
        drivers = [maps.route(*each)["driver"] for each in ((offered, position), (driven, None), (driven, position))]

        deliveries.deliver(delivery=driven, point="B", by=BY, at=timezone.now())

        closed = maps.route(Delivery.objects.get(pk=driven.pk), position)
        assert (drivers, closed["driver"]) == ([None, None, shown], None)
        assert [(point["label"], point["status"]) for point in closed["points"]] == [("A", ""), ("B", "DELIVERED")]


class TestStreetsFromOpenStreetMap:
    def test_are_asked_for_only_after_a_superuser_has_decided_so(
        self, as_role, shop, django_capture_on_commit_callbacks
    ):
        board, superuser = reverse("panel:board"), as_role("superuser")
        before = superuser.get(board)

        with django_capture_on_commit_callbacks(execute=True):
            response = superuser.post(reverse("panel:map_streets"))

        after = superuser.get(board)
        assert response.status_code == 204
        assert "tile.openstreetmap.org" not in f"{before.headers} {before.context['tiles']}"
        assert "img-src 'self' data: https://tile.openstreetmap.org" in after.headers["Content-Security-Policy"]
        assert 'href="https://www.openstreetmap.org/copyright"' in after.context["tiles"]["attribution"]
        assert DispatchRulesChange.objects.get(pgh_label="changed").pgh_context["by"] == "user superuser"

    def test_are_offered_to_those_who_may_decide_for_them_alone(self, as_role, shop):
        roles = ("superuser", "dispatcher")
        pages = [as_role(role).get(reverse("panel:board")).content.decode() for role in roles]

        assert ['id="no-ground"' in page for page in pages] == [True, False]

    def test_are_not_asked_for_beside_a_map_file(self, map_file, rules):
        rules(streets_from_openstreetmap=True)

        assert maps.tiles()["is_vector"]
