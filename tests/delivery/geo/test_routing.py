"""Lengths and travel times of routes, from engines and without one."""

import socket
from functools import partial

import pytest

from common.workers.deadlines import BoundedCalls
from config import environment
from delivery.geo import routing
from delivery.geo.distance import Point, away_from, metres
from delivery.geo.routing import EngineAway, Leg, RoutingFailed, Timed, TravelTimes
from delivery.models import VehicleType
from tests.cases import in_turn
from tests.delivery.geo.routing_server import encoded, osrm_answer, valhalla_answer
from tests.factories import DROPOFFS, PICKUP

SAO_PAULO, RIO = Point(-23.550278, -46.633889), Point(-22.908333, -43.196389)  # 358.9 km
SAO_CAETANO = Point(-23.6229, -46.5548)  # 11.4 km


class TestOsrm:
    def test_asks_for_longitude_first_and_reads_each_leg(self, routing_server):
        routing_server.answer = osrm_answer((433123.4, 18000), (434000, 18300.5), (125, 10))

        legs = routing.osrm(routing_server.url)([SAO_PAULO, RIO, SAO_PAULO, SAO_PAULO])

        assert legs == [Leg(433123.4, 18000), Leg(434000, 18300.5), Leg(125, 10)]
        assert routing_server.paths[0].startswith("/route/v1/driving/-46.633889,-23.550278;-43.196389,-22.908333;")

    @pytest.mark.parametrize(
        ("status", "answer"),
        [
            (400, {"code": "NoRoute"}),
            (302, osrm_answer((1234.4, 300))),
            (200, {"routes": []}),
            (200, []),
            (200, {"routes": [{"legs": [{"distance": 400_000}]}]}),
            (200, osrm_answer((None, 18000))),
            (200, osrm_answer((400_000, None))),
            (200, osrm_answer((float("nan"), 18000))),
            (200, osrm_answer((400_000, float("inf")))),
            (200, osrm_answer((-1, 18000))),
            (200, osrm_answer((400_000, 18000), (400_000, 18000))),
            (200, osrm_answer((400_000, 18000)) | {"waypoints": [{"distance": 1}] * 3}),
            (200, osrm_answer((400_000, 18000)) | {"waypoints": ["here", "there"]}),
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
        routing_server.answer = osrm_answer((14000, 900))

        assert routing.osrm(routing_server.url)([SAO_PAULO, SAO_CAETANO]) == [Leg(14000, 900)]


def failures(engine):
    """How often each reason was counted for this engine."""
    (family,) = routing._FAILURES.collect()
    return {
        sample.labels["reason"]: sample.value
        for sample in family.samples
        if sample.name.endswith("_total") and sample.labels["engine"] == engine
    }


SAME_ROAD = encoded(RIO, RIO)
THERE = encoded(SAO_PAULO, SAO_CAETANO)
IMPOSSIBLE = [
    # metres and seconds for 11.4 km in a straight line, metres to the road, a line, why it cannot be
    ((0, 0), 2_690_000.5, SAME_ROAD, "far_from_road"),
    ((14000, 900), 1001, encoded(SAO_PAULO, away_from(SAO_CAETANO, metres=1001, bearing=0)), "far_from_road"),
    ((0, 0), 0, THERE, "too_short"),
    ((11200, 900), 0, THERE, "too_short"),
    ((10500, 900), 900, encoded(*(away_from(place, metres=900, bearing=9) for place in (SAO_PAULO, SAO_CAETANO))),
     "too_short"),
    ((14000, 300), 0, THERE, "too_fast"),
    ((14000, 0), 0, THERE, "too_fast"),
    ((14000, 20000), 0, THERE, "too_slow"),
]  # fmt: skip  # a table
POSSIBLE = [
    ((11390, 900), 0, THERE),
    ((11250, 400), 80, encoded(*(away_from(place, metres=80, bearing=9) for place in (SAO_PAULO, SAO_CAETANO)))),
    ((14000, 15000), 999, encoded(away_from(SAO_PAULO, metres=999, bearing=9), SAO_CAETANO)),
]


class TestImpossibleAnswer:
    @in_turn("name", ["osrm", "valhalla"])
    @in_turn(("leg", "beside", "line", "reason"), IMPOSSIBLE)
    def test_is_none_and_is_counted(self, routing_server, name, leg, beside, line, reason):
        engine, before = self.engine(routing_server, name, leg, beside, line), failures(name)

        with pytest.raises(RoutingFailed) as failed:
            engine([SAO_PAULO, SAO_CAETANO])

        assert not isinstance(failed.value, EngineAway)
        assert failures(name) == before | {reason: before.get(reason, 0) + 1}

    @pytest.mark.parametrize("name", ["osrm", "valhalla"])
    @pytest.mark.parametrize(("leg", "beside", "line"), POSSIBLE)
    def test_is_none_that_may_be(self, routing_server, name, leg, beside, line):
        engine, before = self.engine(routing_server, name, leg, beside, line), failures(name)

        assert engine([SAO_PAULO, SAO_CAETANO]) == [Leg(*leg)]
        assert failures(name) == before

    @in_turn("name", ["osrm", "valhalla"])
    @in_turn(("leg", "beside", "line", "reason"), IMPOSSIBLE)
    def test_draws_no_line(self, routing_server, name, leg, beside, line, reason):
        self.engine(routing_server, name, leg, beside, line)

        with pytest.raises(RoutingFailed) as failed:
            routing.way(name, [SAO_PAULO, SAO_CAETANO], url=routing_server.url, vehicle="CAR")
        assert failed.value.reason == reason

    @pytest.mark.parametrize("name", ["osrm", "valhalla"])
    def test_of_one_leg_is_none_for_all(self, routing_server, name):
        places = [SAO_PAULO, SAO_CAETANO, SAO_PAULO]
        routing_server.answer = (
            osrm_answer((14000, 900), (0, 0))
            if name == "osrm"
            else valhalla_answer((14, 900, THERE), (0, 0, encoded(SAO_CAETANO, SAO_PAULO)))
        )
        engine = routing.engine(name, url=routing_server.url, vehicle="CAR")

        assert legs(places, engine=engine) == legs(places, engine=None)

    @pytest.mark.parametrize("name", ["osrm", "valhalla"])
    def test_is_seen_without_the_distance_to_the_road(self, routing_server, name):
        """Which OSRM before 5.21 does not tell."""
        engine = self.engine(routing_server, name, (0, 0), 0, "")
        if name == "osrm":
            routing_server.answer["waypoints"] = [{"location": [-46.6, -23.5]}] * 2

        with pytest.raises(RoutingFailed) as failed:
            engine([SAO_PAULO, SAO_CAETANO])
        assert failed.value.reason == "too_short"

    def engine(self, routing_server, name, leg, beside, line):
        length, seconds = leg
        routing_server.answer = (
            osrm_answer(leg, beside=beside, line=line)
            if name == "osrm"
            else valhalla_answer((length / 1000, seconds, line))
        )
        return routing.engine(name, url=routing_server.url, vehicle="CAR")


class TestFailures:
    @pytest.mark.parametrize(
        ("status", "answer", "reason"),
        [(503, {}, "away"), (400, {}, "refused"), (200, {}, "unreadable"), (200, osrm_answer(), "unreadable")],
    )
    def test_are_counted_by_why(self, routing_server, status, answer, reason):
        routing_server.status, routing_server.answer, before = status, answer, failures("osrm")

        with pytest.raises(RoutingFailed):
            routing.osrm(routing_server.url)([SAO_PAULO, RIO])

        assert failures("osrm") == before | {reason: before.get(reason, 0) + 1}


class TestWay:
    """With the line of an example in Google's documentation, which has five places."""

    ENCODED = "_p~iF~ps|U_ulLnnqC_mqNvxq`@"
    LINE = (Point(3.85, -12.02), Point(4.07, -12.095), Point(4.3252, -12.6453))  # 87 km
    ENDS = (LINE[0], LINE[-1])

    def test_is_the_geometry_of_osrm(self, routing_server):
        routing_server.answer = osrm_answer((90_000, 4000), line=self.ENCODED)

        way = routing.way("osrm", self.ENDS, url=routing_server.url, vehicle="CAR")

        assert rounded(way) == list(self.LINE)
        assert "geometries=polyline6" in routing_server.paths[0]

    def test_is_the_shapes_of_valhalla_one_after_the_other(self, routing_server):
        back = encoded(*reversed(self.LINE))
        routing_server.answer = valhalla_answer((90, 4000, self.ENCODED), (90, 4000, back))

        way = routing.way("valhalla", [*self.ENDS, self.LINE[0]], url=routing_server.url, vehicle="MOTORCYCLE")

        assert rounded(way) == [*self.LINE, *reversed(self.LINE)]
        assert routing_server.bodies[0]["costing"] == "motorcycle"

    @pytest.mark.parametrize("geometry", ["_p~i", "_p~iF", 7, None])
    def test_fails_on_a_line_without_its_end(self, routing_server, geometry):
        routing_server.answer = osrm_answer((90_000, 4000), line=geometry)

        with pytest.raises(RoutingFailed) as failed:
            routing.way("osrm", self.ENDS, url=routing_server.url, vehicle="CAR")
        assert failed.value.reason == "unreadable"


def rounded(way):
    return [Point(round(point.latitude, 6), round(point.longitude, 6)) for point in way]


class TestValhalla:
    @pytest.mark.parametrize(("vehicle", "costing"), [("MOTORCYCLE", "motorcycle"), ("CAR", "auto")])
    def test_asks_with_the_costing_of_the_vehicle_and_reads_each_leg(self, routing_server, vehicle, costing):
        routing_server.answer = valhalla_answer((433.5, 18300.25, encoded(SAO_PAULO, RIO)), (0, 0, encoded(RIO, RIO)))

        legs = routing.valhalla(routing_server.url, vehicle=vehicle)([SAO_PAULO, RIO, RIO])

        assert legs == [Leg(433_500, 18300.25), Leg(0, 0)]
        assert routing_server.paths == ["/route"]
        (body,) = routing_server.bodies
        assert body["locations"][0] == {"lat": -23.550278, "lon": -46.633889}
        assert (len(body["locations"]), body["costing"], body["units"]) == (3, costing, "kilometers")

    @pytest.mark.parametrize(
        ("status", "answer"),
        [
            (200, {"trip": {"legs": [{}]}}),
            (200, None),
            (200, valhalla_answer((433.5, -1, encoded(SAO_PAULO, RIO)))),
            (200, valhalla_answer((433.5, 18300, "_p~i"))),
            (200, valhalla_answer(*[(433.5, 18300, encoded(SAO_PAULO, RIO))] * 2)),
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
        for name in ["osrm", "valhalla"]:
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
