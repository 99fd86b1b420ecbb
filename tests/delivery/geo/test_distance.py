import math

import pytest

from delivery.geo import distance
from delivery.geo.distance import Point

# Published geodesic distance between the two cities' zero markers, about 357.7 km.
SAO_PAULO, RIO = Point(-23.550278, -46.633889), Point(-22.908333, -43.196389)
# The example of an inverse problem in the documentation of GeographicLib's `geod`: nearly antipodal places.
WELLINGTON, SALAMANCA = Point(-41.32, 174.81), Point(40.96, -5.50)


class TestPoint:
    @pytest.mark.parametrize("point", [Point(90, 180), Point(-90, -180), Point(0, 0)])
    def test_is_on_earth_up_to_the_poles_and_the_180th_meridian(self, point):
        assert point.is_on_earth

    @pytest.mark.parametrize("point", [Point(90.0001, 0), Point(0, -180.0001), Point(math.nan, 0), Point(0, math.inf)])
    def test_is_not_on_earth_beyond_them(self, point):
        assert not point.is_on_earth


class TestMetres:
    def test_measures_on_the_ellipsoid(self):
        assert distance.metres(SAO_PAULO, RIO) == pytest.approx(357_700, rel=0.005)

    def test_measures_between_antipodes(self):
        assert distance.metres(WELLINGTON, SALAMANCA) == pytest.approx(19_959_679.267, abs=0.001)

    def test_is_nothing_to_the_same_place(self):
        assert distance.metres(RIO, RIO) == 0

    def test_is_that_to_a_point_at_a_distance(self):
        there = distance.away_from(RIO, metres=1_000, bearing=90)

        assert there.longitude > RIO.longitude
        assert distance.metres(RIO, there) == pytest.approx(1_000, abs=1e-6)


class TestMetresAtMost:
    @pytest.mark.parametrize(
        ("start", "end"),
        [
            (SAO_PAULO, RIO),
            (SAO_PAULO, Point(-23.550279, -46.633889)),
            (Point(89, 0), Point(90, 0)),  # a meridian's degrees are longest there
            (Point(0, 0), Point(0, 1)),
            (Point(0, 179.5), Point(0, -179.5)),
            (Point(-60, -70), Point(60, 110)),
        ],
    )
    def test_is_no_less_than_the_distance(self, start, end):
        assert distance.metres(start, end) <= distance.metres_at_most(start, end)

    def test_is_little_more_along_a_meridian(self):
        way = Point(-23.5, -46.6), Point(-23.6, -46.6)

        assert distance.metres_at_most(*way) == pytest.approx(distance.metres(*way), rel=0.01)
