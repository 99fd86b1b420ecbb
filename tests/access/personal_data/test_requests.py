"""Requests of one person: found, forgotten, finished when what was open has ended; and exported."""

import json
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from cryptography.fernet import Fernet
from django.core.management import call_command
from django.utils import timezone

from access import personal_data
from access.models import PersonRequest, PersonRequestKind
from access.personal_data import InvalidPerson, person
from access.tasks import finish_person_requests
from delivery.actions import deliveries, drivers, forgetting
from delivery.connections import drafts as of_deliveries
from delivery.geo.position_filter import SentPosition
from delivery.models import Delivery, Driver, Stop, WebhookEvent
from integration.actions import forgetting as forgetting_orders
from integration.actions import orders
from integration.connections import drafts as of_orders
from integration.invoices.models import Invoice
from integration.lifecycle import Status
from integration.models import Order
from tests.cases import in_turn
from tests.delivery.connections.shops import WITHOUT_NUMBER, order, post
from tests.delivery.connections.shops import shop as connected
from tests.delivery.personal_data import JOAO, MARIA, SHOP, closed, everything, requested
from tests.factories import BY, PICKUP, DriverFactory
from tests.integration.connections import shops as seller_shops
from tests.integration.factories import COMPANY, access_key, create_order, nfe_xml, send_invoice
from tests.integration.test_forgetting import delivered, receiver, rows

pytestmark = pytest.mark.django_db
CPF = "529.982.247-25"


def ask(**who):
    at = timezone.now()
    request = personal_data.record(person(**who), kind=PersonRequestKind.FORGET, by="user dora", at=at)
    return personal_data.carry_out(request, at=at)


def export_of(**who):
    return json.loads("".join(personal_data.export(person(**who), at=timezone.now())))


class TestPerson:
    @in_turn(
        "who",
        [
            {}, {"phone": MARIA, "document": CPF}, {"phone": "97777-0001"}, {"phone": "x"}, {"document": "123"},
            {"phone": "1" * 41}, {"document": "é" * 11}, {"phone": "+1 212 555 0100 55 55"},
        ],
    )  # fmt: skip  # a table
    def test_is_refused_without_a_whole_number(self, who):
        with pytest.raises(InvalidPerson):
            person(**who)

    def test_is_known_by_its_digits(self):
        assert person(phone="+55 (11) 97777-0001") == person(phone="11977770001")
        assert person(document=CPF) == person(document="52998224725")
        assert person(document=CPF).hint == "…4725"


