"""Duty, offers and acceptance on phones."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from common.pages.page_updates import STREAM
from delivery.actions import deliveries, drivers, moves
from delivery.drivers import state
from delivery.geo.distance import Point
from delivery.lifecycle import Mode
from delivery.models import DeclinedOffer, Delivery, DriverDevice, DropoffOptions, LatestPosition
from delivery.payload import Place
from delivery.windows import NO_WINDOW, Window
from tests.cases import in_turn
from tests.delivery.drivers.phones import Phone, phone
from tests.delivery.scheduled import scheduled
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory, TokenFactory, validated_payload
from tests.zones import MANAUS, delivery_in

pytestmark = pytest.mark.django_db
BEYOND = Point(PICKUP.latitude + 0.3, PICKUP.longitude)  # the dispatch radius


def offer():
    return DeliveryFactory.create(stops=2)


def offer_at(point):
    token = TokenFactory.create(integrator__allow_any_pickup=True)
    pickup = Place(point=point, address={}, contact_name="Shop", contact_phone="+55 11 3333-0000")
    return DeliveryFactory.create(token=token, payload=validated_payload(stops=1, pickup=pickup))


class TestWindows:
    def test_are_told_with_an_offer_and_on_the_route(self):
        now = timezone.now()
        pickup = Window(now + timedelta(hours=1), now + timedelta(hours=2))
        delivery = scheduled(pickup=pickup, dropoffs=[Window(None, now + timedelta(hours=3))], at=now)
        ana = phone()
        assert ana.state()["offers"] == []
        deliveries.offer(delivery=delivery, by=BY, at=now)

        (offered,) = ana.state()["offers"]
        ana.post(f"offers/{delivery.pk}/accept/")
        route = ana.state()["route"]

        for points in (offered["points"], route["points"]):
            names = ("readyAt", "deadlineAt", "dueAt")
            told = [[point[name] and datetime.fromisoformat(point[name]) for name in names] for point in points]
            at_b = now + timedelta(hours=3)
            assert told == [[pickup.ready_at, pickup.deadline_at, pickup.deadline_at], [None, at_b, at_b]]

    def test_that_nobody_asked_for_are_those_of_the_rules_at_the_places_ahead(self):
        at = timezone.now()
        delivery, ana = DeliveryFactory.create(stops=1, at=at), phone()
        by_km = timedelta(minutes=4 * float(delivery.distance_km))

        def due(points):
            return [point["dueAt"] and datetime.fromisoformat(point["dueAt"]) - at for point in points]

        (offered,) = ana.state()["offers"]
        ana.post(f"offers/{delivery.pk}/accept/")
        collected = deliveries.collect(delivery=delivery, by=BY, at=at)
        on_the_way = ana.state()["route"]
        deliveries.fail(delivery=collected, point="B", code="ABSENT", reason="", by=BY, at=at)
        returning = ana.state()["route"]

        pickup = timedelta(minutes=30)
        assert due(offered["points"]) == [pickup, pickup + by_km]
        assert due(on_the_way["points"]) == [None, pickup + by_km]
        assert due(returning["points"]) == [pickup + by_km, None]


class TestDuty:
    def test_offers_come_on_duty_only(self):
        delivery, ana = offer(), phone(on_duty=False)
        assert ana.state()["offers"] == []

        answer = ana.post("duty/", {"onDuty": True}).json()

        assert answer["driver"]["onDuty"]
        assert answer["driver"]["reportsHere"]
        assert [item["deliveryId"] for item in answer["offers"]] == [str(delivery.pk)]

    @pytest.mark.parametrize(("on_duty", "has_route"), [(True, False), (False, True), (False, False)])
    def test_or_a_route_lets_the_phone_report(self, on_duty, has_route):
        ana = phone()
        if has_route:
            DeliveryFactory.create(accepted=True, driver=ana.driver)
        drivers.set_duty([ana.driver], on_duty=on_duty)

        assert ana.state()["driver"]["reportsHere"] is (on_duty or has_route)

    def test_does_not_end_with_a_route(self):
        ana, delivery = phone(), offer()
        ana.post(f"offers/{delivery.pk}/accept/")

        response = ana.post("duty/", {"onDuty": False})

        assert (response.status_code, response.json()["code"]) == (409, "route_still_open")

    def test_is_a_boolean(self):
        ana = phone(on_duty=False)

        values: list[Any] = [None, 1, "true", []]

        assert [ana.post("duty/", {"onDuty": value}).status_code for value in values] == [422] * 4
        ana.driver.refresh_from_db()
        assert not ana.driver.on_duty


class TestOffers:
    def test_show_the_whole_route_without_contacts(self, rules):
        rules(driver_share_percent=70)
        delivery = offer()

        (shown,) = phone().state()["offers"]

        assert [point["label"] for point in shown["points"]] == ["A", "B", "C"]
        assert shown["toPickupKm"] == 0.0
        assert shown["share"] == round(float(delivery.shipping_value) * 0.7, 2)
        assert shown["shop"] == delivery.integrator.name
        assert "contacts" not in str(shown)
        assert delivery.contact_phone not in str(shown)

    @in_turn(
        ("packages", "parcels"),
        [
            ([], None),
            ([{"description": "Flowers"}], {"count": 1, "largestCm": [], "kg": None}),
            ([{"height": 10, "weight": None, "quantity": None}], {"count": 1, "largestCm": [10], "kg": None}),
            ([{"weight": 2.5, "quantity": 2}, {"weight": 1}], {"count": 3, "largestCm": [], "kg": 6}),
            (
                [{"height": 20, "width": 40, "length": 30, "quantity": 3}, {"height": 1, "width": 2, "length": 50}],
                {"count": 4, "largestCm": [50, 2, 1], "kg": None},
            ),
        ],
    )
    def test_say_how_many_parcels_there_are_how_large_and_how_heavy(self, packages, parcels):
        DeliveryFactory.create(payload=validated_payload(stops=1, packages=packages))

        assert phone().state()["offers"][0]["parcels"] == parcels

    def test_hide_amounts_without_a_share(self):
        offer()

        assert phone().state()["offers"][0]["share"] is None

    @pytest.mark.parametrize(
        "driver", [{"vehicle_type": "CAR"}, {"environment": "sandbox"}], ids=["other vehicle", "sandbox driver"]
    )
    def test_are_those_that_the_driver_could_accept(self, driver):
        offer()

        assert phone(**driver).state()["offers"] == []

    @pytest.mark.parametrize("has_position", [True, False])
    def test_of_one_place_are_the_oldest_in_their_order(self, monkeypatch, has_position):
        """The first row was written again, so the table has it last."""
        monkeypatch.setattr(state, "_MOST_OFFERS", 2)
        now = timezone.now()
        oldest, second, _third = (DeliveryFactory.create(stops=2, at=now) for _offer in range(3))
        held = deliveries.accept(delivery=oldest, driver=DriverFactory.create(), by=BY, at=now)
        deliveries.release(delivery=held, by=BY, at=now)
        driver = DriverFactory.create(**({"at_point": PICKUP} if has_position else {}))

        offers = state._offers(driver, now)

        assert offers == [oldest, second]

    def test_of_a_driver_whose_position_is_unknown_have_no_distance(self):
        offer()
        ana = phone()
        ana.driver.positions.all().delete()
        ana.driver.latest.delete()

        assert ana.state()["offers"][0]["toPickupKm"] is None

    def test_are_the_nearest_first_from_where_the_driver_was_last(self, settings):
        far, near = offer_at(BEYOND), offer_at(PICKUP)
        ana, seen = phone(), timezone.now() - timedelta(hours=3)
        LatestPosition.objects.filter(pk=ana.driver.pk).update(recorded_at=seen)

        offers = ana.state()["offers"]

        shown = [(str(near.pk), 0.0), (str(far.pk), 33.2)]
        assert [(item["deliveryId"], item["toPickupKm"]) for item in offers] == shown
        assert {datetime.fromisoformat(item["seenAt"]) for item in offers} == {seen}

    def test_of_a_driver_seen_now_are_within_reach_and_say_no_moment(self):
        near, _far = offer_at(PICKUP), offer_at(BEYOND)

        (shown,) = phone().state()["offers"]

        assert (shown["deliveryId"], shown["seenAt"]) == (str(near.pk), None)


class TestState:
    def test_takes_as_many_queries_for_three_stops_as_for_one(self, django_assert_num_queries):
        ana, bia = phone(), phone()
        DeliveryFactory.create(stops=1, accepted=True, driver=ana.driver)
        long = DeliveryFactory.create(stops=3, accepted=True, driver=bia.driver)
        DropoffOptions.objects.create(stop=long.ordered_stops[1], instructions="Ring twice")

        with CaptureQueriesContext(connection) as short:
            ana.state()
        with django_assert_num_queries(len(short)):
            points = bia.state()["route"]["points"]

        assert [point["instructions"] for point in points[1:]] == ["", "Ring twice", ""]


class TestUpdates:
    def test_are_of_the_session_the_driver_and_the_offers_that_fit(self, ana):
        topics = ana.get("updates/").wsgi_request.META[STREAM].topics

        device = DriverDevice.objects.get()
        assert topics == (f"session:{device.pk}", f"driver:{ana.driver.pk}", "offers:live:MOTORCYCLE")


class TestRouteThatIsGone:
    @pytest.fixture
    def delivery(self, ana):
        return DeliveryFactory.create(stops=1, accepted=True, driver=ana.driver)

    @pytest.mark.parametrize("is_taken_over", [False, True])
    def test_is_summed_up_when_it_was_finished(self, ana, rules, is_taken_over):
        rules(driver_share_percent=50)
        start = timezone.now() - timedelta(minutes=12)
        if is_taken_over:
            delivery = DeliveryFactory.create(stops=1, accepted=True, at=start - timedelta(minutes=5))
            deliveries.reassign(delivery=delivery, driver=ana.driver, by=BY, at=start)
        else:
            delivery = DeliveryFactory.create(stops=1, accepted=True, driver=ana.driver, at=start)
        for name in ("collect", "fail", "return"):
            fields = {"point": "" if name == "collect" else "B", "code": "ABSENT"}
            moves.perform(name, delivery=delivery, fields=fields, by=BY, at=start + timedelta(minutes=12))

        answer = ana.client.get("/driver/state/", headers={"rota-route": str(delivery.pk)}).json()

        summary = answer["finished"]
        assert (summary["delivered"], summary["failed"], summary["minutes"], summary["onTime"]) == (0, 1, 12, True)
        assert summary["share"] == round(float(delivery.shipping_value) / 2, 2)

    @pytest.mark.parametrize(
        ("deadlines", "late"),
        [((), [("", None, 90)]), ((60, 120), [("B", 60, 70)]), ((None, 75), [("C", 75, 80)]), ((75, 90), [])],
    )
    def test_tells_what_was_late_and_by_which_deadline(self, ana, deadlines, late):
        start = timezone.now() - timedelta(minutes=90)
        windows = [
            Window(None, minutes and start + timedelta(minutes=minutes)) for minutes in deadlines or (None, None)
        ]
        delivery = scheduled(pickup=Window(), dropoffs=windows, at=start)
        for name, point, minutes in (
            ("accept", "", 0),
            ("collect", "", 1),
            ("fail", "B", 70),
            ("deliver", "C", 80),
            ("return", "", 90),
        ):
            fields = {"point": point, "code": "ABSENT", "driver": str(ana.driver.pk)}
            moves.perform(name, delivery=delivery, fields=fields, by=BY, at=start + timedelta(minutes=minutes))

        answer = ana.client.get("/driver/state/", headers={"rota-route": str(delivery.pk)}).json()

        due = timedelta(minutes=30 + 4 * float(delivery.distance_km))
        told = [
            (each["point"], *(datetime.fromisoformat(each[name]) - start for name in ("dueAt", "at")))
            for each in answer["finished"]["late"]
        ]
        assert told == [
            (point, due if by is None else timedelta(minutes=by), timedelta(minutes=at)) for point, by, at in late
        ]
        assert answer["finished"]["onTime"] == (not late)

    @pytest.mark.parametrize("last", ["collect", "cancel"])
    def test_counts_what_was_collected_in_mode_reverse_also_before_a_cancellation(self, ana, last):
        delivery = DeliveryFactory.create(stops=2, mode=Mode.REVERSE, accepted=True, driver=ana.driver)
        for name, point in (("collect", "B"), (last, "C"), ("return", "")):
            moves.perform(name, delivery=delivery, fields={"point": point}, by=BY, at=timezone.now())

        with CaptureQueriesContext(connection) as captured:
            answer = ana.client.get("/driver/state/", headers={"rota-route": str(delivery.pk)}).json()

        assert sum('FROM "delivery_transition"' in each["sql"] for each in captured) == 1
        collected = 2 if last == "collect" else 1
        summary = answer["finished"]
        assert (summary["mode"], summary["delivered"], summary["failed"]) == ("REVERSE", collected, 2 - collected)

    @in_turn(
        ("names", "why"),
        [
            (["cancel"], "cancelled"),
            (["release"], "taken"),
            (["reassign", "cancel"], "taken"),  # its cancellation is the other driver's affair
            (["reassign", "collect", "deliver"], "taken"),  # and what that one has done
            (["collect", "deliver"], None),
        ],
    )
    def test_is_explained_to_the_phone_that_shows_it_unless_it_was_finished(self, ana, delivery, names, why):
        driver = str(DriverFactory.create().pk)
        for name in names:
            fields = {"driver": driver, "point": "" if name == "collect" else "B"}
            moves.perform(name, delivery=delivery, fields=fields, by=BY, at=timezone.now())

        answer = ana.client.get("/driver/state/", headers={"rota-route": str(delivery.pk)}).json()

        assert answer["route"] is None
        assert answer["gone"] == (why and {"deliveryId": str(delivery.pk), "why": why})
        assert (answer["finished"] is None) is (why is not None)

    def test_is_not_looked_for_by_another_text(self, ana):
        for header in ("", "x", "0190b5a0", "' OR 1=1"):
            assert ana.client.get("/driver/state/", headers={"rota-route": header}).json()["gone"] is None

    def test_is_not_the_one_that_the_driver_holds(self, ana, delivery):
        answer = ana.client.get("/driver/state/", headers={"rota-route": str(delivery.pk)}).json()

        assert (answer["route"]["deliveryId"], answer["gone"]) == (str(delivery.pk), None)


class TestDecline:
    def test_hides_the_offer_from_this_driver_alone(self):
        ana, bia, delivery = phone(), phone(), offer()

        answers = [ana.post(f"offers/{delivery.pk}/decline/").json()["offers"] for _try in range(2)]

        assert answers == [[], []]
        assert [item["deliveryId"] for item in bia.state()["offers"]] == [str(delivery.pk)]
        assert [row.driver for row in DeclinedOffer.objects.all()] == [ana.driver]

    def test_lets_the_nearest_other_driver_have_the_route(self):
        ana, bia, delivery = phone(), phone(), offer()
        ana.post(f"offers/{delivery.pk}/decline/")

        accepted = deliveries.accept(delivery=delivery, driver=None, by=BY, at=timezone.now())

        assert accepted.driver == bia.driver

    def test_of_a_taken_route_is_refused(self):
        ana, delivery = phone(), DeliveryFactory.create(accepted=True)

        response = ana.post(f"offers/{delivery.pk}/decline/")

        assert response.json()["code"] == "route_taken"
        assert not DeclinedOffer.objects.exists()


class TestZone:
    def test_is_that_of_the_route_else_of_where_the_driver_is(self):
        ana = phone()
        assert ana.state()["zone"] == "America/Sao_Paulo"

        there = Phone(DriverFactory.create(at_point=MANAUS.point))
        delivery_in(MANAUS, pickup=NO_WINDOW, dropoff=NO_WINDOW, driver=there.driver, accepted=True)
        LatestPosition.objects.filter(pk=there.driver.pk).delete()

        assert there.state()["zone"] == "America/Manaus"


class TestAccept:
    def test_gives_the_route_with_its_contacts(self):
        ana, delivery = phone(), offer()

        answer = ana.post(f"offers/{delivery.pk}/accept/").json()

        assert answer["offers"] == []
        assert answer["route"]["deliveryId"] == str(delivery.pk)
        assert answer["route"]["next"] == ["collect"]
        point = answer["route"]["points"][0]
        assert point["contacts"]["phoneNumber"] == delivery.contact_phone
        assert point["phone"]["call"] == "tel:+551133330000"
        assert point["phone"]["chat"] == "https://wa.me/551133330000"
        delivery.refresh_from_db()
        assert delivery.driver == ana.driver

    def test_may_be_repeated_after_a_lost_answer(self):
        ana, delivery = phone(), offer()

        answers = [ana.post(f"offers/{delivery.pk}/accept/").status_code for _try in range(2)]

        assert answers == [200, 200]
        assert delivery.transitions.filter(trigger="accept").count() == 1
        deliveries.cancel(delivery=delivery, reason="", by=BY, at=timezone.now())
        assert ana.post(f"offers/{delivery.pk}/accept/").json()["code"] == "move_refused"

    def test_tells_the_loser_why(self):
        ana, bia, delivery = phone(), phone(), offer()
        ana.post(f"offers/{delivery.pk}/accept/")

        response = bia.post(f"offers/{delivery.pk}/accept/")

        assert response.json()["code"] == "route_taken"
        delivery.refresh_from_db()
        assert delivery.driver == ana.driver

    def test_knows_no_delivery_of_the_other_environment(self):
        ana = phone()
        sandbox = DeliveryFactory.create(token=TokenFactory.create(sandbox=True))

        response = ana.post(f"offers/{sandbox.pk}/accept/")

        assert response.status_code == 404
        assert not Delivery.objects.filter(driver=ana.driver).exists()
