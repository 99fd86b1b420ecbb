"""The dispatch board: what it shows, what it offers, every move, refusals."""

import json
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from delivery.actions import deliveries, drivers, moves
from delivery.distance import Point
from delivery.models import Delivery, Driver, Environment, Transition
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory, TokenFactory

BOARD, ROUTES = reverse("panel:board"), reverse("panel:board_routes")


def move(client, delivery, name, **data):
    return client.post(reverse("panel:board_move", args=[delivery.pk, name]), data)


def form(client, delivery, name, **query):
    return client.get(reverse("panel:board_move", args=[delivery.pk, name]), query)


def cards(client, **query):
    return client.get(ROUTES, query).content.decode()


def status(delivery):
    found = Delivery.objects.get(pk=delivery.pk)
    return found.status, found.route_status


class TestPage:
    def test_has_the_age_from_which_a_position_is_not_fresh(self, dispatcher, settings):
        settings.POSITION_FRESH = timedelta(hours=1)

        assert 'data-fresh-seconds="3600"' in dispatcher.get(BOARD).content.decode()


class TestList:
    def test_shows_live_routes_of_one_environment(self, dispatcher, shop):
        ended = DeliveryFactory.create()
        deliveries.cancel(delivery=ended, reason="", by=BY, at=timezone.now())
        sandbox = DeliveryFactory.create(token=TokenFactory.create(sandbox=True))

        live, tried = cards(dispatcher), cards(dispatcher, environment="sandbox")

        assert f"route-{shop.delivery.pk}" in live
        assert f"route-{ended.pk}" not in live
        assert f"route-{sandbox.pk}" not in live
        assert f"route-{sandbox.pk}" in tried

    @pytest.mark.parametrize(
        ("traits", "offered"),
        [
            ({}, {"accept", "cancel"}),
            ({"accepted": True}, {"collect", "position", "cancel"}),
            ({"collected": True}, {"deliver", "fail", "position", "cancel"}),
        ],
    )
    def test_offers_what_the_lifecycle_allows(self, dispatcher, traits, offered):
        delivery = DeliveryFactory.create(**traits, stops=1)

        content = cards(dispatcher)

        assert {
            name for name in moves.MOVES if reverse("panel:board_move", args=[delivery.pk, name]) in content
        } == offered

    def test_has_a_button_for_every_move(self, dispatcher):
        collected = [DeliveryFactory.create(collected=True, stops=1) for _delivery in range(2)]
        deliveries.fail_point(delivery=collected[0], point="B", reason="Closed.", by=BY, at=timezone.now())
        new = [DeliveryFactory.create(stops=1), DeliveryFactory.create(accepted=True, stops=1)]

        content = cards(dispatcher)

        found = {
            name
            for delivery in (*collected, *new)
            for name in moves.MOVES
            if reverse("panel:board_move", args=[delivery.pk, name]) in content
        }
        assert found == set(moves.MOVES), "add the button to templates/panel/board_cards.html"

    def test_has_the_coordinates_of_every_route(self, dispatcher):
        driver = DriverFactory.create()
        delivery = DeliveryFactory.create(accepted=True, driver=driver, stops=2)
        drivers.set_position(driver=driver, point=Point(-23.5, -46.6), by=BY, at=timezone.now())

        content = cards(dispatcher)

        card = content.split(f'id="route-{delivery.pk}"')[1]
        route = json.loads(card.split('type="application/json">')[1].split("</script>")[0])
        assert [point["label"] for point in route["points"]] == ["A", "B", "C"]
        assert route["driver"] == {"name": driver.name, "lat": -23.5, "lng": -46.6}

    def test_says_nothing_new_with_204(self, dispatcher, shop):
        version = dispatcher.get(BOARD).context["version"]
        assert dispatcher.get(ROUTES, {"version": version}).status_code == 204

        DeliveryFactory.create()

        assert dispatcher.get(ROUTES, {"version": version}).status_code == 200

    def test_is_sent_again_when_a_driver_has_moved(self, dispatcher):
        driver = DriverFactory.create(at_point=PICKUP)
        DeliveryFactory.create(accepted=True, driver=driver)
        version = dispatcher.get(BOARD).context["version"]
        assert dispatcher.get(ROUTES, {"version": version}).status_code == 204

        drivers.set_position(driver=driver, point=Point(-23.5, -46.6), by=BY, at=timezone.now())

        assert dispatcher.get(ROUTES, {"version": version}).status_code == 200

    def test_is_sent_again_in_another_language(self, dispatcher, shop):
        version = dispatcher.get(BOARD, HTTP_ACCEPT_LANGUAGE="en").context["version"]

        statuses = [
            dispatcher.get(ROUTES, {"version": version}, HTTP_ACCEPT_LANGUAGE=language).status_code
            for language in ("en", "pt-br")
        ]

        assert statuses == [204, 200]

    def test_makes_the_same_number_of_queries_for_any_number_of_routes(self, dispatcher, django_assert_max_num_queries):
        token = TokenFactory.create()
        for _number in range(20):
            DeliveryFactory.create(token=token, accepted=True)

        with django_assert_max_num_queries(9):
            dispatcher.get(ROUTES)

    def test_writes_no_script_that_a_shop_sent(self, dispatcher):
        token = TokenFactory.create(integrator__name="</script><script>alert(1)</script>")
        delivery = DeliveryFactory.create(token=token, collected=True, stops=2)
        Driver.objects.filter(pk=delivery.driver_id).update(name="</script><script>alert(2)</script>")
        move(dispatcher, delivery, "fail", point="B", reason="<img src=x onerror=alert(3)>")

        content = cards(dispatcher)

        assert "<script>alert" not in content
        assert "<img" not in content