class TestRequest:
    @pytest.mark.parametrize(
        ("who", "stops", "hint"), [({"phone": MARIA}, 1, "…0001"), ({"document": CPF}, 0, "…4725")]
    )
    def test_forgets_what_is_closed_and_keeps_neither_number_nor_open_questions(self, seller, who, stops, hint):
        closed(MARIA)
        delivered(seller)

        request = ask(**who)

        assert (request.stops, request.orders, request.pickups, request.drivers) == (stops, 1, 0, 0)
        assert (request.hint, request.requested_by, request.ciphertext) == (hint, "user dora", "")
        assert request.finished_at is not None
        assert Stop.objects.filter(contact_phone=MARIA).exists() is (stops == 0)

    @pytest.mark.parametrize(("phone", "kind"), [(MARIA, "stops"), (SHOP, "pickups")])
    def test_is_finished_by_the_task_when_the_delivery_has_ended(self, phone, kind):
        open_ = requested(MARIA, collected=True)
        request = ask(phone=phone)
        assert (request.finished_at, getattr(request, kind)) == (None, 0)
        assert phone not in request.ciphertext
        finish_person_requests()
        assert (Stop.objects.get().contact_phone, Delivery.objects.get().contact_phone) == (MARIA, SHOP)

        deliveries.deliver(delivery=open_, point="B", by=BY, at=timezone.now())
        finish_person_requests()

        request.refresh_from_db()
        assert (getattr(request, kind), request.ciphertext, request.finished_at is None) == (1, "", False)
        assert (Stop if kind == "stops" else Delivery).objects.get().contact_phone == ""

    @pytest.mark.parametrize("is_open", [True, False])
    def test_leaves_what_the_person_receives_later(self, seller, is_open):
        open_ = requested(MARIA, collected=True) if is_open else None
        ask(phone=MARIA)
        closed(MARIA, at=timezone.now())
        delivered(seller)
        before = everything(), rows()

        finish_person_requests()

        assert (everything(), rows()) == before
        assert (PersonRequest.objects.get().finished_at is None) is is_open

        if open_:
            deliveries.deliver(delivery=open_, point="B", by=BY, at=timezone.now())
        finish_person_requests()

        assert PersonRequest.objects.get().finished_at is not None
        assert Stop.objects.filter(contact_phone=MARIA).count() == 1

    def test_changes_nothing_of_others(self, seller):
        mine = closed(MARIA)
        closed(JOAO)
        delivered(seller, **receiver(document="111.444.777-35", phone=None, cellphone="21966660002"))
        others, order = everything(without=[mine]), Order.objects.values().get()

        ask(phone=MARIA)

        assert everything(without=[mine]) == others
        assert Order.objects.values().get() == order

    def test_waits_for_a_driver_who_works(self):
        driver = DriverFactory.create(phone=MARIA)
        request = ask(phone=MARIA)
        assert request.finished_at is None

        Driver.objects.filter(pk=driver.pk).update(active=False)
        finish_person_requests()

        request.refresh_from_db()
        assert (request.drivers, request.finished_at is None) == (1, False)

    def test_goes_on_after_a_bounded_number_of_batches(self, monkeypatch):
        monkeypatch.setattr("delivery.actions.forgetting.BATCH", 1)
        for _number in range(3):
            closed(MARIA)
        at = timezone.now()
        request = personal_data.record(person(phone=MARIA), kind=PersonRequestKind.FORGET, by=BY, at=at)

        assert personal_data.carry_out(request, at=at, most_batches=2).stops == 2
        assert personal_data.carry_out(request, at=at).stops == 3


class TestRequestOfADriver:
    @pytest.fixture
    def gone(self):
        """A driver who works for us no more, with three deliveries that have ended."""
        driver = DriverFactory.create(phone=MARIA, name="Maria Lima")
        for _number in range(3):
            route = requested(JOAO, collected=True, driver=driver)
            deliveries.deliver(delivery=route, point="B", by="driver Maria Lima", at=timezone.now())
        Driver.objects.filter(pk=driver.pk).update(active=False)
        return driver

    @staticmethod
    def named():
        """How many deliveries name the driver."""
        return WebhookEvent.objects.filter(body__contains="Maria Lima").values("delivery").distinct().count()

    def test_ends_a_transaction_after_each_batch_of_deliveries(self, gone, monkeypatch):
        monkeypatch.setattr(forgetting, "BATCH", 1)
        at = timezone.now()
        request = personal_data.record(person(phone=MARIA), kind=PersonRequestKind.FORGET, by=BY, at=at)

        left = []
        for _run in range(4):
            request = personal_data.carry_out(request, at=at, most_batches=1)
            left.append((self.named(), request.drivers, request.finished_at is None))

        assert left == [(2, 0, True), (1, 0, True), (0, 0, True), (0, 1, False)]
        gone.refresh_from_db()
        assert (gone.phone, request.last_delivery) == ("", None)

    def test_goes_on_where_it_was_interrupted(self, gone, monkeypatch):
        monkeypatch.setattr(forgetting, "BATCH", 1)
        rewritten, rewrite = [], forgetting._rewrite

        def rewrite_twice(events, change):
            rewritten.append(events)
            if len(rewritten) == 2:
                raise InterruptedError
            rewrite(events, change)

        monkeypatch.setattr(forgetting, "_rewrite", rewrite_twice)
        with pytest.raises(InterruptedError):
            ask(phone=MARIA)
        assert self.named() == 2

        finish_person_requests()

        assert (self.named(), len(rewritten)) == (0, 4)
        assert PersonRequest.objects.get().finished_at is not None


