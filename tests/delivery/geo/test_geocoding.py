"""Coordinates in what people paste, and the search of a server on loopback."""

from urllib.parse import parse_qs, urlsplit

import pytest

from common.deadlines import BoundedCalls
from delivery.geo import geocoding
from delivery.geo.distance import Point

PAULISTA = Point(-23.561414, -46.655881)
PLACE = "https://www.google.com/maps/place/MASP/@-23.5600001,-46.6600002,17z/data=!3m1!4b1!4m6!3m5!3d-23.561414!4d-46.655881"


class TestPointIn:
    @pytest.mark.parametrize(
        "text",
        [
            "-23.561414, -46.655881",
            "-23.561414,-46.655881",
            "-23.561414 -46.655881",
            PLACE,
            "https://maps.google.com/?q=-23.561414,-46.655881",
            "https://www.google.com/maps/search/?api=1&query=-23.561414%2C-46.655881",
            "https://www.google.com/maps/@-23.561414,-46.655881,17z",
            "https://www.openstreetmap.org/#map=19/-23.561414/-46.655881",
            "geo:-23.561414,-46.655881",
        ],
    )
    def test_reads_coordinates_and_links(self, text):
        assert geocoding.point_in(text) == PAULISTA

    @pytest.mark.parametrize(
        "text",
        [
            "Avenida Paulista, 1578",
            "https://maps.app.goo.gl/abc123",
            "https://example.com/v1/2/page",
            "-91.5, -46.6",
            "",
            f"{'x' * 2000} -23.5, -46.6",
        ],
    )
    def test_finds_none_in_other_texts(self, text):
        assert geocoding.point_in(text) is None

    def test_reads_whole_degrees_that_are_no_link(self):
        assert geocoding.point_in("-23, -46") == Point(-23.0, -46.0)


@pytest.fixture
def server(routing_server):
    """A server with the search of Nominatim, which finds one place."""
    routing_server.answer = [{"display_name": "Avenida Paulista, 1578", "lat": "-23.561414", "lon": "-46.655881"}]
    return routing_server


class TestSearch:
    def test_returns_the_places_that_the_server_found(self, server):
        found = geocoding.search(server.url, " Paulista 1578 ", language="pt-br")

        (path,), (headers,) = server.paths, server.headers
        assert found == [geocoding.Found("Avenida Paulista, 1578", PAULISTA)]
        assert urlsplit(path).path == "/search"
        assert parse_qs(urlsplit(path).query) == {
            "q": ["Paulista 1578"], "format": ["jsonv2"], "limit": ["5"], "countrycodes": ["br"],
        }  # fmt: skip  # a query
        assert (headers["User-Agent"], headers["Accept-Language"]) == ("Rota", "pt-br")

    def test_asks_nothing_for_an_empty_query(self, server):
        assert geocoding.search(server.url, "  ", language="en") == []
        assert server.paths == []

    @pytest.mark.parametrize(
        ("status", "answer"), [(500, []), (302, []), (200, {"error": "x"}), (200, [{"lat": "1"}]), (200, "x" * 300_000)]
    )
    def test_says_that_another_answer_is_none(self, server, status, answer):
        server.status, server.answer = status, answer

        with pytest.raises(geocoding.GeocodingFailed):
            geocoding.search(server.url, "Paulista", language="en")

        assert len(server.paths) == 1

    def test_does_not_name_the_address_when_the_server_is_away(self):
        with pytest.raises(geocoding.GeocodingFailed) as failed:
            geocoding.search("http://127.0.0.1:9", "Rua Augusta 12", language="en")

        assert str(failed.value) == "ConnectionError"

    def test_waits_no_longer_than_its_deadline(self, server, monkeypatch):
        monkeypatch.setattr(geocoding, "_calls", BoundedCalls(most=1, seconds=0.2))
        server.pause = 0.02

        with pytest.raises(geocoding.GeocodingFailed, match="DeadlinePassed"):
            geocoding.search(server.url, "Paulista", language="en")
