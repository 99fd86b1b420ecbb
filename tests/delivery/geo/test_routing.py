"""Lengths of routes."""

from decimal import Decimal

import pytest

from delivery.geo import routing
from delivery.geo.distance import Point
from delivery.geo.routing_engines import Leg, RoutingFailed

SAO_PAULO, RIO = Point(-23.550278, -46.633889), Point(-22.908333, -43.196389)


class TestGeodesic:
    def test_multiplies_each_leg_by_the_road_factor(self):
        plain = routing.geodesic(1.0)([SAO_PAULO, RIO, SAO_PAULO])
        longer = routing.geodesic(1.3)([SAO_PAULO, RIO])

        assert plain[0] == plain[1]
        assert float(longer[0]) == pytest.approx(float(plain[0]) * 1.3, abs=0.01)

    def test_is_zero_for_the_same_place(self):
        assert routing.geodesic(1.3)([RIO, RIO]) == [Decimal("0.00")]


class TestProvider:
    def test_rounds_the_engines_metres_half_up(self):
        legs_of = routing.provider(lambda _points: [Leg(1234.4, 1), Leg(5000, 1), Leg(125, 1)], road_factor=1.3)

        assert legs_of([SAO_PAULO, RIO, SAO_PAULO, RIO]) == [Decimal("1.23"), Decimal("5.00"), Decimal("0.13")]

    def test_falls_back_to_the_geodesic_distance(self, caplog):
        def engine(_points):
            raise RoutingFailed("no road is near")

        legs_of = routing.provider(engine, road_factor=1.3)

        assert legs_of([SAO_PAULO, RIO]) == routing.geodesic(1.3)([SAO_PAULO, RIO])
        assert "Falling back to the geodesic distance. no road is near" in caplog.text

    def test_is_geodesic_without_an_engine(self):
        assert routing.provider(None, road_factor=1.3)([SAO_PAULO, RIO]) == routing.geodesic(1.3)([SAO_PAULO, RIO])