def test_an_undecryptable_request_stops_no_other(db, settings, caplog):
    closed(MARIA)
    keys = settings.CREDENTIALS_KEYS
    settings.CREDENTIALS_KEYS = [Fernet.generate_key().decode()]
    lost = personal_data.record(person(phone=JOAO), kind=PersonRequestKind.FORGET, by=BY, at=timezone.now())
    settings.CREDENTIALS_KEYS = keys
    later = personal_data.record(person(phone=MARIA), kind=PersonRequestKind.FORGET, by=BY, at=timezone.now())

    finish_person_requests()

    assert list(PersonRequest.objects.filter(finished_at=None)) == [lost]
    later.refresh_from_db()
    assert later.stops == 1
    assert f"request about personal data {lost.pk}" in caplog.text
    assert JOAO not in caplog.text


@pytest.mark.django_db(transaction=True)
def test_a_request_and_the_end_of_the_delivery_at_once_leave_a_whole_delivery(at_once):
    """Either order is right: it is forgotten now, or by the task."""
    open_ = requested(MARIA, collected=True)
    at = timezone.now()
    request = personal_data.record(person(phone=MARIA), kind=PersonRequestKind.FORGET, by=BY, at=at)

    results = at_once(
        lambda: deliveries.deliver(delivery=open_, point="B", by=BY, at=at),
        *[lambda: personal_data.carry_out(request, at=at)] * 3,
    )
    finish_person_requests()

    assert [result for result in results if isinstance(result, Exception)] == []
    assert Delivery.objects.get().status == "DELIVERED"
    assert Stop.objects.get().contact_phone == ""
    request.refresh_from_db()
    assert request.stops == 1
    assert request.finished_at is not None


class TestSearch:
    def test_counts_and_names_what_is_open(self, seller):
        open_, _closed = requested(MARIA, MARIA), closed(MARIA)
        create_order(seller, orderId="A-1")
        delivered(seller, orderId="A-2")
        delivered(seller, orderId="B-1", **receiver(phone=None, cellphone="21966660002"))
        DriverFactory.create(phone=MARIA, active=False)
        DriverFactory.create(phone=JOAO)
        send_invoice(seller, nfe_xml(items=["A-1", "A-2"]).encode())
        send_invoice(seller, nfe_xml(key=access_key(2), items=["B-1"]).encode())
        now = timezone.now()

        found = personal_data.summary(personal_data.find(person(phone=MARIA), until=now), at=now)

        assert (found.stops, found.orders, found.invoices, found.drivers) == (3, 2, 1, 1)
        assert (found.open_deliveries, found.open_orders) == ([str(open_.pk)], ["A-1"])
        assert (found.active_drivers, found.is_open, found.is_empty) == (0, True, False)
        working = personal_data.summary(personal_data.find(person(phone=JOAO), until=now), at=now)
        assert (working.active_drivers, working.is_open, working.is_empty) == (1, True, False)

    def test_finds_the_company_of_a_document(self, seller):
        now = timezone.now()

        found = personal_data.summary(personal_data.find(person(document="11.222.333/0001-81"), until=now), at=now)

        assert (found.companies, found.orders, found.is_empty) == (1, 0, False)


