"""Lengths and travel times of routes, from engines and without one."""

import socket
from functools import partial

import pytest

from common.deadlines import BoundedCalls
from config import environment
from delivery.geo import routing
from delivery.geo.distance import Point, metres
from delivery.geo.routing import EngineAway, Leg, RoutingFailed, Timed, TravelTimes
from delivery.models import VehicleType
from tests.delivery.geo.routing_server import osrm_answer, valhalla_answer
from tests.factories import DROPOFFS, PICKUP

SAO_PAULO, RIO = Point(-23.550278, -46.633889), Point(-22.908333, -43.196389)


class TestOsrm:
    def test_asks_for_longitude_first_and_reads_each_leg(self, routing_server):
        routing_server.answer = osrm_answer((1234.4, 300), (5000, 600.5), (125, 0))

        legs = routing.osrm(routing_server.url)([SAO_PAULO, RIO, SAO_PAULO, RIO])

        assert legs == [Leg(1234.4, 300), Leg(5000, 600.5), Leg(125, 0)]
        assert routing_server.paths[0].startswith("/route/v1/driving/-46.633889,-23.550278;-43.196389,-22.908333;")

    @pytest.mark.parametrize(
        ("status", "answer"),
        [
            (400, {"code": "NoRoute"}),
            (302, osrm_answer((1234.4, 300))),
            (200, {"routes": []}),
            (200, []),
            (200, {"routes": [{"legs": [{"distance": 1}]}]}),
            (200, osrm_answer((None, 1))),
            (200, osrm_answer((1, None))),
            (200, osrm_answer((float("nan"), 1))),
            (200, osrm_answer((1, float("inf")))),
            (200, osrm_answer((-1, 1))),
            (200, osrm_answer((1, 1), (1, 1))),
        ],
    )
    def test_fails_on_an_answer_without_each_leg(self, routing_server, status, answer):
        routing_server.status, routing_server.answer = status, answer

        with pytest.raises(RoutingFailed) as failed:
            routing.osrm(routing_server.url)([SAO_PAULO, RIO])
        assert not isinstance(failed.value, EngineAway)
        assert len(routing_server.paths) == 1  # no redirect is followed

    def test_does_not_name_the_coordinates_when_the_server_is_away(self):
        with pytest.raises(EngineAway) as away:
            routing.osrm("http://127.0.0.1:9")([SAO_PAULO, RIO])

        assert str(away.value) == "OSRM at http://127.0.0.1:9: ConnectionError"

    def test_is_reached_without_the_proxy_of_the_environment(self, routing_server, monkeypatch):
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        monkeypatch.setenv("no_proxy", "")
        routing_server.answer = osrm_answer((1000, 60))

        assert routing.osrm(routing_server.url)([SAO_PAULO, RIO]) == [Leg(1000, 60)]


def rounded(way):
    return [Point(round(point.latitude, 6), round(point.longitude, 6)) for point in way]


class TestWay:
    # The example of Google's documentation, which has five places.
    ENCODED = "_p~iF~ps|U_ulLnnqC_mqNvxq`@"
    LINE = (Point(3.85, -12.02), Point(4.07, -12.095), Point(4.3252, -12.6453))

    def test_is_the_geometry_of_osrm(self, routing_server):
        routing_server.answer = {"routes": [{"geometry": self.ENCODED}]}

        way = routing.way("osrm", [SAO_PAULO, RIO], url=routing_server.url, vehicle="CAR")

        assert rounded(way) == list(self.LINE)
        assert "geometries=polyline6" in routing_server.paths[0]

    def test_is_the_shapes_of_valhalla_one_after_the_other(self, routing_server):
        routing_server.answer = {"trip": {"legs": [{"shape": self.ENCODED}, {"shape": self.ENCODED}]}}

        way = routing.way("valhalla", [SAO_PAULO, RIO, SAO_PAULO], url=routing_server.url, vehicle="MOTORCYCLE")

        assert rounded(way) == list(self.LINE) * 2
        assert routing_server.bodies[0]["costing"] == "motorcycle"

    @pytest.mark.parametrize("geometry", ["_p~i", "_p~iF", 7, None])
    def test_fails_on_a_line_without_its_end(self, routing_server, geometry):
        routing_server.answer = {"routes": [{"geometry": geometry}]}

        with pytest.raises(RoutingFailed):
            routing.way("osrm", [SAO_PAULO, RIO], url=routing_server.url, vehicle="CAR")


class TestValhalla:
    @pytest.mark.parametrize(("vehicle", "costing"), [("MOTORCYCLE", "motorcycle"), ("CAR", "auto")])
    def test_asks_with_the_costing_of_the_vehicle_and_reads_each_leg(self, routing_server, vehicle, costing):
        routing_server.answer = valhalla_answer((1.234, 300.25), (0, 0))

        legs = routing.valhalla(routing_server.url, vehicle=vehicle)([SAO_PAULO, RIO, RIO])

        assert legs == [Leg(1234, 300.25), Leg(0, 0)]
        assert routing_server.paths == ["/route"]
        (body,) = routing_server.bodies
        assert body["locations"][0] == {"lat": -23.550278, "lon": -46.633889}
        assert (len(body["locations"]), body["costing"], body["units"]) == (3, costing, "kilometers")

    @pytest.mark.parametrize(
        ("status", "answer"),
        [
            (200, {"trip": {"legs": [{}]}}),
            (200, None),
            (200, valhalla_answer((1, -1))),
            (200, valhalla_answer((1, 1), (1, 1))),
        ],
    )
    def test_fails_on_an_answer_without_each_leg(self, routing_server, status, answer):
        routing_server.status, routing_server.answer = status, answer

        with pytest.raises(RoutingFailed) as failed:
            routing.valhalla(routing_server.url, vehicle="CAR")([SAO_PAULO, RIO])
        assert not isinstance(failed.value, EngineAway)
        assert len(routing_server.paths) == 1


