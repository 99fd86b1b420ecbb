"""The search for a driver in the admin: on a delivery's page and beside the list's action menu."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from delivery.geo.distance import Point
from delivery.models import Driver, Environment
from tests.delivery.many_drivers import create_many
from tests.factories import PICKUP, DeliveryFactory, DriverFactory, TokenFactory

SEARCH = reverse("admin:delivery_delivery_drivers")
LIST = reverse("admin:delivery_delivery_changelist")
UNKNOWN = "0190b5a0-7c3e-7d5a-9f00-000000000001"


def page(client, delivery):
    return client.get(reverse("admin:delivery_delivery_change", args=[delivery.pk])).content.decode()


def names(client, **query):
    return [result["text"].split(" · ")[0] for result in client.get(SEARCH, query).json()["results"]]


class TestTheSearch:
    def test_finds_drivers_on_duty_by_name_and_phone(self, dispatcher):
        ana = DriverFactory.create(name="Ana", phone="+55 11 4321", at_point=PICKUP)
        DriverFactory.create(name="Bia")
        DriverFactory.create(name="Caio", on_duty=False)
        DriverFactory.create(name="Davi", active=False)

        assert names(dispatcher) == ["Ana", "Bia"]
        assert names(dispatcher, term=" ana ") == names(dispatcher, term="4321") == ["Ana"]
        (result,) = dispatcher.get(SEARCH, {"term": "ana"}).json()["results"]
        assert result["id"] == str(ana.pk)
        assert re.fullmatch(r"Ana · Motorcycle · position \d+ s ago", result["text"])

    def test_finds_the_eligible_drivers_of_a_delivery_with_their_distance(self, dispatcher):
        delivery = DeliveryFactory.create()
        DriverFactory.create(name="Far")
        DriverFactory.create(name="Near", at_point=PICKUP)
        DriverFactory.create(name="By car", vehicle_type="CAR")
        DriverFactory.create(name="Sandbox", environment=Environment.SANDBOX)

        found = dispatcher.get(SEARCH, {"delivery": delivery.pk}).json()["results"]

        assert [result["text"].split(" · ")[0] for result in found] == ["Near", "Far", "By car"]
        assert " · 0.0 km · " in found[0]["text"]

    def test_is_refused_without_the_permission_to_dispatch(self, onlooker):
        DriverFactory.create(name="Ana")

        response = onlooker.get(SEARCH)

        assert response.status_code == 403
        assert b"Ana" not in response.content

    def test_of_an_unknown_delivery_is_not_found(self, dispatcher):
        for key in (UNKNOWN, "x", "' OR 1=1"):
            assert dispatcher.get(SEARCH, {"delivery": key}).status_code == 404

    def test_reads_twenty_of_a_thousand_drivers_in_two_queries(self, dispatcher):
        made = create_many(1_000)

        for query in ({}, {"term": "Driver 000"}, {"delivery": DeliveryFactory.create().pk}):
            with CaptureQueriesContext(connection) as queries:
                answer = dispatcher.get(SEARCH, query).json()

            of_drivers = [each["sql"] for each in queries if 'FROM "delivery_driver"' in each["sql"]]
            assert len(of_drivers) == 2  # their number, and one page
            assert of_drivers[1].endswith("LIMIT 20")
            assert [result["id"] for result in answer["results"]] == [str(driver.pk) for driver in made[:20]]
            assert answer["pagination"] == {"more": True}

    def test_turns_pages(self, dispatcher):
        made = create_many(21)

        answer = dispatcher.get(SEARCH, {"page": "2"}).json()

        assert [result["id"] for result in answer["results"]] == [str(made[20].pk)]
        assert answer["pagination"] == {"more": False}


class TestTheForms:
    def test_name_the_five_nearest_drivers_and_hold_no_options(self, dispatcher):
        made = create_many(1_000)
        delivery = DeliveryFactory.create()

        with CaptureQueriesContext(connection) as queries:
            content = page(dispatcher, delivery).split('id="moves"')[1]

        of_drivers = [each["sql"] for each in queries if 'FROM "delivery_driver"' in each["sql"]]
        assert len(of_drivers) == 1
        assert of_drivers[0].endswith("LIMIT 5")
        assert re.findall(r"Driver \d{5}", content) == [driver.name for driver in made[:5]]
        assert f"{SEARCH}?delivery={delivery.pk}" in content
        assert not re.search(r'<option value="[^"]', content.split("</select>")[0])

    def test_of_the_list_read_no_drivers(self, dispatcher):
        Driver.objects.bulk_create(Driver(name=f"D {n}", vehicle_type="CAR", on_duty=True) for n in range(50))
        DeliveryFactory.create()

        with CaptureQueriesContext(connection) as queries:
            content = dispatcher.get(LIST).content.decode()

        assert [each["sql"] for each in queries if 'FROM "delivery_driver"' in each["sql"]] == []
        assert f'data-ajax--url="{SEARCH}"' in content

    @pytest.mark.parametrize(("sandbox", "text"), [(True, "creates a simulated driver"), (False, "none with this")])
    def test_say_what_happens_when_no_driver_is_eligible(self, dispatcher, sandbox, text):
        delivery = DeliveryFactory.create(token=TokenFactory.create(sandbox=sandbox))

        assert text in page(dispatcher, delivery)


class TestOthers:
    def test_are_below_the_eligible_ones_with_the_reason(self, dispatcher):
        delivery = DeliveryFactory.create()
        DriverFactory.create(name="Ana", at_point=PICKUP)
        DriverFactory.create(name="Bia", vehicle_type="CAR")
        DriverFactory.create(name="Caio", on_duty=False)
        DriverFactory.create(name="Davi", at_point=Point(-23.0, -46.0))
        DeliveryFactory.create(accepted=True, driver=DriverFactory.create(name="Eva"))
        DriverFactory.create(name="Gone", active=False)

        found = dispatcher.get(SEARCH, {"delivery": delivery.pk}).json()["results"]

        assert [(each["text"].split(" · ")[0], each.get("disabled", False)) for each in found] == [
            ("Ana", False),
            ("Bia", True),
            ("Davi", True),
            ("Eva", True),
            ("Caio", True),
        ]
        assert found[1]["text"] == "Bia · The route needs a MOTORCYCLE; Bia has a CAR."
        assert [each["text"].split(" · ")[1] for each in found[2:]] == [
            "Davi is farther than 15 km from A.",
            "Eva holds another open route and must finish it first.",
            "Caio is not on duty.",
        ]
