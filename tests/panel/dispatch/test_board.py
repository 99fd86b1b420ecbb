"""The dispatch board: the page, and what its script reads."""

import json
import re
from datetime import timedelta

import pytest
from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from common.brazil.formats import money
from delivery import lifecycle
from delivery.actions import deliveries, drivers, moves
from delivery.geo.distance import Point
from delivery.lifecycle import OnFailure
from delivery.models import ArrivalEstimate, Delivery, Driver, Environment, LatestPosition, StopProof
from delivery.payload import Options, Place
from delivery.receivers import actions as receivers
from delivery.windows import Window
from panel.dispatch import board
from panel.dispatch.board import MOST_CARDS
from tests.cases import in_turn
from tests.delivery.in_progress import in_progress
from tests.delivery.proofs import asking_for, pin_of
from tests.factories import BY, DROPOFFS, PICKUP, DeliveryFactory, DriverFactory, TokenFactory, validated_payload

BOARD, ROUTES, CARDS = reverse("panel:board"), reverse("panel:board_routes"), reverse("panel:board_cards")
POSITIONS = reverse("panel:board_positions")


def routes(client, **query):
    return client.get(ROUTES, query).json()["routes"]


def route(client, delivery):
    return next(each for each in routes(client) if each["id"] == str(delivery.pk))


def card(client, delivery, **query):
    return client.get(CARDS, {"ids": str(delivery.pk), **query}).json()["cards"][str(delivery.pk)]


class TestPage:
    def test_has_the_age_from_which_a_position_is_not_fresh(self, dispatcher, rules):
        rules(position_fresh_seconds=3600)

        assert 'data-fresh-seconds="3600"' in dispatcher.get(BOARD).content.decode()


class TestRoutes:
    def test_are_those_in_progress_in_one_environment(self, dispatcher, shop):
        ended = DeliveryFactory.create()
        deliveries.cancel(delivery=ended, reason="", by=BY, at=timezone.now())
        sandbox = DeliveryFactory.create(token=TokenFactory.create(sandbox=True))

        assert [each["id"] for each in routes(dispatcher)] == [str(shop.delivery.pk)]
        assert [each["id"] for each in routes(dispatcher, environment="sandbox")] == [str(sandbox.pk)]

    def test_have_their_points_in_order_and_the_driver_where_it_is(self, dispatcher):
        at, driver = timezone.now(), DriverFactory.create(name="Ana")
        delivery = DeliveryFactory.create(accepted=True, driver=driver, stops=2)
        drivers.set_position(driver=driver, point=Point(-23.5, -46.6), by=BY, at=at)

        shown = route(dispatcher, delivery)

        assert [point["label"] for point in shown["points"]] == ["A", "B", "C"]
        assert shown["points"][0] == {"label": "A", "lat": PICKUP.latitude, "lng": PICKUP.longitude, "status": ""}
        assert shown["driver"] == {"name": "Ana", "lat": -23.5, "lng": -46.6, "at": at.timestamp()}
        assert shown["expires"] is None

    def test_name_the_districts_only_while_maps_have_no_streets(self, dispatcher, settings):
        """They are drawn there alone, and a large board has many points."""
        pickup = Place(point=PICKUP, address={"district": "Bela Vista"}, contact_name="Loja", contact_phone="1")
        stop = Place(point=DROPOFFS[0], address={"district": "Consolação"})
        payload = validated_payload(pickup=pickup, dropoffs=[stop])
        delivery = DeliveryFactory.create(payload=payload)
        without = [point["district"] for point in route(dispatcher, delivery)["points"]]

        settings.MAP_TILE_URL = "https://tile.example.com/{z}/{x}/{y}.png"

        assert without == ["Bela Vista", "Consolação"]
        assert not any("district" in point for point in route(dispatcher, delivery)["points"])

    def test_have_a_driver_without_a_place_until_one_is_known(self, dispatcher):
        delivery = DeliveryFactory.create(accepted=True, driver=DriverFactory.create(name="Ana"))

        assert route(dispatcher, delivery)["driver"] == {"name": "Ana", "lat": None, "lng": None, "at": None}

    def test_that_are_offered_have_no_driver_and_an_end(self, dispatcher):
        delivery = DeliveryFactory.create()

        shown = route(dispatcher, delivery)

        assert shown["driver"] is None
        assert shown["expires"] == delivery.offer_expires_at.timestamp()

    def test_have_when_the_driver_arrives_at_the_stops_that_are_open(self, dispatcher):
        delivery, now = DeliveryFactory.create(collected=True, stops=3), timezone.now()
        for stop in delivery.stops.filter(index__lt=2):
            moments = dict.fromkeys(("arrives_at", "earliest", "latest", "computed_at"), now + timedelta(minutes=9))
            ArrivalEstimate.objects.create(stop=stop, engine="distance", **moments)
        deliveries.deliver(delivery=delivery, point="B", by=BY, at=now)

        shown = route(dispatcher, delivery)["points"]

        for name in ("arrives", "latest", "heard"):
            assert [point[name] for point in shown[1:]] == [None, (now + timedelta(minutes=9)).timestamp(), None]

    @pytest.mark.parametrize(
        ("traits", "minutes", "per_km"), [({}, 10, 0), ({"accepted": True}, 30, 0), ({"collected": True}, 30, 4)]
    )
    def test_are_due_by_the_step_that_is_next(self, dispatcher, traits, minutes, per_km):
        at = timezone.now() - timedelta(minutes=5)
        delivery = DeliveryFactory.create(at=at, **traits)

        due = route(dispatcher, delivery)["due"]

        after = timedelta(minutes=minutes + per_km * float(delivery.distance_km))
        assert due == pytest.approx((at + after).timestamp(), abs=0.01)

    def test_have_a_version_that_every_move_changes(self, dispatcher):
        delivery = DeliveryFactory.create(accepted=True)
        before = route(dispatcher, delivery)["version"]

        deliveries.collect(delivery=delivery, by=BY, at=timezone.now())

        assert route(dispatcher, delivery)["version"] != before

    def test_need_as_many_queries_for_any_number_of_them(self, dispatcher, django_assert_num_queries):
        before = len(routes(dispatcher))
        for _number in range(5):
            DeliveryFactory.create(accepted=True)

        with django_assert_num_queries(8):  # session, user, 2 of permissions; routes, stops, free drivers, goods
            assert len(routes(dispatcher)) == before + 5


