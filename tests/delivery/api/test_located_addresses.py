"""Drop-offs without coordinates, which a geocoder on loopback locates."""

import time
from datetime import timedelta

import pytest

from delivery.places.models import LocatedAddress
from delivery.tasks import prune_located_addresses
from tests.cases import in_turn
from tests.delivery.api.calls import QUOTE, REQUEST, assert_field_refused, assert_nothing_written, assert_problem
from tests.delivery.geo.geocoder import AUGUSTA, HOUSE, ONLY_CITY, POSTCODE, STREET, nominatim
from tests.delivery.places.table import fill, houses
from tests.factories import TokenFactory, payload

ADDRESS = {
    "street": "Rua Augusta", "number": "500", "complement": "Ap. 12", "city": "São Paulo", "state": "SP",
    "zipcode": "01304-000",
}  # fmt: skip  # an address
HERE = {"latitude": AUGUSTA[0], "longitude": AUGUSTA[1]}


def body(*addresses, **changes):
    """A request with these drop-offs, none of which has coordinates."""
    return {
        **payload(),
        "dropoffs": [{"externalId": "a", "address": each} for each in addresses or (ADDRESS,)],
        **changes,
    }


@pytest.fixture(autouse=True)
def _is_set(settings, geocoder):
    settings.GEOCODER_URL = geocoder.url


@pytest.mark.django_db
class TestADropoffWithoutCoordinates:
    def test_is_where_its_address_was_found(self, api):
        quoted = api.post(QUOTE, body())
        requested = api.post(REQUEST, body())

        (order,) = requested.json()["orders"]
        assert (quoted.status_code, requested.status_code) == (200, 201)
        assert order["coordinates"] == HERE
        assert order["address"] == {
            "district": "", "country": "", **ADDRESS, "zipcode": "01304000", **HERE
        }  # fmt: skip  # an address
        assert quoted["Rota-Located"] == requested["Rota-Located"] == "b=rooftop"
        with_coordinates = {**payload(stops=1), "dropoffs": [{"address": HERE}]}
        assert quoted.json() == api.post(QUOTE, with_coordinates).json()

    @in_turn("number", ["", "S/N", "s/nº", "SN", "sem número", "0"])
    def test_is_found_without_a_number(self, api, geocoder, number):
        """Nominatim finds nothing where a word of the query is in no address."""
        geocoder.answer, geocoder.answers = [], {"Rua Augusta, São Paulo, SP, 01304000": [STREET]}

        assert api.post(QUOTE, body({**ADDRESS, "number": number}))["Rota-Located"] == "b=street"

    def test_is_named_beside_one_with_coordinates_only_if_it_has_none(self, api, geocoder):
        geocoder.answers = {"Rua Bela Cintra": [nominatim(rank=26, road="Rua Bela Cintra")], "01304": [POSTCODE]}
        cintra = {"street": "Rua Bela Cintra"}

        response = api.post(REQUEST, body({**ADDRESS, **HERE}, cintra, {"zipcode": "01304000"}))

        assert response["Rota-Located"] == "c=street, d=postcode"
        assert len(geocoder.queries) == 2

    def test_is_located_at_the_same_time_as_the_others(self, api, geocoder):
        geocoder.pause = 0.8
        began = time.monotonic()

        response = api.post(QUOTE, body(*({**ADDRESS, "complement": "", "district": each} for each in "abc")))

        assert response["Rota-Located"] == "b=rooftop, c=rooftop, d=rooftop"
        assert time.monotonic() - began < 2.3  # one after the other would be 2.4 s

    @pytest.mark.parametrize("name", ["latitude", "longitude"])
    def test_has_neither_of_the_two(self, api, geocoder, name):
        other = {"latitude": "longitude", "longitude": "latitude"}[name]

        response = api.post(REQUEST, body({**ADDRESS, name: HERE[name]}))

        assert_field_refused(response, f"#/dropoffs/0/address/{other}")
        in_coordinates = body()
        in_coordinates["dropoffs"][0]["coordinates"] = {name: HERE[name]}
        assert_problem(api.post(REQUEST, in_coordinates), 422, "invalid_payload")
        assert geocoder.queries == []

    def test_has_an_address(self, api, geocoder):
        problem = assert_problem(api.post(REQUEST, body({"number": "12", "country": "BR"})), 422, "invalid_payload")

        assert [error["pointer"][-9:] for error in problem["errors"]] == ["/latitude", "longitude"]
        assert "or an address" in problem["errors"][0]["detail"]
        assert geocoder.queries == []

    def test_needs_them_without_a_geocoder(self, api, settings, geocoder):
        settings.GEOCODER_URL = ""

        problem = assert_problem(api.post(REQUEST, body()), 422, "invalid_payload")

        for error in problem["errors"]:
            assert error["detail"].startswith(
                "Give latitude and longitude, here or in coordinates. No addresses are known"
            )
            assert "'manage.py addresses import'" in error["detail"]
        assert geocoder.queries == []

    def test_is_not_looked_up_for_windows_that_are_refused(self, api, geocoder):
        assert_problem(api.post(REQUEST, body(pickupReadyAt="2999-01-01T00:00:00Z")), 422, "invalid_payload")

        assert geocoder.queries == []

    def test_is_refused_outside_the_service_area(self, api, geocoder):
        geocoder.answer = [nominatim(point=(38.72, -9.15), house_number="500", road="Rua Augusta")]

        problem = assert_problem(api.post(REQUEST, body({**ADDRESS, **HERE}, ADDRESS)), 400, "outside_service_area")

        assert "dropoffs[1] (38.72, -9.15)" in problem["detail"]
        assert_nothing_written()


