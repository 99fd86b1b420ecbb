import math

import pytest
from geographiclib.geodesic import Geodesic
from hypothesis import given
from hypothesis import strategies as st

from delivery.geo import distance
from delivery.geo.distance import Point

# Published geodesic distance between the two cities' zero markers, about 357.7 km.
LATITUDES, LONGITUDES = st.floats(-90, 90), st.floats(-180, 180)
SAO_PAULO, RIO = Point(-23.550278, -46.633889), Point(-22.908333, -43.196389)


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

    @given(st.builds(Point, LATITUDES, LONGITUDES), st.builds(Point, LATITUDES, LONGITUDES))
    def test_differs_from_the_exact_distance_by_less_than_a_tenth_of_a_millimetre(self, start, end):
        assert distance.metres(start, end) == pytest.approx(exact(start, end), rel=0, abs=1e-4)

    @given(st.builds(Point, LATITUDES, LONGITUDES), st.floats(-1, 1), st.floats(-1, 1))
    def test_is_nearer_to_it_within_a_city(self, start, north, east):
        end = Point(max(-90, min(90, start.latitude + north)), start.longitude + east)

        assert distance.metres(start, end) == pytest.approx(exact(start, end), rel=0, abs=1e-5)

    @pytest.mark.parametrize(
        ("start", "end"),
        [
            (Point(0, 0), Point(0, 1)),  # along the equator
            (Point(0, 0), Point(0, 179.6)),  # nearly opposite
            (Point(1, 0), Point(-1, 180)),
            (Point(90, 0), Point(-90, 0)),
            (Point(90, 0), Point(90, 10)),
            (Point(10, 179.9), Point(10, -179.9)),  # over the 180th meridian
            (SAO_PAULO, SAO_PAULO),
        ],
    )
    def test_is_right_where_the_formula_has_cases(self, start, end):
        assert distance.metres(start, end) == pytest.approx(exact(start, end), rel=0, abs=1e-5)

    def test_of_no_number_is_none(self):
        assert math.isnan(distance.metres(Point(math.nan, 0), SAO_PAULO))


def exact(start, end):
    return Geodesic.WGS84.Inverse(*start, *end)["s12"]
