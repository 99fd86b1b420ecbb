"""Anonymising deliveries and drivers: what goes, what stays, and that nobody else's rows change."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.core.files.base import ContentFile
from django.db import connection, transaction
from django.utils import timezone

from common.mail.models import Kind, Message
from common.postgresql.forgetting import forgetting
from common.postgresql.invariants import find_broken
from delivery import bodies, invariants
from delivery.actions import deliveries, drivers, proofs
from delivery.actions import forgetting as forgetting_deliveries
from delivery.errors import PhotoTooLate
from delivery.models import (
    Delivery,
    Driver,
    DriverPosition,
    DropoffOptions,
    DutyChange,
    LatestPosition,
    ProofPhoto,
    ReceiverLink,
    Stop,
    Transition,
    WebhookEvent,
)
from delivery.payload import Place
from tests.cases import in_turn
from tests.common.brazil.test_phones import UNUSUAL
from tests.delivery.personal_data import (
    JOAO,
    MARIA,
    SHOP,
    TEXTS,
    closed,
    everything,
    forget_driver,
    requested,
    texts_of,
)
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory, TokenFactory, validated_payload

pytestmark = pytest.mark.django_db
INVENTED: list[tuple[Any, dict[str, Any]]] = [
    (Delivery, {"contact_name": "Other"}),
    (Delivery, {"shipping_value": 1}),
    (Delivery, {"status": "DELIVERED"}),
    (Stop, {"address": {"city": "Other"}}),
    (Stop, {"latitude": -23.5}),
    (Stop, {"external_id": ""}),
    (Transition, {"reason": "other"}),
    (Transition, {"status": "PENDING"}),
    (WebhookEvent, {"name": "PENDING"}),
]


class TestForgetEnded:
    def test_leaves_nothing_about_people_in_what_ended_long_ago(self):
        now = timezone.now()
        old = closed(MARIA, JOAO, at=now - timedelta(days=181))
        before = texts_of(old)
        assert all(text in before for text in TEXTS)

        assert forgetting_deliveries.forget_ended(at=now) == 1

        left = texts_of(old)
        assert [
            text for text in (*TEXTS, "Shop", "3333-0000", "96666-0002", "Driver", "98888-0000") if text in left
        ] == []
        assert not DropoffOptions.objects.exists()

    def test_keeps_money_distance_statuses_and_the_city(self):
        now = timezone.now()
        old = closed(MARIA, at=now - timedelta(days=181))
        history = list(Transition.objects.values_list("trigger", "status", "route_status", "by", "at"))

        forgetting_deliveries.forget_ended(at=now)

        kept = Delivery.objects.get(pk=old.pk)
        for column in ("status", "route_status", "shipping_value", "distance_km", "driver_id", "closed_at", "packages"):
            assert getattr(kept, column) == getattr(old, column)
        assert kept.forgotten_at == now
        stop = kept.stops.get()
        assert (stop.external_id, stop.status, stop.latitude) == ("o-1", "FAILED", -23.6)
        assert stop.address == {"city": "São Paulo", "state": "SP", "country": "BR"}
        assert list(Transition.objects.values_list("trigger", "status", "route_status", "by", "at")) == history
        body = json.loads(WebhookEvent.objects.filter(delivery=old).latest("sequence").body)
        assert body["orders"] == [bodies.order(stop)]
        assert body["driver"] == {"name": "", "phone": "", "coordinates": {"latitude": None, "longitude": None}}
        assert body["route"]["fixedValue"] == float(old.shipping_value)
        assert [finding.name for finding in find_broken(invariants.ALL)] == []

    def test_leaves_newer_and_open_ones_as_they_are(self):
        now = timezone.now()
        old = closed(MARIA, at=now - timedelta(days=180, microseconds=1))
        closed(MARIA, at=now - timedelta(days=180))
        requested(MARIA, at=now - timedelta(days=400))
        others = everything(without=[old])

        forgetting_deliveries.forget_ended(at=now)

        assert everything(without=[old]) == others

    def test_does_each_once_in_bounded_batches(self, monkeypatch):
        monkeypatch.setattr(forgetting_deliveries, "BATCH", 1)
        monkeypatch.setattr(forgetting_deliveries, "MOST_BATCHES", 2)
        now = timezone.now()
        for _number in range(3):
            closed(MARIA, at=now - timedelta(days=181))

        assert [forgetting_deliveries.forget_ended(at=now) for _run in range(3)] == [2, 1, 0]

    def test_does_nothing_where_it_is_switched_off(self, settings):
        settings.FORGET_DELIVERY_DAYS = 0
        closed(MARIA, at=timezone.now() - timedelta(days=4000))
        before = everything()

        assert forgetting_deliveries.forget_ended(at=timezone.now()) == 0

        assert everything() == before


class TestForgettingOnePerson:
    def forget(self, phone, *, until=None):
        now = timezone.now()
        return forgetting_deliveries.forget_stops_of(phone, until=until or now, at=now)

    def test_finds_the_number_however_it_is_written_and_no_similar_one(self):
        closed(MARIA)
        same = ["11977770001", "(11) 97777-0001", "+5511977770001", "0055 11 97777 0001"]
        others = ["21 97777-0001", "97777-0001", "11 7777-0001"]

        found = {
            phone: forgetting_deliveries.stops_of(phone, until=timezone.now()).count() for phone in (*same, *others)
        }

        assert found == {**dict.fromkeys(same, 1), **dict.fromkeys(others, 0)}

    @in_turn(("text", "numbers"), UNUSUAL)
    def test_finds_every_number_of_a_row_that_is_written_in_an_unusual_way(self, text, numbers):
        pickup = Place(point=PICKUP, address={}, contact_name="Shop", contact_phone=text)
        shop = DeliveryFactory.create(payload=validated_payload(pickup=pickup))
        stop = closed(text).stops.get()
        closed("11 90000-0000 ramal 12")
        DriverFactory.create(phone="11 90000-0000 ramal 12")
        driver, now = DriverFactory.create(phone=text), timezone.now()

        for number in numbers:
            assert [*forgetting_deliveries.stops_of(number, until=now)] == [stop]
            assert shop in [*forgetting_deliveries.pickups_of(number, until=now)]  # others are of 11 3333-0000 too
            assert [*forgetting_deliveries.drivers_of(number)] == [driver]
        assert not forgetting_deliveries.stops_of("11912345678", until=now).exists()

    def test_changes_no_row_and_no_stop_of_anybody_else(self):
        shared, foreign = closed(MARIA, JOAO), closed(JOAO)
        others = everything(without=[shared])
        joaos = Stop.objects.filter(delivery=shared, index=1).values().get()
        orders_before = json.loads(WebhookEvent.objects.filter(delivery=shared).latest("sequence").body)["orders"]

        self.forget(MARIA)

        assert everything(without=[shared]) == others
        assert Stop.objects.filter(delivery=shared, index=1).values().get() == joaos
        assert DropoffOptions.objects.filter(stop__delivery=shared).count() == 1
        body = json.loads(WebhookEvent.objects.filter(delivery=shared).latest("sequence").body)
        assert body["orders"][1] == orders_before[1]
        assert body["orders"][0]["address"]["street"] == ""
        assert body["driver"]["name"] != ""
        reasons = shared.transitions.filter(trigger="fail").values_list("point", "reason")
        assert sorted(reasons) == [("B", ""), ("C", "Maria ausente")]
        assert foreign.stops.get().contact_phone == JOAO

    def test_empties_the_reason_of_a_cancellation(self):
        cancelled = requested(MARIA, JOAO)
        now = timezone.now()
        deliveries.cancel(delivery=cancelled, reason="Maria desistiu", by=BY, at=now)

        forgetting_deliveries.forget_stops_of(MARIA, until=now, at=now + timedelta(days=5))

        cancelled.refresh_from_db()
        assert cancelled.cancel_reason == ""
        assert set(cancelled.transitions.values_list("reason", flat=True)) == {""}

    def test_leaves_open_deliveries_until_they_end(self):
        open_ = requested(MARIA, collected=True)
        before = everything()

        assert self.forget(MARIA) == 0
        assert everything() == before

        deliveries.deliver(delivery=open_, point="B", by=BY, at=timezone.now())
        assert self.forget(MARIA) == 1

    def test_waits_until_the_webhooks_are_sent_for_some_days(self):
        token = TokenFactory.create()
        token.integrator.endpoints.update(url="http://127.0.0.1:9/")
        ended = closed(MARIA, token=token)
        now = timezone.now()

        assert self.forget(MARIA) == 0
        assert forgetting_deliveries.forget_stops_of(MARIA, until=now, at=now + timedelta(days=5)) == 1

        assert ended.stops.get().contact_phone == ""

    def test_leaves_what_was_requested_later(self):
        until = timezone.now()
        closed(MARIA, at=until + timedelta(seconds=1))
        before = everything()

        assert self.forget(MARIA, until=until) == 0
        assert forgetting_deliveries.forget_pickups_of(SHOP, until=until, at=timezone.now()) == 0

        assert everything() == before

    def test_deletes_photos_with_their_files(self, photo_folder):
        ended = closed(MARIA)
        now = timezone.now()
        photo = ProofPhoto.objects.create(
            stop=ended.stops.get(), driver=ended.driver, upload=ended.pk, width=1, height=1, size=1,
            taken_at=now, received_at=now,
        )  # fmt: skip  # columns
        proofs.files().save(photo.name, ContentFile(b"x"))

        self.forget(MARIA)

        assert not ProofPhoto.objects.exists()
        assert [path for path in photo_folder.rglob("*") if path.is_file()] == []
        assert not ReceiverLink.objects.exists()

    def test_deletes_the_e_mails_of_the_stop_and_no_others_to_the_address(self, mailbox):
        ended, open_ = closed(MARIA), requested(JOAO, collected=True)
        now = timezone.now()
        values = {"created_at": now, "expires_at": now, "due_at": now, "subject": "x"}
        reset = Message.objects.create(kind=Kind.PASSWORD_RESET, recipient="maria@example.com", **values)
        waiting = Message.objects.get(created_at=open_.transitions.get(trigger="collect").at)
        assert Message.objects.filter(created_at=ended.transitions.get(trigger="collect").at).count() == 1

        self.forget(MARIA)

        assert set(Message.objects.all()) == {reset, waiting}

    def test_takes_no_photo_afterwards(self, photo_folder):
        ended = closed(MARIA)
        self.forget(MARIA)

        with pytest.raises(PhotoTooLate):
            proofs.add(
                driver=ended.driver, upload=ended.pk, delivery=ended.pk, point="B", content=b"x",
                taken_at=timezone.now(), at=timezone.now(),
            )  # fmt: skip  # arguments

        assert not ProofPhoto.objects.exists()

    def test_forgets_the_contact_at_a(self):
        ended, now = closed(JOAO), timezone.now()

        assert forgetting_deliveries.forget_pickups_of(SHOP, until=now, at=now) == 1

        kept = Delivery.objects.get(pk=ended.pk)
        assert (kept.contact_name, kept.contact_phone, kept.forgotten_at) == ("", "", None)
        assert kept.stops.get().contact_phone == JOAO

    def test_reads_by_an_index(self):
        DeliveryFactory.create_batch(40)  # with few rows other plans are as cheap
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE delivery_stop, delivery_delivery")
            cursor.execute("SET LOCAL enable_seqscan = off")

        plan = forgetting_deliveries.stops_of(JOAO, until=timezone.now()).explain()
        assert "stop_phone" in plan

    def test_reads_by_indexes_with_what_is_written_in_an_unusual_way(self):
        DeliveryFactory.create_batch(40)
        closed("11 96555-6666 ramal 12")
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE delivery_stop, delivery_delivery")
            cursor.execute("SET LOCAL enable_seqscan = off")
            # As with many rows: with few, a scan of all is as cheap as two look-ups.
            cursor.execute("UPDATE pg_class SET reltuples = 1000000 WHERE relname IN ('delivery_stop', 'stop_phone')")

        plan = forgetting_deliveries.stops_of("11965556666", until=timezone.now()).explain()

        assert ("stop_phone" in plan, "stop_unusual_phone" in plan) == (True, True), plan


class TestForgettingADriver:
    def test_leaves_a_driver_who_works_for_us(self):
        DriverFactory.create(phone=MARIA, at_point=PICKUP)
        before = everything()

        assert forget_driver(MARIA) == 0

        assert everything() == before
        assert DriverPosition.objects.exists()

    def test_erases_name_number_and_positions_of_one_who_does_not(self, monkeypatch):
        monkeypatch.setattr(forgetting_deliveries, "BATCH", 1)
        driver, other = DriverFactory.create(phone=MARIA, name="Maria", at_point=PICKUP), DriverFactory.create()
        drivers.set_position(driver=other, point=PICKUP, by=BY, at=timezone.now())
        mine = []
        for _route in range(3):
            mine.append(requested(JOAO, accepted=True, driver=driver))
            deliveries.collect(delivery=mine[-1], by="driver Maria", at=timezone.now())
            deliveries.deliver(delivery=mine[-1], point="B", by="driver Maria", at=timezone.now())
        theirs = requested(JOAO, accepted=True, driver=other)
        Driver.objects.filter(pk=driver.pk).update(active=False)
        others = everything(without=mine)["delivery_webhookevent"]

        assert [forget_driver(MARIA) for _run in range(2)] == [1, 0]

        driver.refresh_from_db()
        assert (driver.name, driver.phone) == ("–", "")  # as pages show what is not there
        rows = (DriverPosition.objects.get(), LatestPosition.objects.get(), DutyChange.objects.get())
        assert {row.driver for row in rows} == {other}
        for route in mine:
            assert "Maria" not in texts_of(route).replace("Maria Souza", "")
            assert route.transitions.filter(by="driver").count() == 2
        assert everything(without=mine)["delivery_webhookevent"] == others
        assert theirs.driver == other

    def test_leaves_nothing_in_deliveries_that_passed_to_others_nor_of_former_names(self):
        driver = DriverFactory.create(phone=MARIA, name="Maria Lima")
        other = DriverFactory.create(phone="+55 11 95555-0005", name="Rui Alves")
        now, route = timezone.now(), requested(JOAO, name="João Dias")
        deliveries.accept(delivery=route, driver=driver, by="driver Maria Lima", at=now)
        deliveries.release(delivery=route, by=BY, at=now)
        deliveries.accept(delivery=route, driver=other, by="driver Rui Alves", at=now)
        deliveries.reassign(delivery=route, driver=driver, by=BY, at=now)
        Driver.objects.filter(pk=driver.pk).update(name="Maria Costa", phone="+55 11 94444-0004")
        deliveries.reassign(delivery=route, driver=other, by=BY, at=now)
        deliveries.collect(delivery=route, by="driver Rui Alves", at=now)
        deliveries.deliver(delivery=route, point="B", by="driver Rui Alves", at=now)
        Driver.objects.filter(pk=driver.pk).update(active=False)
        before = texts_of(route)
        assert all(text in before for text in ("Maria Lima", "97777-0001"))

        assert forget_driver("+55 11 94444-0004") == 1

        left = texts_of(route)
        assert [text for text in ("Maria", "Lima", "Costa", "97777", "94444") if text in left] == []
        told = [
            json.loads(body)["driver"]["name"]
            for body in route.events.order_by("sequence").values_list("body", flat=True)
        ]
        assert told == ["", "", "", "Rui Alves", "", "Rui Alves", "Rui Alves", "Rui Alves"]
        by = list(route.transitions.values_list("by", flat=True))
        assert by == [BY, "driver", BY, "driver Rui Alves", BY, BY, "driver Rui Alves", "driver Rui Alves"]

    def test_waits_for_a_route_that_another_driver_has_taken_over(self):
        driver = DriverFactory.create(phone=MARIA)
        route = requested(JOAO, accepted=True, driver=driver)
        deliveries.reassign(
            delivery=route, driver=DriverFactory.create(phone="+55 11 95555-0005"), by=BY, at=timezone.now()
        )
        Driver.objects.filter(pk=driver.pk).update(active=False)
        before = everything()

        assert forget_driver(MARIA) == 0

        assert everything() == before

    def test_leaves_no_name_in_the_log_of_the_admin(self, admin_client):
        driver = DriverFactory.create(phone=MARIA, name="Maria Lima", at_point=PICKUP)
        route = requested(JOAO, name="João Dias")
        page = f"/admin/delivery/delivery/{route.pk}/move/accept/"
        admin_client.post(page, {"driver": str(driver.pk), "confirmed": "yes"})
        admin_client.post(
            "/admin/delivery/driver/", {"action": "go_off_duty", "_selected_action": str(driver.pk), "confirmed": "yes"}
        )
        deliveries.cancel(delivery=route, reason="", by=BY, at=timezone.now())
        Driver.objects.filter(pk=driver.pk).update(active=False)
        assert LogEntry.objects.filter(object_repr="Maria Lima").exists()

        forget_driver(MARIA)

        assert LogEntry.objects.count() == 2
        assert "Maria" not in str(list(LogEntry.objects.values()))


class TestForgetPositions:
    def test_deletes_those_that_are_old(self):
        driver, now = DriverFactory.create(), timezone.now()
        gone = DriverFactory.create()
        kept, older = now - timedelta(days=30), now - timedelta(days=30, microseconds=1)
        for at, who in ((older, driver), (kept, driver), (older, gone)):
            drivers.set_position(driver=who, point=PICKUP, by=BY, at=at)

        forgetting_deliveries.forget_positions(at=now)

        assert DriverPosition.objects.get().recorded_at == kept
        assert LatestPosition.objects.get().driver == driver

    def test_keeps_all_where_it_is_switched_off(self, settings):
        settings.FORGET_POSITION_DAYS = 0
        drivers.set_position(
            driver=DriverFactory.create(), point=PICKUP, by=BY, at=timezone.now() - timedelta(days=999)
        )

        forgetting_deliveries.forget_positions(at=timezone.now())

        assert DriverPosition.objects.exists()


class TestTriggers:
    def test_refuse_anything_else_while_forgetting(self):
        closed(MARIA)
        before = everything()

        for model, values in INVENTED:
            with pytest.raises(Exception, match="Cannot update rows"), forgetting():
                model.objects.update(**values)

        assert everything() == before

    def test_refuse_again_after_the_block(self):
        closed(MARIA)
        with forgetting():
            Stop.objects.update(contact_name="")

        with pytest.raises(Exception, match="Cannot update rows"), transaction.atomic():
            Stop.objects.update(contact_phone="")

        assert Stop.objects.get().contact_phone == MARIA

    def test_refuse_to_delete_a_history_while_forgetting(self):
        closed(MARIA)

        with pytest.raises(Exception, match="Cannot delete rows"), forgetting():
            Transition.objects.all().delete()

        assert Transition.objects.exists()