@pytest.mark.django_db
class TestTheTableOfAddresses:
    """Without a geocoder."""

    @pytest.fixture(autouse=True)
    def _is_filled(self, settings):
        settings.GEOCODER_URL = ""
        fill(
            houses("Rua Augusta", [300, 700], postcode="01304000"),
            houses("Rua Um", [5], postcode="08400001", start=(-23.53, -46.40)),
            houses("Rua Um", [5], postcode="04800001", start=(-23.76, -46.69)),
        )

    def test_has_the_places_and_how_exact_they_are(self, api, geocoder):
        addresses = [{**ADDRESS, "number": "700"}, ADDRESS, {"zipcode": "01304-000"}]

        quoted, requested = (api.post(path, body(*addresses)) for path in (QUOTE, REQUEST))

        assert quoted["Rota-Located"] == requested["Rota-Located"] == "b=rooftop, c=street, d=postcode"
        assert requested.json()["orders"][1]["coordinates"] == {"latitude": -23.545, "longitude": -46.65}
        assert geocoder.queries == []
        assert not LocatedAddress.objects.exists()

    def test_has_several_streets_of_one_name(self, api):
        problem = assert_problem(
            api.post(REQUEST, body(ADDRESS, {"street": "R. Um", "number": "5", "city": "São Paulo"})),
            422, "address_not_located",
        )  # fmt: skip  # one line

        (error,) = problem["errors"]
        assert error["pointer"] == "#/dropoffs/1/address"
        assert [each["text"] for each in error["candidates"]] == [
            "Rua Um, 5, São Paulo/SP, 04800-001", "Rua Um, 5, São Paulo/SP, 08400-001"
        ]  # fmt: skip  # a list
        assert_nothing_written()


