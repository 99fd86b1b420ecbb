"""Vincenty's formula, compared with geographiclib on random pairs of points and on the pairs that are difficult."""

import random

import pytest
from geographiclib.geodesic import Geodesic

from delivery import vincenty
from delivery.distance import Point, metres

PLACES = random.Random(20261122)  # noqa: S311  # the same points in each run


def anywhere():
    return Point(PLACES.uniform(-90, 90), PLACES.uniform(-180, 180))


def near(point, degrees):
    return Point(point.latitude + PLACES.gauss(0, degrees), point.longitude + PLACES.gauss(0, degrees))


def in_brazil():
    return Point(PLACES.uniform(-33, 5), PLACES.uniform(-73, -34))


PAIRS = (
    [(anywhere(), anywhere()) for _pair in range(1000)]
    + [(place, near(place, 0.1)) for place in (in_brazil() for _pair in range(1000))]
    + [(place, near(place, 1e-5)) for place in (in_brazil() for _pair in range(500))]
)
DIFFICULT = [
    (Point(0, 0), Point(0, 0)),
    (Point(0, 0), Point(0, 1)),  # along the equator
    (Point(90, 10), Point(90, 50)),  # the pole, by two names
    (Point(90, 0), Point(-90, 0)),
    (Point(0, 179.9), Point(0, -179.9)),  # across the 180th meridian
    (Point(10, -180), Point(10, 180)),
    (Point(0, 0), Point(0, 180)),  # antipodes
    (Point(0, 0), Point(0.5, 179.7)),  # nearly antipodes, where the formula does not converge
]


def exact(start, end):
    return Geodesic.WGS84.Inverse(*start, *end)["s12"]


class TestMetres:
    def test_agrees_with_geographiclib_to_the_millimetre(self):
        wrong = [(start, end) for start, end in PAIRS if abs(metres(start, end) - exact(start, end)) > 0.001]

        assert wrong == []

    @pytest.mark.parametrize(("start", "end"), DIFFICULT)
    def test_agrees_with_geographiclib_on_a_difficult_pair(self, start, end):
        assert metres(start, end) == pytest.approx(exact(start, end), abs=0.001)

    def test_has_no_answer_where_the_formula_does_not_converge(self):
        assert vincenty.metres(0, 0, 0.5, 179.7) is None