class TestFreeDrivers:
    def test_are_those_on_duty_without_a_route_who_were_heard_of_in_the_last_hours(self, dispatcher):
        free = DriverFactory.create(name="Livre", at_point=PICKUP)
        DriverFactory.create(name="Off duty", on_duty=False, at_point=PICKUP)
        DriverFactory.create(name="Unknown place")
        DriverFactory.create(name="Of the sandbox", environment=Environment.SANDBOX, at_point=PICKUP)
        DeliveryFactory.create(accepted=True, driver=DriverFactory.create(name="Busy", at_point=PICKUP))
        old, older = (timezone.now() - timedelta(hours=hours) for hours in (11, 13))
        drivers.set_position(driver=DriverFactory.create(name="Silent"), point=PICKUP, by=BY, at=old)
        drivers.set_position(driver=DriverFactory.create(name="Forgotten"), point=PICKUP, by=BY, at=older)

        shown = dispatcher.get(ROUTES).json()["free"]

        seen = LatestPosition.objects.get(pk=free.pk).recorded_at
        place = {"lat": PICKUP.latitude, "lng": PICKUP.longitude}
        known = {"id": str(free.pk), "vehicle": "MOTORCYCLE", "name": "Livre"}
        assert shown[0] == {**known, **place, "at": seen.timestamp()}
        assert [(each["name"], each["at"]) for each in shown[1:]] == [("Silent", old.timestamp())]

    def test_are_the_last_heard_of_where_there_are_too_many(self, dispatcher, monkeypatch):
        monkeypatch.setattr(board, "_MOST_FREE", 2)
        now = timezone.now()
        for hours in (2, 1, 3):
            driver = DriverFactory.create(name=f"{hours} hours")
            drivers.set_position(driver=driver, point=PICKUP, by=BY, at=now - timedelta(hours=hours))

        assert [each["name"] for each in dispatcher.get(ROUTES).json()["free"]] == ["1 hours", "2 hours"]


