"""Coordinates in what people paste, and searches of a server on loopback."""

import json
import time
from contextlib import nullcontext
from urllib.parse import parse_qs

import pytest

from common.workers.deadlines import BoundedCalls
from delivery.geo.distance import Point
from delivery.places import geocoding
from delivery.places.geocoding import GeocodingFailed
from tests.cases import in_turn
from tests.delivery.geo.geocoder import (
    AUGUSTA,
    HOUSE,
    ONLY_CITY,
    POSTCODE,
    STREET,
    feature,
    nominatim,
    photon,
)

PAULISTA = Point(-23.561414, -46.655881)
PLACE = "https://www.google.com/maps/place/MASP/@-23.5600001,-46.6600002,17z/data=!3m1!4b1!4m6!3m5!3d-23.561414!4d-46.655881"


class TestPointIn:
    @in_turn(
        "text",
        [
            "-23.561414, -46.655881",
            "-23.561414,-46.655881",
            "-23.561414 -46.655881",
            PLACE,
            "https://maps.google.com/?q=-23.561414,-46.655881",
            "https://www.google.com/maps/search/?api=1&query=-23.561414%2C-46.655881",
            "https://www.google.com/maps/@-23.561414,-46.655881,17z",
            "https://www.openstreetmap.org/#map=19/-23.561414/-46.655881",
            "https://maps.apple.com/?ll=-23.561414,-46.655881&q=MASP",
            "https://maps.apple.com/place?coordinate=-23.561414%2C-46.655881",
            "https://waze.com/ul?ll=-23.561414%2C-46.655881&navigate=yes",
            "https://www.waze.com/live-map/directions?to=ll.-23.561414%2C-46.655881",
            "geo:-23.561414,-46.655881",
        ],
    )
    def test_reads_coordinates_and_links(self, text):
        assert geocoding.point_in(text) == PAULISTA

    @pytest.mark.parametrize(
        "text",
        [
            "Avenida Paulista, 1578",
            "https://maps.app.goo.gl/abc123",
            "https://example.com/v1/2/page",
            "-91.5, -46.6",
            "",
            f"{'x' * 2000} -23.5, -46.6",
        ],
    )
    def test_finds_none_in_other_texts(self, text):
        assert geocoding.point_in(text) is None

    def test_reads_whole_degrees_that_are_no_link(self):
        assert geocoding.point_in("-23, -46") == Point(-23.0, -46.0)


def search(geocoder, query="Rua Augusta 500", account="a"):
    return geocoding.search(geocoder.url, query, language="pt-br", account=account)


