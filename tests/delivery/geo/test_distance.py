import math

import pytest
from geographiclib.geodesic import Geodesic
from hypothesis import given
from hypothesis import strategies as st

from delivery.geo import distance
from delivery.geo.distance import Point

# Published geodesic distance between the two cities' zero markers, about 357.7 km.
SAO_PAULO, RIO = Point(-23.550278, -46.633889), Point(-22.908333, -43.196389)
POINTS = st.builds(Point, st.floats(-90, 90), st.floats(-180, 180))


def _geographiclib(start, end):
    return Geodesic.WGS84.Inverse(*start, *end)["s12"]


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

    @given(start=POINTS, end=POINTS, share=st.sampled_from([1e-9, 1e-6, 1e-3, 1]))
    def test_is_that_of_geographiclib_to_a_tenth_of_a_millimetre(self, start, end, share):
        near = Point(*(each + share * (other - each) for each, other in zip(start, end, strict=True)))

        assert distance.metres(start, near) == pytest.approx(_geographiclib(start, near), rel=0, abs=1e-4)

    @pytest.mark.parametrize(
        ("start", "end"),
        [
            (SAO_PAULO, SAO_PAULO),
            (Point(0, -46), Point(0, -46.1)),
            (Point(0, 0), Point(0, 90)),
            (Point(90, 0), Point(89, 10)),
            (Point(-90, 5), Point(-90, 50)),
            (Point(0, 179.9), Point(0, -179.9)),
            (Point(0, 0), Point(0.5, 179.7)),  # nearly antipodal
        ],
    )
    def test_is_so_at_the_poles_on_the_equator_and_on_the_other_side_of_the_earth(self, start, end):
        assert distance.metres(start, end) == pytest.approx(_geographiclib(start, end), rel=0, abs=1e-4)


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
