import pytest

from delivery.geo import service_area
from delivery.geo.service_area import BRAZIL, Box
from tests.cases import in_turn

FAR_ENDS = {
    "Arroio Chuí": (-33.751, -53.394), "Monte Caburaí": (5.272, -60.212), "Nascente do Moa": (-7.535, -73.990),
    "Ponta do Seixas": (-7.155, -34.793), "Fernando de Noronha": (-3.854, -32.424), "Trindade": (-20.525, -29.325),
}  # fmt: skip  # a table


@pytest.mark.parametrize("place", FAR_ENDS)
def test_brazil_is_served_to_its_ends(place):
    assert service_area.serves([BRAZIL], *FAR_ENDS[place])


@pytest.mark.parametrize("point", [(0, 0), (40.7, -74), (-34.6, -58.4), (-23.5, 46.6), (-46.6, -23.5)])
def test_other_places_are_not(point):
    assert not service_area.serves([BRAZIL], *point)


@pytest.mark.parametrize(("latitude", "longitude"), [(-24, -47), (-24, -46), (-23, -47), (-23, -46)])
def test_the_edges_of_a_box_belong_to_it(latitude, longitude):
    assert Box(-24, -47, -23, -46).contains(latitude, longitude)


class TestParse:
    def test_reads_boxes(self):
        assert service_area.parse("-24,-47,-23,-46; 1.5,2,3,4") == [Box(-24, -47, -23, -46), Box(1.5, 2, 3, 4)]
        assert service_area.parse("-90,-180,90,180") == [Box(-90, -180, 90, 180)]

    def test_takes_nothing_for_brazil(self):
        assert service_area.parse("") == [BRAZIL]

    @in_turn(
        "text",
        [
            "1,2,3", "1,2,3,4,5", "a,b,c,d", "3,2,1,4", "1,4,3,2", "0,0,nan,1", ";",
            "-90.1,0,0,1", "0,-180.1,1,1", "0,0,90.1,1", "0,0,1,180.1",
        ],
    )  # fmt: skip  # a list of cases
    def test_refuses_what_is_no_box(self, text):
        with pytest.raises((ValueError, TypeError)):
            service_area.parse(text)
