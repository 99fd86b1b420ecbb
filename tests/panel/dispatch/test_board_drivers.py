"""Choosing a driver on the board: who is listed, how they are described, the search, and what it reads."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from common.brazil.formats import time_of_day
from delivery.actions import arrivals, deliveries, drivers
from delivery.geo.distance import Point
from delivery.models import Delivery, Driver, Environment, LatestPosition
from tests.cases import in_turn
from tests.delivery.many_drivers import create_many
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory, TokenFactory

NEAR, NEARER = (Point(PICKUP.latitude + north, PICKUP.longitude) for north in (0.02, 0.01))


def dialog(client, delivery, **headers):
    return client.get(reverse("panel:board_move", args=[delivery.pk, "accept"]), **headers).content.decode()


def search(client, delivery, **query):
    return client.get(reverse("panel:board_drivers", args=[delivery.pk]), query).content.decode()


def options(content):
    """The names of the drivers that are listed."""
    return [label.split(" · ")[0] for label in labels(content)]


def labels(content):
    """Names and where they are, with a dot between the parts."""
    found = re.findall(r'value="[0-9a-f-]{36}"[^>]*>\s*<span>(.*?)</span>\s*</label>', content, re.DOTALL)
    texts = [[line.strip() for line in re.sub("<[^>]*>", "\n", label).splitlines()] for label in found]
    return [" · ".join(filter(None, lines)) for lines in texts]


def card(client, delivery):
    query = {"environment": delivery.environment, "ids": str(delivery.pk)}
    return client.get(reverse("panel:board_cards"), query).json()["cards"][str(delivery.pk)]


class TestTheDialog:
    def test_lists_eligible_drivers_with_a_fresh_position_first_and_of_each_kind_the_nearest(self, dispatcher, shop):
        DriverFactory.create(name="Unknown place")
        DriverFactory.create(name="Silent", at_point=PICKUP, at_point__age=3_600)
        DriverFactory.create(name="Near", at_point=NEAR)
        DriverFactory.create(name="Nearer", at_point=NEARER)
        DriverFactory.create(name="Off duty", on_duty=False, at_point=PICKUP)
        DriverFactory.create(name="By car", vehicle_type="CAR", at_point=PICKUP)
        DriverFactory.create(name="Of the sandbox", environment=Environment.SANDBOX, at_point=PICKUP)

        content = dialog(dispatcher, shop.delivery)

        assert options(content) == ["Nearer", "Near", "Silent", "Unknown place"]
        assert [label for label in labels(content) if "recommended" in label] == labels(content)[:1]
        assert options(content.split("checked")[0]) == []  # the first one is chosen
        assert options(content.split("<details")[1]) == ["Unknown place"]

    @pytest.mark.parametrize(
        ("language", "label"),
        [
            ("en", "Ana · recommended · 2.2 km · position 7 s ago"),
            ("pt-br", "Ana · recomendado · 2,2 km · posição há 7 s"),
        ],
    )
    def test_says_how_far_and_how_old_a_position_is(self, dispatcher, shop, monkeypatch, language, label):
        now = timezone.now()
        driver = DriverFactory.create(name="Ana")
        drivers.set_position(driver=driver, point=NEAR, by=BY, at=now - timedelta(seconds=7))
        monkeypatch.setattr(timezone, "now", lambda: now)

        content = dialog(dispatcher, shop.delivery, HTTP_ACCEPT_LANGUAGE=language)

        assert labels(content) == [label]

    def test_gives_a_position_from_the_future_the_age_zero(self, dispatcher, shop):
        """Clocks of two machines may differ by seconds."""
        driver = DriverFactory.create(name="Ana")
        drivers.set_position(driver=driver, point=NEAR, by=BY, at=timezone.now() + timedelta(seconds=30))

        assert "position 0 s ago" in dialog(dispatcher, shop.delivery, HTTP_ACCEPT_LANGUAGE="en")

    def test_chooses_but_does_not_recommend_a_driver_without_a_position(self, dispatcher, shop):
        DriverFactory.create(name="Ana")

        content = dialog(dispatcher, shop.delivery, HTTP_ACCEPT_LANGUAGE="en")

        assert labels(content) == ["Ana · position unknown"]
        assert "checked" in content

    def test_says_of_an_old_position_when_it_was_and_does_not_recommend_its_driver(self, dispatcher, shop):
        lost = DriverFactory.create(name="Lost", at_point=NEARER, at_point__age=3_600)

        content = dialog(dispatcher, shop.delivery)

        heard = time_of_day(LatestPosition.objects.get(driver=lost).recorded_at, at=timezone.now())
        (label,) = labels(content)
        assert (label.split(" · ")[0], label.split(" · ")[-1]) == ("Lost", f"last signal {heard}")
        assert "recommended" not in content
        assert "checked" in content
        assert "warn-text" in content

    def test_shows_where_the_route_goes(self, dispatcher, shop):
        content = dialog(dispatcher, shop.delivery)

        assert re.findall(r'<b\s+class="label(?: a)?"\s*>(\w)</b>', content) == ["A", "B", "C"]

    def test_says_that_nobody_is_eligible_for_a_live_delivery(self, dispatcher, shop):
        content = dialog(dispatcher, shop.delivery)

        assert "No driver is eligible: none with this vehicle" in content
        assert "simulated" not in content


class TestTheSandbox:
    @pytest.fixture
    def delivery(self, shop):
        return DeliveryFactory.create(token=TokenFactory.create(sandbox=True))

    def test_offers_on_the_card_that_a_simulated_driver_takes_the_route(self, dispatcher, shop, delivery):
        assert "a simulated driver takes it when none is eligible" in card(dispatcher, delivery)
        assert "simulated" not in card(dispatcher, shop.delivery)

    def test_offers_a_simulated_driver_and_makes_it(self, dispatcher, delivery):
        content = dialog(dispatcher, delivery)
        dispatcher.post(reverse("panel:board_move", args=[delivery.pk, "accept"]), {"driver": ""})

        assert "Accepting creates a simulated driver" in content
        assert "No driver is eligible: none" not in content
        found = Delivery.objects.get(pk=delivery.pk)
        assert found.driver is not None
        assert (found.status, found.driver.name) == ("ACCEPT", "Simulated driver")
        assert found.driver.environment == Environment.SANDBOX


class TestTheSearch:
    @in_turn(
        ("text", "found"),
        [
            ("", ["Nearer", "Ana Lima"]),
            ("lima", ["Ana Lima"]),
            ("  LIMA ", ["Ana Lima"]),
            ("4321", ["Nearer"]),
            ("%", []),
            ("nobody", []),
        ],
    )
    def test_finds_names_and_phones(self, dispatcher, shop, text, found):
        DriverFactory.create(name="Ana Lima", at_point=NEAR)
        DriverFactory.create(name="Nearer", phone="+55 11 98888-4321", at_point=NEARER)

        content = search(dispatcher, shop.delivery, q=text)

        assert options(content) == found
        assert ("No eligible driver has this name or phone" in content) is not bool(found)

    def test_keeps_the_chosen_driver_checked(self, dispatcher, shop):
        chosen = DriverFactory.create(name="Ana", at_point=NEAR)
        DriverFactory.create(name="Bia", at_point=NEARER)

        content = search(dispatcher, shop.delivery, q="Bia", driver=chosen.pk)

        assert options(content) == ["Ana", "Bia"]
        assert re.findall(r'value="([^"]+)"\s+required\s+checked', content) == [str(chosen.pk)]
        assert options(search(dispatcher, shop.delivery, q="ana", driver=chosen.pk)) == ["Ana"]

    def test_drops_a_chosen_driver_who_is_not_eligible_any_more(self, dispatcher, shop):
        chosen = DriverFactory.create(name="Ana", at_point=NEAR)
        Driver.objects.update(on_duty=False)

        assert options(search(dispatcher, shop.delivery, driver=chosen.pk)) == []

    @pytest.mark.parametrize("junk", ["x", "0", "' OR 1=1", "0190b5a0-7c3e-7d5a-9f00-000000000001"])
    def test_ignores_a_chosen_driver_who_does_not_exist(self, dispatcher, shop, junk):
        DriverFactory.create(name="Ana", at_point=NEAR)

        content = search(dispatcher, shop.delivery, driver=junk)

        assert options(content) == ["Ana"]
        assert "checked" not in content

    def test_of_an_unknown_delivery_is_not_found(self, dispatcher, shop):
        path = reverse("panel:board_drivers", args=["0190b5a0-7c3e-7d5a-9f00-000000000001"])

        assert dispatcher.get(path).status_code == 404

    def test_writes_no_markup_of_a_name(self, dispatcher, shop):
        DriverFactory.create(name="<img src=x>", at_point=NEAR)

        assert "<img" not in search(dispatcher, shop.delivery)


class TestManyDrivers:
    """Counts of queries and of rows; times would depend on the machine."""

    @pytest.mark.parametrize("query", [{}, {"q": "Driver 000"}])
    def test_are_read_twenty_at_a_time(self, dispatcher, shop, query):
        many = create_many(300)
        search(dispatcher, shop.delivery)  # the session is loaded and permissions are cached alike

        with CaptureQueriesContext(connection) as queries:
            content = search(dispatcher, shop.delivery, **query)

        of_drivers = [each["sql"] for each in queries if 'FROM "delivery_driver"' in each["sql"]]
        assert len(of_drivers) == 1
        assert of_drivers[0].endswith("LIMIT 21")
        assert options(content) == [driver.name for driver in many[:20]]
        assert "The 20 nearest are shown" in content
        assert len(queries) == 7

    @pytest.mark.parametrize(("count", "says_more"), [(20, False), (21, True)])
    def test_says_that_there_are_more_only_where_there_are(self, dispatcher, shop, count, says_more):
        create_many(count)

        content = search(dispatcher, shop.delivery)

        assert len(options(content)) == 20
        assert ("nearest are shown" in content) is says_more


class TestOnDuty:
    def test_lists_free_drivers_first_with_their_next_stops_and_routes_of_today(
        self, dispatcher, django_assert_num_queries
    ):
        free = DriverFactory.create(name="Livre", at_point=NEAR)
        busy, other = DriverFactory.create(name="Ana"), DriverFactory.create(name="Bia")
        DriverFactory.create(name="Off duty", on_duty=False)
        ended = DeliveryFactory.create(collected=True, stops=1, driver=busy)
        deliveries.deliver(delivery=ended, point="B", by=BY, at=timezone.now())
        for driver in (busy, other):
            DeliveryFactory.create(collected=True, stops=2, driver=driver)

        # Session, user, 2 of permissions; drivers, routes, stops.
        with django_assert_num_queries(7):
            response = dispatcher.get(reverse("panel:board_on_duty"))

        content = " ".join(response.content.decode().split())
        assert [entry.driver.name for entry in response.context["drivers"]] == ["Livre", "Ana", "Bia"]
        places = [entry.next_place for entry in response.context["drivers"]]
        assert [place and place.label for place in places] == [None, "B", "B"]
        assert f'data-driver="{free.pk}"' in content
        assert content.count("1 route today") == 1

    def test_says_when_one_who_is_silent_was_last_heard_of(self, dispatcher):
        DriverFactory.create(name="Seen", at_point=NEAR)
        lost = DriverFactory.create(name="Lost", at_point=NEARER, at_point__age=3_600)

        heard = time_of_day(LatestPosition.objects.get(driver=lost).recorded_at, at=timezone.now())
        for page in ("panel:board_on_duty", "panel:drivers"):
            content = " ".join(dispatcher.get(reverse(page)).content.decode().split())
            assert re.findall(r'<b class="warn-text">(.*?)</b>', content) == [f"last signal {heard}"], page

    @pytest.mark.parametrize("page", ["panel:board_on_duty", "panel:drivers", "panel:driver"])
    def test_says_that_an_arrival_is_late_and_when_the_driver_was_last_heard_of(self, dispatcher, page):
        now = timezone.now()
        DeliveryFactory.create(collected=True, stops=1, driver=DriverFactory.create(name="Ana"), at=now)
        lost = DriverFactory.create(name="Bia")
        DeliveryFactory.create(collected=True, stops=1, driver=lost, at=now - timedelta(minutes=9))
        arrivals.renew(at=now)

        content = dispatcher.get(reverse(page, args=[lost.pk] if page == "panel:driver" else [])).content.decode()

        heard = f"{timezone.localtime(now - timedelta(minutes=9)):%H:%M}"
        assert re.findall(r"late, last signal (?:\d+ \w+ )?(\d\d:\d\d)", content) == [heard]
        assert len(re.findall(r"\babout \d\d:\d\d", content)) == (page != "panel:driver")  # of Ana

    def test_searches_names_and_phones(self, dispatcher):
        DriverFactory.create(name="Ana Lima")
        DriverFactory.create(name="Bia")

        found = dispatcher.get(reverse("panel:board_on_duty"), {"q": "lima"}).context["drivers"]

        assert [entry.driver.name for entry in found] == ["Ana Lima"]


class TestAssigningSeveral:
    def form(self, client, *chosen):
        ids = ",".join(str(each.pk) for each in chosen)
        return client.get(reverse("panel:board_assign"), {"ids": ids})

    def test_recommends_each_driver_once_and_first_those_with_a_fresh_position(
        self, dispatcher, shop, django_assert_num_queries
    ):
        far, near = DriverFactory.create(name="Far", at_point=NEAR), DriverFactory.create(name="Near", at_point=NEARER)
        silent = DriverFactory.create(name="Silent", at_point=PICKUP, at_point__age=3_600)
        DriverFactory.create(name="Unknown place")
        DriverFactory.create(name="By car", vehicle_type="CAR", at_point=PICKUP)
        DriverFactory.create(name="Too far", at_point=Point(PICKUP.latitude + 0.3, PICKUP.longitude))
        second, taken = DeliveryFactory.create(), DeliveryFactory.create(accepted=True)
        sandbox = DeliveryFactory.create(token=TokenFactory.create(sandbox=True))

        with django_assert_num_queries(8):  # session, user, 2 of permissions; routes, stops, declined offers, drivers
            rows = self.form(dispatcher, second, shop.delivery, taken, sandbox).context["rows"]

        listed = [(delivery.pk, [option.driver.pk for option in options]) for delivery, options in rows]
        unknown = Driver.objects.get(name="Unknown place").pk
        expected = [(shop.delivery.pk, [near.pk, far.pk, silent.pk]), (second.pk, [far.pk, silent.pk, unknown])]
        assert listed == expected

    def test_refuses_what_is_no_id(self, dispatcher):
        assert dispatcher.get(reverse("panel:board_assign"), {"ids": "x"}).status_code == 400