class TestSearch:
    def test_asks_nominatim_and_returns_its_places(self, geocoder):
        (found,) = search(geocoder, " Rua Augusta 500 ")

        ((query, headers),) = geocoder.requests
        assert (found.label, found.point) == (
            "São Paulo, São Paulo, Brasil, 500, Rua Augusta, 01304-000",
            Point(*AUGUSTA),
        )
        assert parse_qs(query) == {
            "q": ["Rua Augusta 500"], "format": ["jsonv2"], "limit": ["5"], "countrycodes": ["br"],
            "addressdetails": ["1"],
        }  # fmt: skip  # a query
        assert (headers["User-Agent"], headers["Accept-Language"]) == ("Rota", "pt-br")

    def test_asks_photon_where_there_is_no_search_of_nominatim(self, geocoder):
        geocoder.path = "/api"
        geocoder.answer = photon(feature(street="Rua Augusta", housenumber="500", postcode="01304-000"))

        found = [search(geocoder) for _number in range(2)]

        assert found[0] == found[1]
        assert (found[0][0].label, found[0][0].point) == (
            "Rua Augusta 500, São Paulo, São Paulo, 01304-000, Brasil",
            Point(*AUGUSTA),
        )
        assert [parse_qs(query) for query, _headers in geocoder.requests] == [
            {"q": ["Rua Augusta 500"], "limit": ["5"]}
        ] * 2

    def test_asks_nothing_for_an_empty_query(self, geocoder):
        assert search(geocoder, "  ") == []
        assert geocoder.queries == []

    def test_finds_nothing_for_a_text_that_the_server_cannot_read(self, geocoder):
        geocoder.status = 400

        assert [search(geocoder) for _number in range(4)] == [[]] * 4

    @pytest.mark.parametrize("status", [302, 403, 404, 429, 500])
    def test_fails_on_another_status(self, geocoder, status):
        geocoder.status = status

        with pytest.raises(GeocodingFailed, match=f"status {status}"):
            search(geocoder)

    @in_turn(
        "body",
        [
            b"x", b"\xff", b"1", b"null", b"{}", b'{"features": 1}', b"[1]", b'[{"lat": "1"}]', b"[" * 100_000,
            json.dumps([{**HOUSE, "lat": "x"}]).encode(), json.dumps([{**HOUSE, "lat": None}]).encode(),
            json.dumps([{**HOUSE, "lat": 10**400}]).encode(), json.dumps([{**HOUSE, "address": ["x"]}]).encode(),
            json.dumps(photon({"properties": 1})).encode(), json.dumps(photon(feature(point=("x", 1)))).encode(),
            b"[" + b" " * 300_000 + b"]",
        ],
    )  # fmt: skip  # a list
    def test_fails_on_an_answer_that_is_no_list_of_places(self, geocoder, body):
        geocoder.body = body

        with pytest.raises(GeocodingFailed):
            search(geocoder)

    @pytest.mark.parametrize("point", [(91, 0), ("nan", 0), (0, "-181")])
    def test_leaves_out_places_that_are_not_on_earth(self, geocoder, point):
        geocoder.answer = [nominatim(point=point), HOUSE]

        assert [found.point for found in search(geocoder)] == [Point(*AUGUSTA)]

    def test_returns_texts_that_can_be_stored_and_sent(self, geocoder):
        geocoder.answer = [{**HOUSE, "display_name": "a\ud800\0b" + "x" * 1000}]

        (found,) = search(geocoder)

        assert found.label.startswith("a? b")
        assert len(found.label) == 400

    def test_does_not_name_the_address_when_the_server_is_away(self):
        geocoding._server.cache_clear()

        with pytest.raises(GeocodingFailed) as failed:
            geocoding.search("http://127.0.0.1:9", "Rua Augusta 12", language="en", account="a")

        assert str(failed.value) == "ConnectionError"

    @pytest.mark.parametrize("way", [{"pause": 30.0}, {"drip": 0.05}], ids=["silent", "slow"])
    def test_waits_two_seconds_and_not_longer(self, geocoder, way):
        vars(geocoder).update(way)
        began = time.monotonic()

        with pytest.raises(GeocodingFailed):
            search(geocoder)

        assert 1.5 < time.monotonic() - began < 10

    def test_asks_for_several_places_at_the_same_time(self, geocoder):
        geocoder.pause, geocoder.answers = 0.8, {"two": [], "three": [STREET]}
        began = time.monotonic()

        found = geocoding.search_all(geocoder.url, ["one", "", "two", "three"], language="en", account="a")

        assert [len(places) for places in found] == [1, 0, 0, 1]
        assert time.monotonic() - began < 2.3  # one after the other would be 2.4 s

    def test_refuses_calls_over_the_number_that_may_hang(self, geocoder, monkeypatch):
        monkeypatch.setattr(geocoding, "_calls", BoundedCalls(most=2, seconds=2, each=3))
        geocoder.pause = 0.5  # both calls are still under way at the third

        with pytest.raises(GeocodingFailed, match="TooManyCalls"):
            geocoding.search_all(geocoder.url, ["one", "two", "three"], language="en", account="a")


class TestAServerThatFails:
    def test_is_not_asked_for_ten_seconds_after_the_third_failure_of_an_account_in_a_row(self, geocoder):
        server = geocoding._server(geocoder.url)
        geocoder.status = 500
        for _number in range(5):
            with pytest.raises(GeocodingFailed):
                search(geocoder)
        assert len(geocoder.queries) == 3
        geocoder.status = 200

        server._rests_until["a"] -= 9
        with pytest.raises(GeocodingFailed, match="has failed and is not asked"):
            search(geocoder)
        server._rests_until["a"] -= 1

        assert len(search(geocoder)) == 1
        assert len(geocoder.queries) == 4

    def test_is_asked_for_the_others_while_one_accounts_addresses_fail(self, geocoder):
        for account in ("a", "b", "a", "a", "a"):
            geocoder.status = 500
            with pytest.raises(GeocodingFailed):
                search(geocoder, account=account)

        geocoder.status = 200

        assert len(search(geocoder, account="c")) == 1
        assert len(search(geocoder, account="b")) == 1
        with pytest.raises(GeocodingFailed):
            search(geocoder, account="a")

    def test_is_asked_for_nobody_once_it_fails_for_three_accounts(self, geocoder):
        geocoder.status = 500
        for account in "abc":
            with pytest.raises(GeocodingFailed):
                search(geocoder, account=account)
        geocoder.status = 200

        with pytest.raises(GeocodingFailed, match="not asked"):
            search(geocoder, account="d")

    @pytest.mark.parametrize("accounts", ["aaaaaa", "abcdef"])
    def test_begins_anew_with_a_success(self, geocoder, accounts):
        for account, status in zip(accounts, (500, 500, 200) * 2, strict=True):
            geocoder.status = status
            with nullcontext() if status == 200 else pytest.raises(GeocodingFailed):
                search(geocoder, account=account)

        assert len(geocoder.queries) == 6

    def test_leaves_half_of_the_places_to_other_accounts(self, geocoder):
        geocoder.pause = 1.2
        queries = [str(number) for number in range(7)]

        with pytest.raises(GeocodingFailed, match="for this account"):  # six of them are under way
            geocoding.search_all(geocoder.url, queries, language="en", account="a")

        assert len(search(geocoder, account="b")) == 1


