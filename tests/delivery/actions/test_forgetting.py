"""Anonymising deliveries: what goes, what stays, and that nobody else's rows change."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.db import connection, transaction
from django.utils import timezone

from common.forgetting import forgetting
from common.invariants import examine
from delivery import bodies, invariants
from delivery.actions import deliveries, drivers, forgetting_drivers, proof_photos, receiver_links
from delivery.actions import forgetting as forgetting_deliveries
from delivery.driver_errors import PhotoTooLate
from delivery.models import (
    Delivery,
    Driver,
    DriverPosition,
    DropoffOptions,
    LatestPosition,
    ProofPhoto,
    ReceiverLink,
    Stop,
    StopProof,
    Transition,
    WebhookAttempt,
    WebhookEvent,
)
from delivery.payload import Options, Place
from mail.models import Kind, Message
from tests.delivery.proofs import photo_folder  # noqa: F401  # a fixture
from tests.factories import BY, DROPOFFS, PICKUP, DeliveryFactory, DriverFactory, TokenFactory, validated_payload

pytestmark = pytest.mark.django_db

MARIA, JOAO, SHOP = "+55 11 97777-0001", "(21) 96666-0002", "+55 11 3333-0000"
TEXTS = (
    "Maria Souza",
    "97777-0001",
    "Rua Um",
    "portao azul",
    "maria@example.com",
    "Recebido por Maria",
    "Maria ausente",
)
ADDRESS = {
    "city": "São Paulo", "state": "SP", "street": "Rua Um", "number": "10", "zipcode": "01310200", "country": "BR",
}  # fmt: skip  # a table


def requested(*phones, token=None, name="Maria Souza", **values):
    """A delivery with a drop-off for each number."""
    options = Options(instructions="portao azul", email="maria@example.com")
    places = [
        Place(point, dict(ADDRESS), contact_name=name, contact_phone=phone, external_id="o-1", options=options)
        for point, phone in zip(DROPOFFS, phones, strict=False)
    ]
    payload = validated_payload(dropoffs=places)
    payload = replace(payload, pickup=Place(PICKUP, dict(ADDRESS), contact_name="Shop", contact_phone=SHOP))
    return DeliveryFactory.create(payload=payload, **({"token": token} if token else {}), **values)


def closed(*phones, at=None, token=None):
    """A delivery that has ended, with everything that a stop can have. No webhook of it waits."""
    at = at or timezone.now()
    delivery = requested(*phones, token=token, collected=True, at=at)
    receiver_links.addresses(delivery.ordered_stops, at=at)
    for stop in delivery.stops.all():
        StopProof.objects.create(stop=stop, received_by="Recebido por Maria")
        deliveries.fail_point(delivery=delivery, point=stop.label, reason="Maria ausente", by=BY, at=at)
    deliveries.return_(delivery=delivery, by=BY, at=at)
    event = WebhookEvent.objects.get(delivery=delivery, sequence=1)
    WebhookEvent.objects.filter(pk=event.pk).update(attempts_made=1)
    WebhookAttempt.objects.create(event=event, number=1, at=at, milliseconds=1, response_start="Maria Souza: ok")
    return Delivery.objects.get(pk=delivery.pk)


def everything(*, without=()):
    """All rows of all tables that hold deliveries, as text, but those of the given deliveries."""
    tables = {
        "delivery_delivery": "id", "delivery_stop": "delivery_id", "delivery_transition": "delivery_id",
        "delivery_webhookevent": "delivery_id", "delivery_driver": "NULL::uuid",
    }  # fmt: skip  # a table
    rows = {}
    with connection.cursor() as cursor:
        for table, column in tables.items():
            cursor.execute(
                f"SELECT t::text FROM {table} t WHERE coalesce({column} <> ALL(%s::uuid[]), TRUE) ORDER BY 1",  # noqa: S608
                [[delivery.pk for delivery in without]],
            )
            rows[table] = cursor.fetchall()
        cursor.execute("SELECT o::text FROM delivery_dropoffoptions o JOIN delivery_stop s ON s.id = o.stop_id"
                       " WHERE s.delivery_id <> ALL(%s::uuid[]) ORDER BY 1", [[d.pk for d in without]])  # fmt: skip
        rows["options"] = cursor.fetchall()
    return rows


def texts_of(delivery):
    """Everything that is stored of a delivery, as one text."""
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT d::text FROM delivery_delivery d WHERE id = %(id)s
               UNION ALL SELECT s::text FROM delivery_stop s WHERE delivery_id = %(id)s
               UNION ALL SELECT o::text FROM delivery_dropoffoptions o JOIN delivery_stop s ON s.id = o.stop_id
                   WHERE s.delivery_id = %(id)s
               UNION ALL SELECT p::text FROM delivery_stopproof p JOIN delivery_stop s ON s.id = p.stop_id
                   WHERE s.delivery_id = %(id)s
               UNION ALL SELECT t::text FROM delivery_transition t WHERE delivery_id = %(id)s
               UNION ALL SELECT e::text FROM delivery_webhookevent e WHERE delivery_id = %(id)s
               UNION ALL SELECT a::text FROM delivery_webhookattempt a JOIN delivery_webhookevent e ON e.id = a.event_id
                   WHERE e.delivery_id = %(id)s""",
            {"id": delivery.pk},
        )
        return "\n".join(text for (text,) in cursor.fetchall())


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
        assert [finding.name for finding in examine(invariants.ALL, most_ids=1) if not finding.holds] == []

    def test_leaves_newer_and_open_ones_as_they_are(self):
        now = timezone.now()
        old = closed(MARIA, at=now - timedelta(days=181))
        closed(MARIA, at=now - timedelta(days=179))
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

    @pytest.mark.parametrize("written", ["11977770001", "(11) 97777-0001", "+5511977770001", "0055 11 97777 0001"])
    def test_finds_the_number_however_it_is_written(self, written):
        closed(MARIA)

        assert self.forget(written) == 1

    @pytest.mark.parametrize("other", ["21 97777-0001", "97777-0001", "11 7777-0001"])
    def test_does_not_take_a_similar_number_for_it(self, other):
        closed(MARIA)
        before = everything()

        assert self.forget(other) == 0

        assert everything() == before

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
        assert foreign.stops.get().contact_phone == JOAO

    def test_leaves_open_deliveries_until_they_end(self):
        open_ = requested(MARIA, collected=True)
        before = everything()

        assert self.forget(MARIA) == 0
        assert everything() == before

        deliveries.deliver_point(delivery=open_, point="B", by=BY, at=timezone.now())
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

        assert self.forget(MARIA, until=until) == 0

    def test_deletes_photos_with_their_files_and_e_mails(self, photo_folder):  # noqa: F811
        ended = closed(MARIA)
        now = timezone.now()
        photo = ProofPhoto.objects.create(
            stop=ended.stops.get(), driver=ended.driver, upload=ended.pk, width=1, height=1, size=1,
            taken_at=now, received_at=now,
        )  # fmt: skip  # columns
        proof_photos.files().save(photo.name, ContentFile(b"x"))
        values = {"created_at": now, "expires_at": now, "due_at": now, "subject": "x"}
        Message.objects.create(kind=Kind.RECEIVER, recipient="maria@example.com", **values)
        other = Message.objects.create(kind=Kind.RECEIVER, recipient="joao@example.com", **values)

        self.forget(MARIA)

        assert not ProofPhoto.objects.exists()
        assert [path for path in photo_folder.rglob("*") if path.is_file()] == []
        assert list(Message.objects.all()) == [other]
        assert not ReceiverLink.objects.exists()

    def test_takes_no_photo_afterwards(self, photo_folder):  # noqa: F811
        ended = closed(MARIA)
        self.forget(MARIA)

        with pytest.raises(PhotoTooLate):
            proof_photos.add(
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
        query = forgetting_deliveries.stops_of(MARIA, until=timezone.now())
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off")

        assert "stop_phone" in query.explain()


class TestForgettingADriver:
    def test_leaves_a_driver_who_works_for_us(self):
        DriverFactory.create(phone=MARIA, at_point=PICKUP)
        before = everything()

        assert forgetting_drivers.forget_one_of(MARIA) == 0

        assert everything() == before
        assert DriverPosition.objects.exists()

    def test_erases_name_number_and_positions_of_one_who_does_not(self):
        driver, other = DriverFactory.create(phone=MARIA, name="Maria", at_point=PICKUP), DriverFactory.create()
        mine = requested(JOAO, accepted=True, driver=driver)
        deliveries.collect(delivery=mine, by="driver Maria", at=timezone.now())
        deliveries.deliver_point(delivery=mine, point="B", by="driver Maria", at=timezone.now())
        theirs = requested(JOAO, accepted=True, driver=other)
        Driver.objects.filter(pk=driver.pk).update(active=False)
        others = everything(without=[mine])["delivery_webhookevent"]

        assert [forgetting_drivers.forget_one_of(MARIA) for _run in range(2)] == [1, 0]

        driver.refresh_from_db()
        assert (driver.name, driver.phone) == ("–", "")  # as pages show what is not there
        assert not DriverPosition.objects.exists()
        assert not LatestPosition.objects.exists()
        assert "Maria" not in texts_of(mine).replace("Maria Souza", "")
        assert Transition.objects.filter(delivery=mine, by="driver").count() == 2
        assert everything(without=[mine])["delivery_webhookevent"] == others
        assert theirs.driver == other


class TestForgetPositions:
    def test_deletes_those_that_are_old(self):
        driver, now = DriverFactory.create(), timezone.now()
        gone = DriverFactory.create()
        for days, who in ((31, driver), (29, driver), (31, gone)):
            drivers.set_position(driver=who, point=PICKUP, by=BY, at=now - timedelta(days=days))

        forgetting_deliveries.forget_positions(at=now)

        assert DriverPosition.objects.get().recorded_at == now - timedelta(days=29)
        assert LatestPosition.objects.get().driver == driver

    def test_keeps_all_where_it_is_switched_off(self, settings):
        settings.FORGET_POSITION_DAYS = 0
        drivers.set_position(
            driver=DriverFactory.create(), point=PICKUP, by=BY, at=timezone.now() - timedelta(days=999)
        )

        forgetting_deliveries.forget_positions(at=timezone.now())

        assert DriverPosition.objects.exists()


CHANGES: dict[str, tuple[Any, dict[str, Any]]] = {
    "delivery": (Delivery, {"contact_name": ""}),
    "delivery's price": (Delivery, {"shipping_value": 1}),
    "delivery's fee": (Delivery, {"cancel_fee": 1, "cancelled_at": "2026-01-01T00:00Z"}),
    "stop": (Stop, {"address": {}}),
    "options": (DropoffOptions, {"instructions": ""}),
    "transition": (Transition, {"reason": ""}),
    "transition's status": (Transition, {"status": "PENDING"}),
    "event": (WebhookEvent, {"body": "{}"}),
}
INVENTED: dict[str, tuple[Any, dict[str, Any]]] = {
    "delivery": (Delivery, {"contact_name": "Other"}),
    "delivery's price": (Delivery, {"shipping_value": 1}),
    "delivery's status": (Delivery, {"status": "DELIVERED"}),
    "stop's address": (Stop, {"address": {"city": "Other"}}),
    "stop's place": (Stop, {"latitude": -23.5}),
    "stop's externalId": (Stop, {"external_id": ""}),
    "transition's reason": (Transition, {"reason": "other"}),
    "transition's status": (Transition, {"status": "PENDING"}),
    "event's name": (WebhookEvent, {"name": "PENDING"}),
}


class TestTriggers:
    @pytest.mark.parametrize("name", CHANGES)
    def test_refuse_an_ordinary_update_of_a_closed_delivery(self, name):
        model, values = CHANGES[name]
        closed(MARIA)
        before = everything()

        with pytest.raises(Exception, match="Cannot update rows"), transaction.atomic():
            model.objects.update(**values)

        assert everything() == before

    @pytest.mark.parametrize("name", INVENTED)
    def test_refuse_anything_else_while_forgetting(self, name):
        model, values = INVENTED[name]
        closed(MARIA)
        before = everything()

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