@pytest.mark.django_db
class TestAnAddressThatIsNotLocated:
    @pytest.mark.parametrize(
        ("found", "texts"),
        [
            ([], []),
            ([ONLY_CITY], ["São Paulo, São Paulo, Brasil"]),
            ([STREET, {**STREET, "lat": "-23.6"}, {**STREET, "lat": "-23.7"}, {**STREET, "lat": "-23.8"}],
             ["São Paulo, São Paulo, Brasil, Rua Augusta, 01305-000"] * 3),
        ],
        ids=["unknown", "a city", "several"],
    )  # fmt: skip  # a table
    def test_is_refused_with_the_places_that_may_be_meant(self, api, geocoder, found, texts):
        geocoder.answers = {"Errada": found}

        for path in (QUOTE, REQUEST):
            response = api.post(path, body(ADDRESS, {**ADDRESS, "street": "Augusta Errada"}))

            problem = assert_problem(response, 422, "address_not_located")
            (error,) = problem["errors"]
            assert (error["pointer"], error["code"]) == ("#/dropoffs/1/address", "address_not_located")
            assert [candidate["text"] for candidate in error["candidates"]] == texts
            assert all(candidate.keys() == {"text", "latitude", "longitude"} for candidate in error["candidates"])
            assert problem["retryable"] is False
        assert_nothing_written()

    def test_can_be_sent_with_the_coordinates_of_a_candidate(self, api, geocoder):
        geocoder.answer = [STREET, {**STREET, "lat": "-23.6"}]
        (error,) = api.post(REQUEST, body()).json()["errors"]
        candidate = error["candidates"][1]
        del candidate["text"]

        response = api.post(REQUEST, body({**ADDRESS, **candidate}))

        assert response.status_code == 201
        assert "Rota-Located" not in response

    def test_keeps_the_others_located(self, api, geocoder):
        geocoder.answers = {"Errada": []}
        api.post(REQUEST, body(ADDRESS, {"street": "Rua Errada"}))

        api.post(REQUEST, body())

        assert len(geocoder.queries) == 2


@pytest.mark.django_db
class TestALocatedAddress:
    def test_that_is_cut_off_for_the_geocoder_is_not_remembered_as_the_whole_one(self, api, geocoder):
        api.post(QUOTE, body({**ADDRESS, "street": f"{ADDRESS['street']}{'.' * 230}", "district": "." * 255}))
        api.post(QUOTE, body())

        assert len(geocoder.queries) == 2

    def test_is_looked_up_once_for_what_is_asked_equally(self, api, geocoder):
        alike = {"street": " Rua  Augusta, S/N", "number": "500 apto 12", "zipcode": "01304000", "complement": "Loja 2"}
        decomposed = {**ADDRESS, "city": "Sa\u0303o Paulo", "country": "BR"}

        answers = [api.post(QUOTE, body(ADDRESS, {**ADDRESS, **alike})), api.post(QUOTE, body(decomposed))]

        assert [answer["Rota-Located"] for answer in answers] == ["b=rooftop, c=rooftop", "b=rooftop"]
        assert geocoder.queries == ["Rua Augusta 500, S\u00e3o Paulo, SP, 01304000"]

    def test_of_one_account_is_none_of_another_that_is_spelled_differently(self, api, client_of, geocoder):
        """A geocoder may take another spelling for another place."""
        geocoder.answers = {"Augusta!": [nominatim(point=(-23.5413, -46.65), house_number="500", road="Augusta!")]}
        api.post(QUOTE, body({**ADDRESS, "street": "Rua Augusta!"}))

        other = client_of(TokenFactory.create()).post(REQUEST, body())

        assert len(geocoder.queries) == 2
        assert other.json()["orders"][0]["coordinates"] == HERE

    @pytest.mark.parametrize("part", ["street", "number", "district", "city", "state", "zipcode"])
    def test_is_another_one_if_a_part_differs(self, api, geocoder, part):
        other = {"zipcode": "01304001", "number": "502"}.get(part, "Outra")

        api.post(QUOTE, body(ADDRESS, {**ADDRESS, part: other}))

        assert len(geocoder.queries) == 2

    def test_is_looked_up_again_after_90_days(self, api, geocoder, clock):
        api.post(QUOTE, body())
        LocatedAddress.objects.update(created_at=clock.now - timedelta(days=90))
        geocoder.answer = [STREET]

        answers = [api.post(QUOTE, body()) for _number in range(2)]

        assert [answer["Rota-Located"] for answer in answers] == ["b=street", "b=street"]
        assert (len(geocoder.queries), LocatedAddress.objects.count()) == (2, 1)

    def test_takes_one_statement_with_all_others(self, api, django_assert_num_queries):
        addresses = [{**ADDRESS, "district": each} for each in "abc"]
        api.post(QUOTE, body(*addresses))

        with django_assert_num_queries(3):  # token, addresses, tariff
            api.post(QUOTE, body(*addresses))

    def test_is_deleted_after_90_days(self, api):
        api.post(QUOTE, body())
        prune_located_addresses()
        assert LocatedAddress.objects.count() == 1
        LocatedAddress.objects.update(created_at=LocatedAddress.objects.get().created_at - timedelta(days=90))

        prune_located_addresses()

        assert LocatedAddress.objects.count() == 0

    def test_has_the_price_of_its_quote(self, api, geocoder):
        quote_id = api.post(QUOTE, body())["Quote-Id"]
        geocoder.answer = [{**HOUSE, "lat": "-23.6"}]

        assert api.post(REQUEST, body(), headers={"Quote-Id": quote_id}).status_code == 201
        moved = body({**ADDRESS, "number": "502", "district": "Jardins"})
        assert_problem(api.post(REQUEST, moved, headers={"Quote-Id": quote_id}), 422, "quote_mismatch")


