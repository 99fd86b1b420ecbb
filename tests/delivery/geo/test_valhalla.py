"""Lengths and times from a real Valhalla server."""

from itertools import pairwise

import pytest

from delivery.geo import routing
from delivery.geo.distance import Point, metres
from delivery.geo.routing import EngineAway, RoutingFailed
from tests.delivery.geo import valhalla
from tests.delivery.geo.valhalla import ONE_WAY_ROW, crossing
from tests.factories import DROPOFFS, PICKUP, payload

VEHICLES = ("MOTORCYCLE", "CAR")


@pytest.fixture(scope="session")
def url(tmp_path_factory):
    with valhalla.server(tmp_path_factory.mktemp("valhalla"), valhalla.grid()) as url:
        yield url


def kmh(leg):
    return leg.metres / leg.seconds * 3.6


class TestValhalla:
    @pytest.mark.parametrize("vehicle", VEHICLES)
    def test_follows_the_streets(self, url, vehicle):
        corner, end = crossing(2, 1), crossing(2, 9)

        legs = routing.valhalla(url, vehicle=vehicle)([corner, end, crossing(10, 9), corner])

        block_east, block_north = metres(corner, crossing(2, 2)), metres(corner, crossing(3, 1))
        lengths = [8 * block_east, 8 * block_north, 8 * (block_east + block_north)]
        assert [leg.metres for leg in legs] == pytest.approx(lengths, rel=0.02)
        assert all(20 < kmh(leg) < 50 for leg in legs)

    @pytest.mark.parametrize("vehicle", VEHICLES)
    def test_respects_a_one_way_street(self, url, vehicle):
        west, east = crossing(ONE_WAY_ROW, 5), crossing(ONE_WAY_ROW, 7)

        there, back = routing.valhalla(url, vehicle=vehicle)([west, east, west])

        assert back.metres > 1.9 * there.metres
        assert back.seconds > 1.5 * there.seconds

    def test_draws_the_way_along_the_streets(self, url):
        corner, end = crossing(2, 1), crossing(10, 9)

        way = routing.way("valhalla", [corner, end], url=url, vehicle="CAR")

        length = sum(metres(one, other) for one, other in pairwise(way))
        assert max(metres(way[0], corner), metres(way[-1], end)) < 5
        assert length == pytest.approx(metres(corner, crossing(2, 9)) + metres(corner, crossing(10, 1)), rel=0.02)

    def test_takes_no_time_to_where_the_driver_is(self, url):
        (leg,) = routing.valhalla(url, vehicle="CAR")([PICKUP, PICKUP])

        assert leg == (0, 0)

    def test_knows_no_way_where_no_road_is(self, url):
        with pytest.raises(RoutingFailed, match="status 400") as failed:
            routing.valhalla(url, vehicle="CAR")([PICKUP, Point(-10, -50)])
        assert not isinstance(failed.value, EngineAway)


class TestService:
    def test_computes_prices_with_its_lengths(self, url, settings, api):
        settings.ROUTING_ENGINE, settings.ROUTING_URL = "valhalla", url

        requested = api.post("/api/request-delivery", payload(stops=1)).json()

        (leg,) = routing.valhalla(url, vehicle="MOTORCYCLE")([PICKUP, DROPOFFS[0]])
        assert requested["route"]["totalDistanceKm"] == pytest.approx(leg.metres / 1000, abs=0.01)
        assert leg.metres > metres(PICKUP, DROPOFFS[0])