class TestMoves:
    def test_drive_a_delivery_to_its_end(self, dispatcher):
        driver, delivery = DriverFactory.create(at_point=PICKUP), DeliveryFactory.create(stops=2)

        assert f'value="{driver.pk}"' in form(dispatcher, delivery, "accept").content.decode()
        move(dispatcher, delivery, "accept", driver=str(driver.pk))
        move(dispatcher, delivery, "position", position="-23.55,-46.64")
        move(dispatcher, delivery, "collect")
        move(dispatcher, delivery, "deliver", point="B")
        move(dispatcher, delivery, "fail", point="C", reason="Recusado")
        assert status(delivery) == ("COLLECTED", "RETURNING")
        response = move(dispatcher, delivery, "return")

        assert status(delivery) == ("DELIVERED", "FINISHED")
        assert "moved" in response["HX-Trigger"]
        assert set(Transition.objects.exclude(trigger="request").values_list("by", flat=True)) == {"user dispatcher"}

    def test_cancel_with_a_reason(self, dispatcher, shop):
        move(dispatcher, shop.delivery, "cancel", reason="loja fechou")

        assert Delivery.objects.get(pk=shop.delivery.pk).cancel_reason == "loja fechou"

    @pytest.mark.parametrize(
        ("name", "data", "why"),
        [
            ("collect", {}, "Cannot collect while the route is AVAILABLE"),
            ("accept", {}, "No free driver is on duty"),
            ("accept", {"driver": "x"}, "No driver has the id"),
            ("deliver", {"point": "B"}, "Cannot deliver"),
            ("fail", {"point": "B"}, "Say why"),
            ("position", {"position": "0,0"}, "No driver holds this route"),
            ("cancel", {"reason": "x" * 256}, "at most 255"),
        ],
    )
    def test_say_why_they_are_refused(self, dispatcher, shop, name, data, why):
        response = move(dispatcher, shop.delivery, name, **data)

        assert why in response.content.decode()
        assert "refused" in response["HX-Trigger"]
        assert status(shop.delivery) == ("PENDING", "AVAILABLE")

    def test_a_form_that_came_too_late_says_so(self, dispatcher):
        delivery = DeliveryFactory.create(accepted=True)

        response = form(dispatcher, delivery, "accept")

        assert "not possible any more" in response.content.decode()
        assert response["HX-Retarget"] == "#board-message"

    @pytest.mark.parametrize("name", ["expire", "request", "delete"])
    def test_there_is_no_other(self, dispatcher, shop, name):
        assert move(dispatcher, shop.delivery, name).status_code == 404

    def test_of_the_sandbox_takes_a_simulated_driver(self, dispatcher):
        delivery = DeliveryFactory.create(token=TokenFactory.create(sandbox=True))

        move(dispatcher, delivery, "accept")

        driver = Delivery.objects.get(pk=delivery.pk).driver
        assert driver is not None
        assert driver.environment == Environment.SANDBOX
