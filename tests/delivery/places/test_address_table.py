"""Addresses in the table: how exactly they are found, and which are refused with what may be meant."""

import pytest

from common.brazil.municipalities import Municipality
from delivery.geo.distance import Point
from delivery.places import address_table
from delivery.places.address_table import StreetOfPostcode
from delivery.places.geocoding import Located, Precision
from delivery.places.models import Form
from tests.cases import in_turn
from tests.delivery.places.table import fill, houses

pytestmark = pytest.mark.django_db
CITY = {"city": "São Paulo", "state": "SP"}
AUGUSTA = {"street": "Rua Augusta", "number": "900", **CITY, "zipcode": "01304-001"}


@pytest.fixture(autouse=True)
def _city():
    fill(
        houses("Rua Augusta", range(100, 1000, 100), postcode="01304001", district="Consolação"),
        houses("Rua Augusta", range(1000, 2001, 100), postcode="01412000", district="Cerqueira César"),
        houses("Avenida Doutor Arnaldo", range(0, 500, 50), postcode="01246000", start=(-23.5, -46.6)),
        houses("Rua Um", range(10, 200, 10), postcode="08400001", district="Lajeado", start=(-23.53, -46.40)),
        houses("Rua Um", range(10, 90, 10), postcode="04800001", district="Grajaú", start=(-23.76, -46.69)),
        houses("Rodovia Raposo Tavares", [], postcode="05577000"),
        houses("Rodovia Raposo Tavares km", [22_000, 25_000], postcode="05577000", start=(-23.6, -46.8)),
    )


def found(**changes):
    return address_table.find({**AUGUSTA, **changes})


def at_number(number, start=(-23.55, -46.65)):
    return Point(round(start[0] + number / 100_000, 5), start[1])


class TestTheHouse:
    @in_turn(
        "changes",
        [
            {}, {"city": "", "state": "", "zipcode": "01304-999"},
            {"street": "R. Augusta"}, {"street": "AUGUSTA"}, {"city": "", "state": ""}, {"zipcode": ""},
            {"number": "900 apto 12"}, {"number": "nº 900"}, {"number": "900-B"}, {"number": "900-910"},
            {"street": "Rua Augusta, 900", "number": ""}, {"street": "Rua Augusta 900", "number": ""},
            {"street": "Rua Augusta, 900 - Consolação", "number": ""}, {"city": "sao paulo - SP", "state": ""},
            {"state": "São Paulo"}, {"street": ""},
            {"district": "Outro"}, {"zipcode": "01412-000"}, {"street": "Av. Augusta"},
        ],
    )  # fmt: skip  # a list
    def test_is_found_however_it_is_written(self, changes):
        assert found(**changes) == Located(at_number(900), Precision.ROOFTOP)

    def test_is_that_of_the_street_whose_kind_is_written(self):
        fill(houses("Travessa Augusta", [900], start=(-23.7, -46.7)), form=Form.OSM)

        assert found().point == at_number(900)
        assert found(street="Travessa Augusta", zipcode="").point == at_number(900, (-23.7, -46.7))

    def test_is_known_as_exactly_as_its_place(self):
        fill(houses("Rua Bela", [5], is_exact=False), form=Form.OSM)

        assert found(street="Rua Bela", number="5", zipcode="").precision is Precision.STREET


class TestTheStreet:
    def test_has_the_number_between_its_neighbours(self):
        assert found(number="950") == Located(at_number(950), Precision.STREET)

    def test_has_no_number_in_its_middle(self):
        place = found(number="S/N")

        assert place == Located(at_number(500), Precision.STREET)

    @pytest.mark.parametrize(("number", "is_found"), [("2100", True), ("2101", False), ("9000", False)])
    def test_ends_soon_behind_its_last_house(self, number, is_found):
        place = found(number=number, zipcode="")

        expected = Located(at_number(2000), Precision.STREET)
        label = f"Rua Augusta, {number}, Consolação, São Paulo/SP, 01304-001"
        assert place == (expected if is_found else [(label, at_number(1000))])

    def test_has_kilometres(self):
        road = {"street": "Rod. Raposo Tavares", "zipcode": ""}

        by_number = found(**road, number="km 23,5")
        in_street = found(street="Rodovia Raposo Tavares, km 23,5", number="", zipcode="")

        assert by_number == in_street == Located(at_number(23_500, (-23.6, -46.8)), Precision.STREET)