class TestExport:
    def test_has_everything_about_the_person_and_nothing_about_others(self, seller):
        delivery, made = closed(MARIA, JOAO), create_order(seller, orderId="A-1")
        said = orders.Details(reason_code="OTHER", reason="Portão azul")
        for status, details in (
            (Status.COLLECTED, orders.NOTHING_MORE), (Status.DELIVERY_FAILED, said), (Status.DELIVERED, None),
        ):  # fmt: skip  # a list
            orders.move(order=made, to=status, by=BY, at=timezone.now(), details=details or orders.NOTHING_MORE)
        send_invoice(seller, nfe_xml().encode())
        DriverFactory.create(phone=MARIA, name="Maria S")

        exported = export_of(phone=MARIA)

        (stop,), (order,) = exported["dropoffs"], exported["orders"]
        assert (stop["name"], stop["phone"], stop["email"]) == ("Maria Souza", MARIA, "maria@example.com")
        assert (stop["instructions"], stop["receivedBy"]) == ("portao azul", "Recebido por Maria")
        assert (stop["failureReason"], stop["point"], exported["pickups"]) == ("Maria ausente", "B", [])
        assert order["reasons"] == ["Portão azul"]
        (pickup,), (company,) = export_of(phone=SHOP)["pickups"], export_of(document=COMPANY)["companies"]
        assert (pickup["deliveryId"], pickup["phone"]) == (str(delivery.pk), SHOP)
        assert company == {"document": COMPANY, "name": "", "seller": seller.name}
        assert order["receiver"]["email"] == "maria@example.com"
        assert [invoice["accessKey"] for invoice in exported["invoices"]] != []
        assert exported["drivers"][0]["name"] == "Maria S"
        assert exported["complete"]
        assert JOAO not in json.dumps(exported)

    def test_leaves_out_invoices_that_were_erased(self, seller):
        delivered(seller)
        send_invoice(seller, nfe_xml().encode())
        Invoice.objects.update(received_at=datetime(2020, 3, 4, tzinfo=UTC))
        forgetting_orders.forget_old_invoices(at=timezone.now())

        exported = export_of(phone=MARIA)

        assert ([order["orderId"] for order in exported["orders"]], exported["invoices"]) == (["A-1"], [])

    def test_has_every_position_and_the_duty_of_a_driver(self, monkeypatch):
        monkeypatch.setattr(personal_data, "_READ_AT_ONCE", 1000)
        driver, now = DriverFactory.create(phone=MARIA), timezone.now()
        reported = [SentPosition(PICKUP, now - timedelta(seconds=second)) for second in range(10_001)]
        drivers.store_positions(driver=driver, sent=reported, by=BY)

        exported = export_of(phone=MARIA)

        (found,) = exported["drivers"]
        assert len({fix["recordedAt"] for fix in found["positions"]}) == 10_001
        assert [change["onDuty"] for change in found["duty"]] == [True]
        assert exported["complete"] is True

    def test_that_is_interrupted_is_no_json(self):
        closed(MARIA)
        chunks = list(personal_data.export(person(phone=MARIA), at=timezone.now()))

        for end in range(1, len(chunks)):
            with pytest.raises(json.JSONDecodeError):
                json.loads("".join(chunks[:end]))