class TestPositions:
    def test_are_those_of_the_drivers_of_routes_in_progress(self, dispatcher):
        at, driver = timezone.now(), DriverFactory.create()
        delivery = DeliveryFactory.create(accepted=True, driver=driver)
        drivers.set_position(driver=driver, point=Point(-23.5, -46.6), by=BY, at=at)
        DriverFactory.create(name="Livre", at_point=PICKUP)

        shown = dispatcher.get(POSITIONS).json()

        assert shown["positions"] == {str(delivery.pk): {"lat": -23.5, "lng": -46.6, "at": at.timestamp()}}
        assert [each["name"] for each in shown["free"]] == ["Livre"]

    def test_of_some_routes_are_read_alone(self, dispatcher, django_assert_num_queries):
        first, second = (
            DeliveryFactory.create(accepted=True, driver=DriverFactory.create(at_point=PICKUP)) for _route in range(2)
        )
        driver = DriverFactory.create(at_point=PICKUP)
        ended = DeliveryFactory.create(accepted=True, driver=driver)
        deliveries.cancel(delivery=ended, reason="", by=BY, at=timezone.now())
        next_one = DeliveryFactory.create(accepted=True, driver=driver)

        with django_assert_num_queries(5):  # session, user, 2 of permissions; positions
            shown = dispatcher.get(POSITIONS, {"ids": f"{first.pk},{ended.pk}"}).json()

        assert [*shown] == ["positions"]
        assert [*shown["positions"]] == [str(first.pk)]
        shown = dispatcher.get(POSITIONS).json()["positions"]
        assert {*shown} == {str(each.pk) for each in (first, second, next_one)}


class TestStopsOfCards:
    def test_have_the_receivers_page_the_instructions_and_the_state_of_the_pin(self, dispatcher):
        delivery = asking_for(Options(instructions="Ring twice", has_pin=True, needs_photo=True), Options())
        addresses = receivers.addresses(list(delivery.stops.all()), at=timezone.now())

        content = card(dispatcher, delivery)

        assert all(content.count(f'href="{address}"') == 1 for address in addresses.values())
        assert "Ring twice" in content
        assert pin_of(delivery) not in content.replace("".join(addresses.values()), "").split("PIN:")[1][:200]
        assert "asked for" in content

    def test_say_who_received_and_that_a_pin_is_locked(self, dispatcher):
        delivery = asking_for(Options(has_pin=True), Options(has_pin=True), collected=True)
        first, second = delivery.stops.all()
        StopProof.objects.create(stop=first, received_by="Dona Rita", pin_confirmed_at=timezone.now())
        StopProof.objects.create(stop=second, wrong_pins=5)

        content = card(dispatcher, delivery)

        assert "Received by Dona Rita" in content
        assert "confirmed at" in content
        assert "five wrong tries" in content


