"""Questions to routing engines, and their answers."""

import socket

import pytest

from common.deadlines import BoundedCalls
from config import environment
from delivery.geo import routing_engines
from delivery.geo.distance import Point
from delivery.geo.routing_engines import EngineAway, Leg, RoutingFailed
from delivery.models import VehicleType
from tests.delivery.geo.routing_server import osrm_answer, valhalla_answer

SAO_PAULO, RIO = Point(-23.550278, -46.633889), Point(-22.908333, -43.196389)


class TestOsrm:
    def test_asks_for_longitude_first_and_reads_each_leg(self, routing_server):
        routing_server.answer = osrm_answer((1234.4, 300), (5000, 600.5), (125, 0))

        legs = routing_engines.osrm(routing_server.url)([SAO_PAULO, RIO, SAO_PAULO, RIO])

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
            routing_engines.osrm(routing_server.url)([SAO_PAULO, RIO])
        assert not isinstance(failed.value, EngineAway)
        assert len(routing_server.paths) == 1  # no redirect is followed

    def test_does_not_name_the_coordinates_when_the_server_is_away(self):
        with pytest.raises(EngineAway) as away:
            routing_engines.osrm("http://127.0.0.1:9")([SAO_PAULO, RIO])

        assert str(away.value) == "OSRM at http://127.0.0.1:9: ConnectionError"

    def test_is_reached_without_the_proxy_of_the_environment(self, routing_server, monkeypatch):
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        monkeypatch.setenv("no_proxy", "")
        routing_server.answer = osrm_answer((1000, 60))

        assert routing_engines.osrm(routing_server.url)([SAO_PAULO, RIO]) == [Leg(1000, 60)]


class TestValhalla:
    @pytest.mark.parametrize(("vehicle", "costing"), [("MOTORCYCLE", "motorcycle"), ("CAR", "auto")])
    def test_asks_with_the_costing_of_the_vehicle_and_reads_each_leg(self, routing_server, vehicle, costing):
        routing_server.answer = valhalla_answer((1.234, 300.25), (0, 0))

        legs = routing_engines.valhalla(routing_server.url, vehicle=vehicle)([SAO_PAULO, RIO, RIO])

        assert legs == [Leg(1234, 300.25), Leg(0, 0)]
        assert routing_server.paths == ["/route"]
        (body,) = routing_server.bodies
        assert body["locations"][0] == {"lat": -23.550278, "lon": -46.633889}
        assert (len(body["locations"]), body["costing"], body["units"]) == (3, costing, "kilometers")

    @pytest.mark.parametrize(
        ("status", "answer"),
        [
            (400, {"error_code": 171, "error": "No suitable edges near location"}),
            (302, valhalla_answer((1, 1))),
            (200, {"trip": {"legs": [{}]}}),
            (200, None),
            (200, valhalla_answer((1, -1))),
            (200, valhalla_answer((1, 1), (1, 1))),
        ],
    )
    def test_fails_on_an_answer_without_each_leg(self, routing_server, status, answer):
        routing_server.status, routing_server.answer = status, answer

        with pytest.raises(RoutingFailed) as failed:
            routing_engines.valhalla(routing_server.url, vehicle="CAR")([SAO_PAULO, RIO])
        assert not isinstance(failed.value, EngineAway)
        assert len(routing_server.paths) == 1


class TestEngine:
    @pytest.mark.parametrize("vehicle", VehicleType.values)
    @pytest.mark.parametrize(("name", "path"), [("osrm", "/route/v1/driving/"), ("valhalla", "/route")])
    def test_is_the_one_of_its_name(self, routing_server, name, path, vehicle):
        engine = routing_engines.engine(name, url=routing_server.url, vehicle=vehicle)

        assert engine is not None
        with pytest.raises(RoutingFailed):
            engine([SAO_PAULO, RIO])
        assert routing_server.paths[0].startswith(path)

    def test_is_none_without_a_url(self):
        assert routing_engines.engine("valhalla", url="", vehicle="CAR") is None

    def test_has_the_names_that_the_environment_may_give(self, monkeypatch):
        for name in routing_engines.NAMES:
            monkeypatch.setenv("ROUTING_ENGINE", name)
            assert name == environment.Geography().ROUTING_ENGINE

    def test_is_away_when_nothing_listens(self):
        with pytest.raises(EngineAway):
            routing_engines.osrm("http://127.0.0.1:9")([SAO_PAULO, RIO])

    def test_is_away_when_it_answers_with_an_error_of_its_own(self, routing_server):
        routing_server.status = 503

        with pytest.raises(EngineAway, match="503"):
            routing_engines.osrm(routing_server.url)([SAO_PAULO, RIO])

    def test_is_waited_for_two_seconds_and_not_longer(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            engine = routing_engines.osrm(f"http://127.0.0.1:{silent.getsockname()[1]}")

            with pytest.raises(EngineAway, match=r"no result after 2 s|ReadTimeout"):
                engine([SAO_PAULO, RIO])

    def test_is_away_when_its_answer_is_slower_than_the_deadline(self, routing_server, monkeypatch):
        monkeypatch.setattr(routing_engines, "_calls", BoundedCalls(most=1, seconds=0.2))
        routing_server.answer, routing_server.pause = osrm_answer((1234.4, 300)), 0.02

        with pytest.raises(EngineAway, match="DeadlinePassed"):
            routing_engines.osrm(routing_server.url)([SAO_PAULO, RIO])
