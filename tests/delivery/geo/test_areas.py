import json
import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delivery.geo import areas
from delivery.geo.areas import Area, InvalidArea
from delivery.geo.distance import Point

SQUARE = [[-46.0, -24.0], [-45.0, -24.0], [-45.0, -23.0], [-46.0, -23.0], [-46.0, -24.0]]
HOLE = [[-45.6, -23.6], [-45.4, -23.6], [-45.4, -23.4], [-45.6, -23.4], [-45.6, -23.6]]
POLYGON = {"type": "Polygon", "coordinates": [SQUARE, HOLE]}
ISLAND = [[[longitude + 5, latitude] for longitude, latitude in SQUARE]]


def feature(geometry):
    return {"type": "Feature", "properties": {"name": "Santos"}, "geometry": geometry}


def area(text):
    return Area(areas.parse(text if isinstance(text, str) else json.dumps(text)))


class TestArea:
    @pytest.mark.parametrize(
        "text",
        [
            POLYGON,
            feature(POLYGON),
            {"type": "FeatureCollection", "features": [feature(POLYGON), feature({**POLYGON, "coordinates": ISLAND})]},
            {"type": "MultiPolygon", "coordinates": [[SQUARE, HOLE], ISLAND]},
        ],
    )
    def test_of_geojson_has_holes(self, text):
        found = area(text)

        assert found.contains(Point(-23.1, -45.1))
        assert not found.contains(Point(-23.5, -45.5))
        assert found.contains(Point(-23.5, -40.5)) == (text["type"] in {"FeatureCollection", "MultiPolygon"})

    def test_of_boxes_is_all_of_them_where_they_overlap_too(self):
        found = area("-24,-46,-23,-45\n-23.5,-45.5,-22,-44;")

        assert [found.contains(Point(*each)) for each in [(-23.4, -45.4), (-23.9, -45.9), (-22.1, -44.1)]] == [True] * 3
        assert not found.contains(Point(-22.5, -45.9))

    def test_of_corners_may_be_concave(self):
        found = area("0,0; 0,4; 4,4; 4,3; 1,3; 1,1; 4,1; 4,0")

        assert found.contains(Point(0.5, 2))
        assert found.contains(Point(3, 0.5))
        assert not found.contains(Point(3, 2))

    @given(st.floats(0, 0.9), st.floats(0, 2 * math.pi))
    def test_of_a_regular_polygon_is_about_a_circle(self, radius, angle):
        corners = [(math.sin(each * math.pi / 50), math.cos(each * math.pi / 50)) for each in range(100)]
        found = Area([[[list(corner) for corner in corners]]])

        assert found.contains(Point(radius * math.sin(angle), radius * math.cos(angle)))
        assert not found.contains(Point((radius + 1.01) * math.sin(angle), (radius + 1.01) * math.cos(angle)))

    @pytest.mark.parametrize("text", ["-24.0,-46.0,-23.0,-45.0; -20.0,-41.0,-19.5,-40.0", "0.0,0.0; 0.0,4.0; 4.5,4.0"])
    def test_is_written_as_it_was_typed(self, text):
        assert areas.write(areas.parse(text)) == text

    def test_of_geojson_is_written_as_geojson(self):
        polygons = areas.parse(json.dumps(POLYGON))

        assert areas.parse(areas.write(polygons)) == polygons

    def test_costs_little_at_its_largest(self):
        """A spiral whose box is hit always, and each of whose edges is looked at."""
        points = [[math.sin(each) * each / 100, math.cos(each) * each / 100] for each in range(areas.MOST_POINTS)]
        found = Area([[points]])
        found.contains(Point(0, 0))

        started = time.process_time()
        for _number in range(100):
            found.contains(Point(1, 1))

        assert time.process_time() - started < 0.5  # 100 areas: a tenth of it is usual


class TestParse:
    @pytest.mark.parametrize(
        "text",
        [
            "", ";", "x", "1,2", "1,2;3,4", "1,2;1,2;1,2", "0,0;1,1;91,0", "0,0;1,1;0,181", "0,0;1,1;nan,1",
            "0,0;1,1;inf,1", "0,0;1,1;1,2,3",
            "-23,-46,-24,-45", "-24,-45,-23,-46", "0,0;0,1;0,2", "0,0;1,0;1,1;1e400,0",
            "{}", "{", '{"type": "Polygon"}', '{"type": "Polygon", "coordinates": 1}',
            '{"type": "Point", "coordinates": [1, 2]}',
            '{"type": "Feature", "geometry": null}', '{"type": "FeatureCollection", "features": []}',
            '{"type": "Polygon", "coordinates": []}', '{"type": "Polygon", "coordinates": [[]]}',
            '{"type": "MultiPolygon", "coordinates": [[]]}',
            '{"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [true, 0]]]}',
            '{"type": "Polygon", "coordinates": [[[0, 0], [1, 1], ["1", 0]]]}',
            '{"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [NaN, 0]]]}',
            '{"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [1' + "0" * 5000 + ", 0]]]}",
            '{"type": "Polygon", "coordinates": ' + "[" * 90_000,
            " " * (areas.LONGEST_TEXT + 1),
            ";".join(f"{each % 90},{each % 89}" for each in range(areas.MOST_POINTS + 1)),
        ],
    )  # fmt: skip  # a list of texts
    def test_refuses(self, text):
        with pytest.raises(InvalidArea):
            areas.parse(text)

    @given(st.recursive(st.one_of(st.none(), st.booleans(), st.floats(), st.text()), st.lists))
    def test_refuses_any_json_as_coordinates_or_takes_it(self, coordinates):
        try:
            areas.parse(json.dumps({"type": "Polygon", "coordinates": coordinates}))
        except InvalidArea:
            return
        assert isinstance(coordinates, list)