class TestEngine:
    @pytest.mark.parametrize("vehicle", VehicleType.values)
    @pytest.mark.parametrize(("name", "path"), [("osrm", "/route/v1/driving/"), ("valhalla", "/route")])
    def test_is_the_one_of_its_name(self, routing_server, name, path, vehicle):
        engine = routing.engine(name, url=routing_server.url, vehicle=vehicle)

        assert engine is not None
        with pytest.raises(RoutingFailed):
            engine([SAO_PAULO, RIO])
        assert routing_server.paths[0].startswith(path)

    def test_is_none_without_a_url(self):
        assert routing.engine("valhalla", url="", vehicle="CAR") is None

    def test_has_the_names_that_the_environment_may_give(self, monkeypatch):
        for name in routing.NAMES:
            monkeypatch.setenv("ROUTING_ENGINE", name)
            assert name == environment.Geography().ROUTING_ENGINE

    def test_is_away_when_it_answers_with_an_error_of_its_own(self, routing_server):
        routing_server.status = 503

        with pytest.raises(EngineAway, match="503"):
            routing.osrm(routing_server.url)([SAO_PAULO, RIO])

    def test_is_waited_for_two_seconds_and_not_longer(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            engine = routing.osrm(f"http://127.0.0.1:{silent.getsockname()[1]}")

            with pytest.raises(EngineAway, match=r"no result after 2 s|ReadTimeout"):
                engine([SAO_PAULO, RIO])

    def test_is_away_when_its_answer_is_slower_than_the_deadline(self, routing_server, monkeypatch):
        monkeypatch.setattr(routing, "_calls", BoundedCalls(most=1, seconds=0.2))
        routing_server.answer, routing_server.pause = osrm_answer((1234.4, 300)), 0.02

        with pytest.raises(EngineAway, match="DeadlinePassed"):
            routing.osrm(routing_server.url)([SAO_PAULO, RIO])


legs = partial(routing.legs, time_factor=1.5, road_factor=1.3, kmh=36)


class TestLegs:
    def test_are_geodesic_ones_times_the_road_factor_without_an_engine(self):
        there, back, none = legs([SAO_PAULO, RIO, SAO_PAULO, SAO_PAULO], engine=None)

        assert there.metres == pytest.approx(metres(SAO_PAULO, RIO) * 1.3)
        assert there.seconds == pytest.approx(there.metres / 10)
        assert back == pytest.approx(there)
        assert none == Leg(0, 0)

    def test_are_the_engines_with_their_times_multiplied(self):
        found = legs([SAO_PAULO, RIO, SAO_PAULO], engine=lambda _points: [Leg(1234.4, 100), Leg(125, 2)])

        assert found == [Leg(1234.4, 150), Leg(125, 3)]

    def test_are_geodesic_ones_when_the_engine_fails(self, caplog):
        def engine(_points):
            raise RoutingFailed("no road is near")

        assert legs([SAO_PAULO, RIO], engine=engine) == legs([SAO_PAULO, RIO], engine=None)
        assert "Falling back to the geodesic distance. no road is near" in caplog.text

    @pytest.mark.parametrize(("length", "kilometres"), [(1234.4, "1.23"), (5000, "5.00"), (125, "0.13"), (0, "0.00")])
    def test_have_kilometres_rounded_half_up(self, length, kilometres):
        assert str(Leg(length, 1).kilometres) == kilometres


WAY = [PICKUP, DROPOFFS[0]]


class TestBySpeed:
    def test_divides_the_road_distance_by_the_speed(self):
        seconds = routing.by_speed([*WAY, PICKUP], road_factor=1.5, kmh=36)

        expected = metres(PICKUP, DROPOFFS[0]) * 1.5 / 10
        assert seconds == pytest.approx([expected, expected])


class TestTravelTimes:
    def times(self, engine):
        """Times from this engine, and the vehicles that it was asked for."""
        asked = []

        def engine_of(vehicle):
            asked.append(vehicle)
            return engine

        return TravelTimes(
            "osrm", engine_of, factor={"CAR": 1.5}, road_factor=1, kmh={"CAR": 36, "MOTORCYCLE": 72}
        ), asked

    def test_are_those_of_the_engine_for_the_vehicle(self):
        times, asked = self.times(lambda _points: [Leg(100, 12.5)])

        assert times.of(WAY, vehicle="CAR") == Timed([12.5 * 1.5], "osrm")
        assert asked == ["CAR"]

    @pytest.mark.parametrize(("vehicle", "kmh"), [("CAR", 36), ("MOTORCYCLE", 72)])
    def test_are_by_the_speed_of_the_vehicle_without_an_engine(self, vehicle, kmh):
        times, _asked = self.times(None)

        expected = routing.by_speed(WAY, road_factor=1, kmh=kmh)
        assert times.of(WAY, vehicle=vehicle) == Timed(expected, "distance")

    @pytest.mark.parametrize(("error", "questions"), [(EngineAway, 1), (RoutingFailed, 3)])
    def test_fall_back_and_ask_no_more_once_the_engine_is_away(self, caplog, error, questions):
        def engine(_points):
            raise error("why")

        times, asked = self.times(engine)

        found = [times.of(WAY, vehicle="CAR") for _route in range(3)]

        assert found == [Timed(routing.by_speed(WAY, road_factor=1, kmh=36), "distance")] * 3
        assert len(asked) == questions
        assert caplog.text.count("why") == questions