@pytest.mark.django_db
class TestWithoutTheGeocoder:
    @in_turn(
        "fault",
        [{"status": 500}, {"body": b"[" * 50_000}, {"body": b"x" * 300_000}, {"pause": 30.0}, {"drip": 0.05}],
    )
    def test_the_call_is_503_and_makes_nothing(self, api, geocoder, fault):
        vars(geocoder).update(fault)
        began = time.monotonic()

        response = api.post(REQUEST, body())

        problem = assert_problem(response, 503, "geocoder_unavailable")
        assert (problem["retryable"], response["Retry-After"]) == (True, "10")
        assert time.monotonic() - began < 10
        assert_nothing_written()
        assert not LocatedAddress.objects.exists()

    def test_a_server_that_is_away_is_not_waited_for_by_every_call(self, api, geocoder):
        geocoder.status = 500

        for _number in range(5):
            assert_problem(api.post(QUOTE, body()), 503, "geocoder_unavailable")

        assert len(geocoder.queries) == 3

    def test_another_account_is_served_while_the_addresses_of_one_fail(self, api, client_of, geocoder):
        geocoder.status = 500
        for _number in range(4):
            assert_problem(api.post(QUOTE, body()), 503, "geocoder_unavailable")
        geocoder.status = 200

        assert client_of(TokenFactory.create()).post(QUOTE, body({**ADDRESS, "number": "502"})).status_code == 200
        assert_problem(api.post(QUOTE, body()), 503, "geocoder_unavailable")

    def test_known_addresses_and_coordinates_are_served(self, api, geocoder):
        api.post(QUOTE, body())
        geocoder.status = 500

        assert api.post(REQUEST, body()).status_code == 201
        assert api.post(REQUEST, payload()).status_code == 201


@pytest.mark.django_db
class TestAnIdempotencyKey:
    def test_has_its_answer_without_the_geocoder(self, api, geocoder):
        first = api.post(REQUEST, body(), headers={"Idempotency-Key": "a"})
        LocatedAddress.objects.all().delete()
        geocoder.status = 500

        second = api.post(REQUEST, body(), headers={"Idempotency-Key": "a"})

        assert (first.status_code, first["Rota-Located"]) == (201, "b=rooftop")
        assert second.content == first.content

    @pytest.mark.parametrize(
        ("fault", "status"), [({"status": 500}, 503), ({"answer": []}, 422)], ids=["away", "not located"]
    )
    def test_can_be_sent_again_after_a_refusal(self, api, geocoder, fault, status):
        before = {name: vars(geocoder)[name] for name in fault}
        vars(geocoder).update(fault)
        refused = api.post(REQUEST, body(), headers={"Idempotency-Key": "a"})
        vars(geocoder).update(before)

        created = api.post(REQUEST, body(), headers={"Idempotency-Key": "a"})

        assert (refused.status_code, created.status_code) == (status, 201)
