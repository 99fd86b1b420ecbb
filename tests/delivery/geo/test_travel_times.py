"""Travel times."""

import pytest

from delivery.geo import travel_times
from delivery.geo.distance import metres
from delivery.geo.routing_engines import EngineAway, Leg, RoutingFailed
from delivery.geo.travel_times import Timed, TravelTimes
from tests.factories import DROPOFFS, PICKUP

WAY = [PICKUP, DROPOFFS[0]]


class TestBySpeed:
    def test_divides_the_road_distance_by_the_speed(self):
        seconds = travel_times.by_speed([*WAY, PICKUP], road_factor=1.5, kmh=36)

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

        expected = travel_times.by_speed(WAY, road_factor=1, kmh=kmh)
        assert times.of(WAY, vehicle=vehicle) == Timed(expected, "distance")

    @pytest.mark.parametrize(("error", "questions"), [(EngineAway, 1), (RoutingFailed, 3)])
    def test_fall_back_and_ask_no_more_once_the_engine_is_away(self, caplog, error, questions):
        def engine(_points):
            raise error("why")

        times, asked = self.times(engine)

        found = [times.of(WAY, vehicle="CAR") for _route in range(3)]

        assert found == [Timed(travel_times.by_speed(WAY, road_factor=1, kmh=36), "distance")] * 3
        assert len(asked) == questions
        assert caplog.text.count("why") == questions
