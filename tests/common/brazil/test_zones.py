"""The time zone of a place in Brazil."""

from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import translation

from common.brazil import states, zones
from tests.cases import in_turn
from tests.common.brazil.test_states import PLACES
from tests.zones import IN_EACH_ZONE, NOON

# Hours behind or before UTC.
_OFFSETS = dict.fromkeys(states.STATES, -3) | {"AM": -4, "RR": -4, "RO": -4, "MT": -4, "MS": -4, "AC": -5}


def hours(zone):
    offset = NOON.astimezone(zone).utcoffset()
    return None if offset is None else offset / timedelta(hours=1)


class TestZoneOfAPlace:
    @IN_EACH_ZONE
    def test_is_found_by_coordinates_by_the_address_and_by_its_postcode(self, city):
        found = [
            zones.of_place(*city.point),
            zones.of_place(city.point.latitude, city.point.longitude, {"state": city.state}),
            zones.of_address({"zipcode": city.postcode}),
        ]

        assert [f"{NOON.astimezone(zone):%H:%M}" for zone in found] == [city.time] * 3

    @in_turn("state", sorted(set(PLACES) - {"PE"}))  # whose place there is an island
    def test_is_that_of_its_state(self, state):
        assert hours(zones.of_place(*PLACES[state])) == _OFFSETS[state]
        latitude, longitude = PLACES[state]
        assert hours(zones.of_place(latitude, longitude, {"state": states.STATES[state].name})) == _OFFSETS[state]
        assert hours(zones.of_address({"state": state})) == _OFFSETS[state]

    @pytest.mark.parametrize(
        ("place", "offset"),
        [
            ((-4.37, -70.19), -5),  # Benjamin Constant, in the west of Amazonas
            ((-6.66, -69.87), -5),  # Eirunepé
            ((-7.51, -63.02), -4),  # Humaitá
            ((-2.15, -56.09), -3),  # Juruti, Pará
            ((-2.63, -56.74), -4),  # Parintins, Amazonas, at the same latitudes
            ((-15.89, -52.26), -4),  # Barra do Garças, Mato Grosso, by its state: Aragarças is across the river
            ((-20.90, -51.38), -3),  # Andradina, São Paulo
            ((-30.03, -57.09), -3),  # west of Mato Grosso do Sul, and far south of it
        ],
    )
    def test_is_right_near_the_lines_between_zones(self, place, offset):
        address = {"state": "MT"} if place[0] == -15.89 else {}

        latitude, longitude = place
        assert hours(zones.of_place(latitude, longitude, address)) == offset

    def test_is_that_of_the_coordinates_if_the_state_is_another(self):
        assert hours(zones.of_place(-3.119, -60.0217, {"state": "SP"})) == -4

    def test_is_that_of_the_installation_for_an_address_that_tells_nothing(self, settings):
        settings.TIME_ZONE = "America/Rio_Branco"

        assert zones.of_address({"state": "?", "zipcode": "1"}) == ZoneInfo("America/Rio_Branco")


class TestName:
    def test_is_told_where_the_clocks_differ_from_the_installations(self):
        with translation.override("pt-br"):
            assert zones.name(ZoneInfo("America/Rio_Branco"), at=NOON) == "horário de Rio Branco"
        with translation.override("en"):
            assert zones.name(ZoneInfo("America/Cuiaba"), at=NOON) == "Cuiabá time"
            assert zones.name(ZoneInfo("America/Recife"), at=NOON) == ""