class TestCards:
    @pytest.mark.parametrize("route_status", lifecycle.IN_PROGRESS)
    def test_have_a_button_for_each_move_that_is_allowed(self, dispatcher, route_status):
        delivery = in_progress(route_status, stops=1)

        content = card(dispatcher, delivery)

        offered = [name for name in moves.MOVES if reverse("panel:board_move", args=[delivery.pk, name]) in content]
        assert offered == moves.allowed(delivery)

    def test_offer_to_end_a_second_attempt_at_the_stop_that_failed(self, dispatcher):
        delivery = asking_for(Options(on_failure=OnFailure.RETRY), Options(), collected=True)
        at = timezone.now()
        deliveries.fail(delivery=delivery, point="B", code="ABSENT", reason="", by=BY, at=at)

        content = card(dispatcher, delivery)

        recall = reverse("panel:board_move", args=[delivery.pk, "recall"])
        assert re.findall(rf"{recall}\?point=(\w)", content) == ["B"]
        assert "costs nothing" in dispatcher.get(recall, {"point": "B"}).content.decode()

    def test_show_addresses_people_and_phones_and_lead_to_the_delivery(self, dispatcher, shop):
        delivery = DeliveryFactory.create(
            payload=validated_payload(
                stops=1,
                dropoffs=[
                    Place(
                        point=PICKUP,
                        address={"street": "Rua Augusta", "number": "500", "complement": "Apto 42"},
                        contact_name="Maria",
                        contact_phone="+55 (11) 97777-0001",
                        external_id="order-7",
                    )
                ],
            )
        )

        content = " ".join(card(dispatcher, delivery).split())

        assert "Rua Augusta, 500, Apto 42" in content
        assert "Maria" in content
        assert 'href="tel:+5511977770001"' in content
        assert "order-7" in content
        assert reverse("panel:any_delivery", args=[delivery.pk]) in content

    def test_of_an_offer_show_where_it_goes_and_what_it_costs(self, dispatcher):
        delivery = in_progress(lifecycle.RouteStatus.AVAILABLE, stops=3)

        content = " ".join(card(dispatcher, delivery).split())

        assert '<li class="next"> <b class="label a">A</b>' in content
        assert '<li class="pending main"> <b class="label">B</b>' in content
        assert content.count("+2 stops") == 1
        assert str(money(delivery.shipping_value)) in content

    @pytest.mark.parametrize(
        ("steps", "named", "badge"),
        [
            ("", "Rua B, 1 order-1", "Scheduled"),
            ("accept", "Rua B, 1 order-1", "Driver assigned"),
            ("accept collect deliver", "Rua C, 2 order-2", "On the way"),
            ("accept collect fail", "Rua C, 2 order-2", "On the way, 1 of 2 not delivered"),
            ("accept collect fail last", "Rua B, 1 order-1", "Returning to the shop, 1 of 2 not delivered"),
        ],
    )
    def test_are_named_for_where_the_route_goes_and_the_order(self, dispatcher, steps, named, badge):
        at = timezone.now()
        dropoffs = [
            Place(point=point, address={"street": f"Rua {label}", "number": str(number)}, external_id=f"order-{number}")
            for number, (label, point) in enumerate(zip("BC", DROPOFFS, strict=False), start=1)
        ]
        window = Window(at + timedelta(hours=3) if steps == "" else None)
        pickup = Place(point=PICKUP, address={}, contact_name="Loja", contact_phone="1", window=window)
        delivery = DeliveryFactory.create(payload=validated_payload(pickup=pickup, dropoffs=dropoffs), at=at)
        arguments = {
            "accept": {"driver": DriverFactory.create()},
            "deliver": {"point": "B"},
            "fail": {"point": "B", "code": "ABSENT", "reason": ""},
            "last": {"point": "C"},
        }
        for step in steps.split():
            move = getattr(deliveries, "deliver" if step == "last" else step)
            delivery = move(delivery=delivery, by=BY, at=at, **arguments.get(step, {}))

        content = card(dispatcher, delivery)

        (labelled,) = re.findall(r'<article[^>]*?aria-labelledby="(.*?)"', content, re.DOTALL)
        parts = [re.search(rf'id="{key}".*?>(.*?)<', content, re.DOTALL) for key in labelled.split()]
        assert " ".join(part[1].strip() for part in parts if part) == named
        assert re.findall(r'<span class="badge [^>]*>(.*?)</span>', content) == [badge]

    def test_of_a_reverse_route_end_with_a(self, dispatcher):
        delivery = DeliveryFactory.create(stops=2, mode=lifecycle.Mode.REVERSE)

        labels = re.findall(r'<b class="label[ a]*">(\w)</b>', card(dispatcher, delivery))

        assert labels == ["B", "C", "A"]

    def test_of_an_offer_in_reverse_show_where_it_goes_where_it_begins_and_what_it_costs(self, dispatcher):
        delivery = in_progress(lifecycle.RouteStatus.AVAILABLE, stops=3, mode=lifecycle.Mode.REVERSE)

        content = " ".join(card(dispatcher, delivery).split())

        assert '<li class="next"> <b class="label a">A</b>' in content
        assert '<li class="pending main"> <b class="label">B</b>' in content
        assert '<li class="pending"> <b class="label">C</b>' in content
        assert "+2 stops" in content
        assert str(money(delivery.shipping_value)) in content

    def test_of_ended_and_foreign_routes_are_left_out(self, dispatcher, shop):
        ended = DeliveryFactory.create()
        deliveries.cancel(delivery=ended, reason="", by=BY, at=timezone.now())
        sandbox = DeliveryFactory.create(token=TokenFactory.create(sandbox=True))
        ids = ",".join(str(each.pk) for each in (shop.delivery, ended, sandbox))

        answer = dispatcher.get(CARDS, {"ids": ids}).json()

        assert [each["id"] for each in answer["routes"]] == [*answer["cards"]] == [str(shop.delivery.pk)]

    @in_turn("ids", ["x", "1,2", ",", "0190b5a0-7c3e-7d5a-9f00-000000000001,", "{}" * 20])
    def test_and_positions_of_no_ids_are_refused(self, dispatcher, shop, ids):
        assert [dispatcher.get(path, {"ids": ids}).status_code for path in (CARDS, POSITIONS)] == [400, 400]

    def test_are_read_so_many_at_once_and_not_more(self, dispatcher, shop):
        ids = [str(shop.delivery.pk)] * (MOST_CARDS + 1)

        assert dispatcher.get(CARDS, {"ids": ",".join(ids)}).status_code == 400
        assert dispatcher.get(CARDS, {"ids": ",".join(ids[1:])}).status_code == 200

    def test_need_as_many_queries_for_any_number_of_them(self, dispatcher, django_assert_num_queries):
        shown = [DeliveryFactory.create(accepted=True) for _number in range(5)]

        # Session, user, 2 of permissions; routes, stops; deliveries, stops; details, photos; links, new and read; goods
        with django_assert_num_queries(14):
            answer = dispatcher.get(CARDS, {"ids": ",".join(str(each.pk) for each in shown)}).json()
        assert len(answer["cards"]) == 5

    def test_after_one_message_are_the_same_for_all_in_a_language(self, dispatcher, django_assert_num_queries):
        delivery = DeliveryFactory.create()
        told = {"ids": f"{delivery.pk}:a1"}
        first = dispatcher.get(CARDS, told).json()
        deliveries.accept(delivery=delivery, driver=DriverFactory.create(), by=BY, at=timezone.now())

        with django_assert_num_queries(4):  # of the session and the rights
            again = dispatcher.get(CARDS, told).json()

        assert again == first
        assert dispatcher.get(CARDS, {"ids": f"{delivery.pk}:a2"}).json()["routes"][0]["status"] == "ACCEPTED"
        assert dispatcher.get(CARDS, {"ids": str(delivery.pk)}).json()["routes"][0]["status"] == "ACCEPTED"
        dispatcher.cookies[settings.LANGUAGE_COOKIE_NAME] = "pt-br"
        assert dispatcher.get(CARDS, told).json()["routes"][0]["status"] == "ACCEPTED"
        sandbox = dispatcher.get(CARDS, {**told, "environment": "sandbox"}).json()
        assert (sandbox["routes"], sandbox["cards"]) == ([], {})

    @pytest.mark.parametrize(("language", "word"), [("en", "Assign driver"), ("pt-br", "Designar entregador")])
    def test_are_pushed_in_the_language_of_the_board(self, db, language, word):
        delivery = DeliveryFactory.create()

        sent = board.Content("live", language)([f"delivery:{delivery.pk}"], f"c {language}")

        assert sent is not None
        assert word in json.loads(sent)["cards"][str(delivery.pk)]

    @pytest.mark.parametrize("tab", ["", "late"])
    def test_come_with_the_routes_for_those_that_are_due_first(self, dispatcher, monkeypatch, tab):
        monkeypatch.setattr(board, "_FIRST_CARDS", 2)
        now = timezone.now()
        ages = {age: DeliveryFactory.create(stops=1, at=now - timedelta(minutes=age)) for age in (20, 28, 24)}

        answer = dispatcher.get(ROUTES, {"first": tab}).json()

        assert set(answer["cards"]) == {str(ages[age].pk) for age in (28, 24)}

    def test_are_kept_for_few_messages(self, dispatcher, monkeypatch):
        monkeypatch.setattr(board, "_MOST_TOLD", 2)
        delivery = DeliveryFactory.create()

        for number in range(4):
            dispatcher.get(CARDS, {"ids": f"{delivery.pk}:b{number}"})

        assert [message for _environment, _id, message, _language in board._told] == ["b2", "b3"]

    def test_write_no_script_that_a_shop_sent(self, dispatcher):
        token = TokenFactory.create(integrator__name="</script><script>alert(1)</script>")
        delivery = DeliveryFactory.create(token=token, collected=True, stops=2)
        Driver.objects.filter(pk=delivery.driver_id).update(name="</script><script>alert(2)</script>")
        deliveries.fail(delivery=delivery, point="B", reason="<img src=x onerror=alert(3)>", by=BY, at=timezone.now())

        content = card(dispatcher, Delivery.objects.get(pk=delivery.pk))

        assert "<script>" not in content
        assert "<img" not in content
