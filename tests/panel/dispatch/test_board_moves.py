"""Moves on the dispatch board: their dialogs, what they do, refusals."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.urls import reverse
from django.utils import timezone

from delivery.actions import deliveries
from delivery.drivers import moves as driver_moves
from delivery.drivers.moves import SentMove
from delivery.lifecycle import OnFailure, Trigger
from delivery.models import Delivery, Stop, Tariff, Transition
from delivery.payload import Options
from tests.cases import in_turn
from tests.delivery.proofs import asking_for
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory, TariffFactory


def move(client, delivery, name, **data):
    return client.post(reverse("panel:board_move", args=[delivery.pk, name]), data)


def form(client, delivery, name, **query):
    return client.get(reverse("panel:board_move", args=[delivery.pk, name]), query)


def status(delivery):
    found = Delivery.objects.get(pk=delivery.pk)
    return found.status, found.route_status


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
        assert not response.context["is_error"]
        assert set(Transition.objects.exclude(trigger="request").values_list("by", flat=True)) == {"user dispatcher"}

    @in_turn(
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
        assert response.context["is_error"]
        assert status(shop.delivery) == ("PENDING", "AVAILABLE")

    def test_that_are_refused_after_the_page_was_left_are_named_on_the_next_one(self, dispatcher, shop):
        collect = reverse("panel:board_move", args=[shop.delivery.pk, "collect"])
        dispatcher.post(collect, HTTP_ROTA_LEAVING="yes")

        first, second = (dispatcher.get(reverse("panel:drivers")).content.decode() for _visit in range(2))

        assert f"{shop.integrator.name} …{str(shop.delivery.pk)[-6:]}: Cannot collect while" in first
        assert "Cannot collect" not in second

    def test_a_form_that_came_too_late_says_so(self, dispatcher):
        delivery = DeliveryFactory.create(accepted=True)

        response = form(dispatcher, delivery, "accept")

        assert "not possible any more" in response.content.decode()
        assert response["HX-Retarget"] == "#board-message"

    @pytest.mark.parametrize("name", ["expire", "request", "delete"])
    def test_there_is_no_other(self, dispatcher, shop, name):
        assert move(dispatcher, shop.delivery, name).status_code == 404


class TestReasonsOfAFailure:
    @pytest.mark.parametrize(
        ("sent", "stored"),
        [
            ({"code": "ADDRESS_NOT_FOUND"}, ("ADDRESS_NOT_FOUND", "Address not found")),
            ({"code": "OTHER", "reason": "cachorro solto"}, ("OTHER", "cachorro solto")),
            ({"code": "CLOSED", "reason": " falta o bloco "}, ("CLOSED", "Place closed: falta o bloco")),
        ],
    )
    def test_are_chosen_or_written(self, dispatcher, sent, stored):
        delivery = DeliveryFactory.create(collected=True, stops=1)

        move(dispatcher, delivery, "fail", point="B", **sent)

        stop = Stop.objects.get(delivery=delivery)
        assert (stop.failure_code, stop.failure) == stored

    def test_are_offered_in_the_language_of_the_page(self, dispatcher):
        delivery = DeliveryFactory.create(collected=True, stops=1)
        path = reverse("panel:board_move", args=[delivery.pk, "fail"])

        content = dispatcher.get(path, {"point": "B"}, HTTP_ACCEPT_LANGUAGE="pt-br").content.decode()

        assert "> Ninguém no local</label>" in content


class TestCancelling:
    @pytest.mark.parametrize(
        ("traits", "percent", "text"),
        [
            ({}, 30, "Nobody pays a fee: no driver is assigned."),
            ({"accepted": True}, 30, "fee R$ 6.01"),
            ({"accepted": True}, 0, "Cancelling now costs nothing."),
            ({"collected": True}, 30, "fee R$ 20.04"),
        ],
    )
    def test_names_the_fee_before_it_is_charged(self, dispatcher, traits, percent, text):
        TariffFactory.create()
        Tariff.objects.update(cancel_percent_accepted=percent)

        content = form(dispatcher, DeliveryFactory.create(stops=2, **traits), "cancel").content.decode()

        assert text in content

    def test_asks_again_when_the_fee_has_changed_meanwhile(self, dispatcher):
        delivery = DeliveryFactory.create(accepted=True)
        dialog = form(dispatcher, delivery, "cancel").content.decode()
        [shown] = re.findall(r'name="route_status" value="(\w+)"', dialog)
        deliveries.collect(delivery=delivery, by=BY, at=timezone.now())

        response = move(dispatcher, delivery, "cancel", route_status=shown)

        assert status(delivery) == ("COLLECTED", "COLLECTED")
        assert "the fee is another one" in response.content.decode()
        assert response["HX-Retarget"] == "#move"

        move(dispatcher, delivery, "cancel", route_status="COLLECTED", reason="loja fechou")

        assert status(delivery) == ("FAILED", "RETURNING")
        assert Delivery.objects.get(pk=delivery.pk).cancel_reason == "loja fechou"

    def test_names_the_fee_of_goods_that_were_collected_before_it(self, dispatcher):
        TariffFactory.create()
        now = timezone.now()
        delivery = DeliveryFactory.create(stops=2, accepted=True, at=now - timedelta(minutes=9))
        deliveries.cancel(delivery=delivery, reason="", by=BY, at=now - timedelta(minutes=5))
        sent = SentMove(uuid4(), delivery.pk, Trigger.COLLECT, now - timedelta(minutes=7))
        driver_moves.perform(driver=delivery.driver, sent=sent, at=now)

        content = " ".join(form(dispatcher, delivery, "charge").content.decode().split())

        assert "pays <b>R$ 20.04</b> instead of R$ 6.01" in content
        assert "fee R$ 20.04" in content


class TestChangingTheDriver:
    def test_releases_the_route(self, dispatcher):
        delivery = DeliveryFactory.create(accepted=True)

        response = move(dispatcher, delivery, "release")

        assert status(delivery) == ("PENDING", "AVAILABLE")
        assert "offered to drivers again" in response.content.decode()

    def test_offers_others_than_the_driver_who_holds_it(self, dispatcher):
        holder, other = DriverFactory.create(at_point=PICKUP), DriverFactory.create(at_point=PICKUP)
        delivery = DeliveryFactory.create(accepted=True, driver=holder)

        content = form(dispatcher, delivery, "reassign").content.decode()

        assert f'value="{other.pk}"' in content
        assert f'value="{holder.pk}"' not in content

    def test_assigns_the_one_that_is_chosen(self, dispatcher):
        delivery, other = DeliveryFactory.create(accepted=True), DriverFactory.create(name="Bia")

        response = move(dispatcher, delivery, "reassign", driver=str(other.pk))

        assert Delivery.objects.get(pk=delivery.pk).driver == other
        assert "assigned to Bia" in response.content.decode()

    def test_are_recorded_once_for_a_visit_that_two_dispatchers_record(self, dispatcher):
        delivery = asking_for(Options(on_failure=OnFailure.RETRY), Options(), collected=True)
        seen = form(dispatcher, delivery, "fail").context["form"].fields["untried"].initial

        responses = [move(dispatcher, delivery, "fail", point="B", code="ABSENT", untried=seen) for _each in range(2)]

        assert seen == "BC"
        assert [response.context["is_error"] for response in responses] == [False, True]
        assert Stop.objects.get(delivery=delivery, index=0).status == "COLLECTED"