class TestThePostcode:
    @pytest.mark.parametrize("changes", [{"street": "Rua Errada"}, {"street": "", "number": ""}, {"number": "9000"}])
    def test_is_where_the_street_does_not_say(self, changes):
        assert found(**changes) == Located(at_number(500), Precision.POSTCODE)

    def test_of_a_whole_town_is_no_place(self):
        fill(
            houses("Rua A", [1], postcode="13990000", start=(-22.0, -46.0)),
            houses("Rua B", [1], postcode="13990000", start=(-22.1, -46.1)),
            form=Form.OSM,
        )

        candidates = found(street="Rua C", zipcode="13990-000", city="")

        assert len(candidates) == 1
        assert isinstance(candidates, list)

    def test_of_more_streets_than_are_read_names_all_of_its_cities(self):
        streets = [houses(f"Rua Flor {number}", [1], postcode="13990000") for number in range(address_table._MOST_ROWS)]
        fill(*streets)
        fill(houses("Rua Nova", [5], postcode="13990000"), form=Form.OSM)

        place = found(street="Rua Nova", number="5", zipcode="13990-000", city="")

        assert place == Located(at_number(5), Precision.ROOFTOP)

    def test_of_another_city_than_the_one_that_is_named_is_only_a_candidate(self):
        ((label, _point),) = found(city="Campinas")

        assert label == "Rua Augusta, Consolação, São Paulo/SP, 01304-001"

    def test_that_is_far_from_the_street_makes_it_unclear(self):
        labels = [label for label, _point in found(zipcode="08400-001")]

        assert labels == [
            "Rua Augusta, 900, Consolação, São Paulo/SP, 01304-001",
            "Rua Um, Lajeado, São Paulo/SP, 08400-001",
        ]


class TestStreetsOfOneName:
    def test_are_refused_with_their_places(self):
        candidates = found(street="Rua Um", number="50", zipcode="")

        assert candidates == [
            ("Rua Um, 50, Grajaú, São Paulo/SP, 04800-001", at_number(50, (-23.76, -46.69))),
            ("Rua Um, 50, Lajeado, São Paulo/SP, 08400-001", at_number(50, (-23.53, -46.40))),
        ]

    @pytest.mark.parametrize(
        "changes", [{"zipcode": "08400-001"}, {"district": "LAJEADO", "zipcode": ""}, {"number": "150", "zipcode": ""}]
    )
    def test_are_told_apart_by_postcode_district_or_a_number_of_one(self, changes):
        place = found(**{"street": "Rua Um", "number": "50", **changes})

        assert place == Located(at_number(int(changes.get("number", 50)), (-23.53, -46.40)), Precision.ROOFTOP)

    def test_of_several_cities_are_told_apart_by_the_city(self):
        fill(houses("Rua Augusta", [900], city=Municipality("PR", "Curitiba"), start=(-25.4, -49.2)))

        assert found(zipcode="").point == at_number(900)
        assert found(zipcode="", city="Curitiba", state="PR").point == at_number(900, (-25.4, -49.2))


class TestAnUnknownAddress:
    @in_turn(
        "changes",
        [
            {"street": "Rua Errada", "zipcode": ""}, {"city": "Campinas", "zipcode": ""}, {"street": "", "zipcode": ""},
            {"city": "", "zipcode": ""}, {"state": "RJ", "zipcode": ""}, {"street": "R" * 255, "zipcode": ""},
            {"street": "Rua Errada", "zipcode": "99999999"},
        ],
    )  # fmt: skip  # a list
    def test_is_nowhere(self, changes):
        assert found(**changes) == []


class TestASearch:
    @in_turn(
        ("text", "label"),
        [
            ("Rua Augusta, 900, São Paulo", "Rua Augusta, 900, Consolação, São Paulo/SP, 01304-001"),
            ("r augusta 900", "Rua Augusta, 900, Consolação, São Paulo/SP, 01304-001"),
            ("Augusta, 900 - Consolação, São Paulo - SP", "Rua Augusta, 900, Consolação, São Paulo/SP, 01304-001"),
            ("01304-001", "Rua Augusta, Consolação, São Paulo/SP, 01304-001"),
            ("01304001, 900", "Rua Augusta, 900, Consolação, São Paulo/SP, 01304-001"),
        ],
    )
    def test_finds_an_address_and_a_postcode(self, text, label):
        assert [each for each, _point in address_table.search(text)] == [label]

    @in_turn("text", ["", ",", "Rua Errada, 1", "99999-999", "-" * 400])
    def test_finds_nothing(self, text):
        assert address_table.search(text) == []


class TestTheStreetOfAPostcode:
    def test_is_what_its_addresses_have_in_common(self):
        fill(houses("Rua A", [1], postcode="13990000"), houses("Rua B", [1], postcode="13990000"), form=Form.OSM)

        assert address_table.street_of("01304001") == StreetOfPostcode("Rua Augusta", "Consolação", "São Paulo", "SP")
        assert address_table.street_of("13990000") == StreetOfPostcode("", "", "São Paulo", "SP")
        assert address_table.street_of("40010000") == StreetOfPostcode("", "", "Salvador", "BA")
        assert address_table.street_of("") is None

    def test_takes_one_statement_and_an_address_three(self, django_assert_num_queries):
        with django_assert_num_queries(1):
            address_table.street_of("01304001")
        with django_assert_num_queries(3):
            found()