ADDRESS = {"street": "R. Augusta", "number": "500", "city": "Sao Paulo", "state": "SP", "zipcode": "01304000"}
NEARBY, FAR = (-23.5522, -46.6502), (-23.56, -46.65)


def chosen(places, **changes):
    """How exactly the address is located by these places, or None."""
    found = list(geocoding._read(places))
    located = geocoding.choose(found, geocoding.asked_of({**ADDRESS, **changes}))
    return located and located.precision.value


class TestChoose:
    @in_turn(
        ("places", "precision"),
        [
            ([HOUSE], "rooftop"),
            ([STREET], "street"),
            ([POSTCODE], "postcode"),
            ([ONLY_CITY], None),
            ([], None),
            ([ONLY_CITY, POSTCODE, STREET, HOUSE], "rooftop"),
            ([nominatim(house_number="502", road="Rua Augusta")], "street"),
            ([nominatim(road="Rua Augusta", amenity="Bar")], "street"),
            ([nominatim(house_number="500", road="Rua Haddock Lobo")], None),
            ([nominatim(house_number="500", road="Rua Augusta", city="Campinas")], None),
            ([nominatim(point=("-9.07", "-44.36"), house_number="500", road="Rua Augusta")], None),  # in Piauí
            ([{**POSTCODE, "address": {"postcode": "01304-000"}}], "postcode"),
            ([{**POSTCODE, "address": {"postcode": "01305-000"}}], None),
            ([{"lat": "-23.552", "lon": "-46.65", "display_name": "x", "place_rank": 30}], "rooftop"),
            (photon(feature(street="Rua Augusta", housenumber="500")), "rooftop"),
            (photon(feature(street="Rua Augusta", housenumber="12")), "street"),
            (photon(feature("street", name="Rua Augusta")), "street"),
            (photon(feature("other", name="01304-000", osm_value="postcode", postcode="01304-000")), "postcode"),
            (photon(feature("city", name="São Paulo")), None),
            (photon(feature("street", name="Rua Augusto")), None),
        ],
    )
    def test_takes_the_most_exact_place_in_the_street_and_city(self, places, precision):
        assert chosen(places) == precision

    @pytest.mark.parametrize(("point", "precision"), [(NEARBY, "rooftop"), (FAR, None)])
    def test_refuses_places_that_are_apart(self, point, precision):
        assert chosen([HOUSE, {**HOUSE, "lat": point[0], "lon": point[1]}]) == precision

    def test_takes_the_one_with_the_postcode_of_several(self):
        elsewhere = nominatim(point=FAR, house_number="500", road="Rua Augusta", postcode="09000-000")

        located = geocoding.choose(list(geocoding._read([elsewhere, HOUSE])), geocoding.asked_of(ADDRESS))

        assert located == geocoding.Located(Point(*AUGUSTA), geocoding.Precision.ROOFTOP)

    @pytest.mark.parametrize(
        "changes",
        [
            {"street": "Rua Augusta 500", "number": ""},
            {"street": "AUGUSTA,", "number": "nº 0500, ap. 12"},
            {"street": "", "city": "", "zipcode": "01304-000"},
        ],
    )
    def test_understands_addresses_as_people_write_them(self, changes):
        assert chosen([HOUSE], **changes) == "rooftop"

    def test_tells_the_number_of_a_house_from_one_in_the_name_of_its_street(self):
        house = nominatim(house_number="15", road="Rua 15 de Novembro")

        assert chosen([house], street="Rua 15 de Novembro", number="500") == "street"

    @pytest.mark.parametrize("number", ["s/n", "12 apto 500", "0"])
    def test_knows_no_house_without_its_number(self, number):
        assert chosen([HOUSE], number=number) == "street"

    def test_takes_a_house_whose_parts_are_not_told_for_that_of_a_number_alone(self):
        untold = {"lat": "-23.552", "lon": "-46.65", "display_name": "x", "place_rank": 30}

        assert (chosen([untold]), chosen([untold], number="s/n")) == ("rooftop", "street")

    @pytest.mark.parametrize(
        ("changes", "precision"), [({}, None), ({"state": "Lisboa"}, None), ({"zipcode": ""}, "rooftop")]
    )
    def test_goes_by_the_state_of_the_postcode_where_the_address_names_none(self, changes, precision):
        in_piaui = nominatim(point=("-9.07", "-44.36"), house_number="500", road="Rua Augusta")

        assert chosen([in_piaui], **{"state": "", **changes}) == precision


def test_a_query_is_the_address_as_people_write_it():
    address = {**ADDRESS, "district": "Consolação", "country": "BR", "complement": "Ap. 12"}

    assert geocoding.query_of(geocoding.asked_of(address)) == "R. Augusta 500, Consolação, Sao Paulo, SP, 01304000"