class TestOrderOfAShop:
    @pytest.mark.parametrize(
        ("connect", "of_area", "who"),
        [
            (connected, of_deliveries, {"phone": MARIA}),
            (seller_shops.shop, of_orders, {"phone": MARIA}),
            (seller_shops.shop, of_orders, {"document": CPF}),
        ],
    )
    def test_is_forgotten_once_it_has_ended(self, connect, of_area, who):
        connection, drafts = connect(), of_area.DRAFTS.model.objects
        for number in (1, 2):
            post(connection, order(number, **WITHOUT_NUMBER))
        ended, left = drafts.order_by("order_id")
        of_area.drop(draft=ended, by="user ana", at=timezone.now())

        exported = export_of(**who)["ordersOfShops"]
        request = ask(**who)

        assert [each["order"] for each in exported] == ["2", "1"]
        assert (request.drafts, request.finished_at) == (1, None)
        ended.refresh_from_db()
        assert (ended.payload, ended.contact_phone) == ({}, "")
        assert getattr(ended, "source", {}) == {}
        assert getattr(ended, "receiver_document", "") == ""
        left.refresh_from_db()
        assert left.payload
        of_area.drop(draft=left, by="user ana", at=timezone.now())
        finish_person_requests()
        request.refresh_from_db()
        assert (request.drafts, request.finished_at is not None) == (2, True)
        assert post(connection, order(1)).json()["reason"] == "dropped"

    @pytest.mark.parametrize("number", [MARIA, "11933330000", "+1 212 555 0100"])
    def test_is_found_by_each_number_that_a_seller_has_filled_in(self, number):
        draft = self.made(cellphone="(11) 93333-0000 / +55 (11) 97777-0001", phone="+1 212 555-0100")

        request = ask(phone=number)

        draft.refresh_from_db()
        assert (request.drafts, draft.payload, draft.contact_phone) == (1, {}, "")

    @staticmethod
    def made(**numbers):
        """A seller's draft, dropped again, whose receiver has these numbers."""
        connection = seller_shops.shop()
        post(connection, order(1, **WITHOUT_NUMBER))
        draft = of_orders.DRAFTS.model.objects.get()
        of_orders.describe(draft, {**draft.payload, "receiver": {**draft.payload["receiver"], **numbers}})
        draft.save()
        return of_orders.drop(draft=draft, by="user ana", at=timezone.now())

    @pytest.mark.parametrize("number", [MARIA, JOAO])
    def test_is_found_by_the_number_of_the_shop_and_by_its_correction(self, number):
        draft = self.corrected(JOAO)

        assert ask(phone=number).drafts == 1

        draft.refresh_from_db()
        assert (draft.payload, draft.source, draft.contact_phone) == ({}, {}, "")

    def test_is_not_found_by_a_number_that_the_shop_has_replaced(self):
        draft = self.corrected(JOAO)
        of_deliveries.take_back(draft=draft, by="user ana", at=timezone.now())

        post(draft.connection, order(1, billing={"phone": JOAO}))

        assert [*of_deliveries.of_phone(MARIA, until=timezone.now())] == []
        assert [*of_deliveries.of_phone(JOAO, until=timezone.now())] == [draft]

    @staticmethod
    def corrected(phone):
        """An account's draft, dropped again, whose receiver's number was corrected."""
        post(connected(), order(1))
        draft = of_deliveries.DRAFTS.model.objects.get()
        there = {**draft.dropoff, "contacts": {**draft.dropoff["contacts"], "phoneNumber": phone}}
        of_deliveries.edit(draft=draft, seen=draft.revision, dropoff=there, by="user ana", at=timezone.now())
        return of_deliveries.drop(draft=draft, by="user ana", at=timezone.now())


class TestCommands:
    def run(self, *arguments):
        printed = StringIO()
        call_command(*arguments, stdout=printed, stderr=StringIO())
        return json.loads(printed.getvalue())

    def test_forget(self, seller):
        closed(MARIA)
        create_order(seller)

        answer = self.run("forget", "--phone", MARIA)

        assert answer["forgotten"] == {"orders": 0, "stops": 1, "pickups": 0, "drivers": 0, "drafts": 0}
        assert (answer["finished"], answer["left"]["open_orders"]) == (False, ["A-1"])
        assert PersonRequest.objects.get().requested_by == "command forget"

    def test_forget_only_says_what_there_is(self):
        closed(MARIA)
        before = everything()

        answer = self.run("forget", "--phone", MARIA, "--check")

        assert answer["found"]["stops"] == 1
        assert everything() == before
        assert not PersonRequest.objects.exists()

    def test_export_is_logged(self, seller):
        delivered(seller)

        answer = self.run("export_person", "--document", CPF)

        assert answer["person"] == {"document": "52998224725"}
        assert len(answer["orders"]) == 1
        request = PersonRequest.objects.get()
        assert (request.kind, request.hint, request.ciphertext) == ("export", "…4725", "")

    def test_refuse_half_a_number(self):
        with pytest.raises(SystemExit):
            self.run("forget", "--phone", "97777-0001")

        assert not PersonRequest.objects.exists()
