"""Anonymising orders and invoices."""

import json
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.db import ProgrammingError, connection, transaction
from django.utils import timezone

from common.postgresql.forgetting import forgetting
from common.postgresql.invariants import find_broken
from common.webhooks import endpoints
from integration import invariants
from integration.actions import forgetting as forgetting_orders
from integration.actions import orders
from integration.invoices.models import Invoice
from integration.lifecycle import Status
from integration.models import Order, Seller, StatusLog, WebhookEndpoint
from tests.cases import in_turn
from tests.common.brazil.test_phones import UNUSUAL
from tests.integration.factories import BY, OTHER_COMPANY, create_order, nfe_xml, order_body, send_invoice
from tests.moments import NEW_YEAR, Midnight

pytestmark = pytest.mark.django_db
TICK = timedelta(microseconds=1)
MARIA: dict[str, Any] = {"document": "529.982.247-25"}
TABLES = ("integration_order", "integration_statuslog", "integration_searchcode", "integration_invoice")


def delivered(seller, **changes):
    order = create_order(seller, **changes)
    return orders.move(order=order, to=Status.DELIVERED, by=BY, at=timezone.now())


def receiver(**changes):
    return {"receiver": {**order_body()["receiver"], **changes}}


def rows(*, without=()):
    """All rows of area B as text, but the given orders."""
    found = {}
    with connection.cursor() as cursor:
        for table in TABLES:
            key = "order_id" if table.endswith(("log", "code")) else "id" if table.endswith("order") else "NULL::bigint"
            cursor.execute(
                f"SELECT t::text FROM {table} t WHERE coalesce({key} <> ALL(%s::bigint[]), TRUE) ORDER BY 1",  # noqa: S608
                [[order.pk for order in without]],
            )
            found[table] = cursor.fetchall()
    return found


def forget(*, until=None, **person):
    now = timezone.now()
    return forgetting_orders.forget_orders_of(**person, until=until or now, at=now)


class TestForgettingWebhooks:
    def test_leaves_neither_the_words_of_a_reason_nor_answers(self, seller):
        endpoint = endpoints.first(WebhookEndpoint, owner=seller.pk, environment="live")
        WebhookEndpoint.objects.update(url="http://127.0.0.1:9/hook")
        now, said = timezone.now(), orders.Details(reason_code="OTHER", reason="Saiu", place="Rua Chile")
        order, other = create_order(seller), create_order(seller, orderId="A-2", **receiver(document="11144477735"))
        for each in (order, other):
            orders.move(order=each, to=Status.COLLECTED, by=BY, at=now)
            orders.move(order=each, to=Status.DELIVERY_FAILED, by=BY, at=now, details=said)
            event = each.events.get(sequence=3)
            event.attempts.create(number=1, at=now, milliseconds=1, status_code=400, response_start="Saiu")
            orders.move(order=each, to=Status.DELIVERED, by=BY, at=now)

        forget(**MARIA)

        kept = []
        for each in (order, other):
            event, entry = each.events.get(sequence=3), each.status_log.get(status="delivery_failed")
            answer = event.attempts.get().response_start
            kept.append((json.loads(event.body)["reason"], answer, entry.reason, entry.place))
        assert kept == [
            ({"code": "OTHER", "text": None, "place": None}, "", "", ""),
            ({"code": "OTHER", "text": "Saiu", "place": "Rua Chile"}, "Saiu", "Saiu", "Rua Chile"),
        ]
        assert json.loads(endpoint.events.get(order=order, sequence=1).body)["reason"] is None

    def test_leaves_no_words_of_what_is_reported_later(self, seller):
        WebhookEndpoint.objects.create(seller=seller, environment="live", url="http://127.0.0.1:9/hook")
        order, now = create_order(seller), timezone.now()
        old = order.created_at + timedelta(days=91)
        assert forgetting_orders.forget_orders_of(**MARIA, until=now, at=old) == 1
        said = orders.Details(reason_code="OTHER", reason="Maria saiu", place="Rua Chile")

        orders.move(order=order, to=Status.COLLECTED, by=BY, at=now)
        orders.move(order=order, to=Status.DELIVERY_FAILED, by=BY, at=now, details=said)

        entry = order.status_log.latest("pk")
        assert (entry.reason_code, entry.reason, entry.place) == ("OTHER", "", "")
        assert json.loads(order.events.get(sequence=3).body)["reason"] == {"code": "OTHER", "text": None, "place": None}


class TestForgettingOnePerson:
    @pytest.mark.parametrize(
        "person",
        [{"document": "52998224725"}, MARIA, {"phone": "(11) 97777-0001"}, {"phone": "+55 11 3333-0000"}],
    )
    def test_leaves_the_order_and_the_city(self, seller, person):
        order = delivered(seller)

        assert [forget(**person) for _run in range(2)] == [1, 0]

        kept = Order.objects.get(pk=order.pk)
        assert (kept.receiver_name, kept.receiver_document) == ("", "")
        assert kept.receiver == {"address": {"city": "São Paulo", "state": "SP"}}
        assert (kept.code, kept.cost, kept.items, kept.status) == (order.code, order.cost, order.items, "delivered")
        assert kept.forgotten_at is not None
        assert [finding.name for finding in find_broken(invariants.ALL)] == []

    @in_turn("name", ["phone", "cellphone"])
    @in_turn(("text", "numbers"), UNUSUAL)
    def test_finds_every_number_that_is_written_in_an_unusual_way(self, seller, text, numbers, name):
        order = delivered(seller, **receiver(**{name: text}))
        delivered(seller, orderId="A-2", **receiver(**{name: "11 90000-0000 ramal 12"}))

        for number in numbers:
            if number == "1133330000" and name == "cellphone":
                continue  # every order has it as its phone
            assert [*forgetting_orders.orders_of(phone=number, until=timezone.now())] == [order]

    def test_reaches_the_orders_of_every_seller_and_changes_no_others(self, seller, other_seller):
        mine = [delivered(seller), delivered(other_seller, company_document=OTHER_COMPANY)]
        delivered(seller, orderId="A-2", **receiver(document="111.444.777-35", phone=None, cellphone=None))
        others = rows(without=mine)

        assert forget(**MARIA) == 2

        assert rows(without=mine) == others

    def test_leaves_open_orders_until_they_end(self, seller):
        order = create_order(seller)
        before = rows()

        assert forget(**MARIA) == 0
        assert rows() == before

        orders.cancel(order=order, by=BY, at=timezone.now())
        assert forget(**MARIA) == 1

    def test_takes_an_order_for_closed_that_nobody_reports(self, seller):
        until = create_order(seller).created_at + timedelta(days=90)

        done = [forgetting_orders.forget_orders_of(**MARIA, until=until, at=at) for at in (until, until + TICK)]

        assert done == [0, 1]

    def test_leaves_what_was_created_later(self, seller):
        delivered(seller)

        assert forget(**MARIA, until=timezone.now() - timedelta(minutes=1)) == 0

    @pytest.mark.parametrize("name", ["phone", "cellphone"])
    def test_reads_by_an_index(self, seller, name):
        for number in range(40):  # with few rows other plans are as cheap
            create_order(seller, orderId=f"A-{number}")
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE integration_order")
            cursor.execute("SET LOCAL enable_seqscan = off")

        assert f"order_{name}" in forgetting_orders.orders_of(phone="21966660002", until=timezone.now()).explain()


class TestForgettingOldOrders:
    def test_forgets_them_whatever_their_status(self, seller):
        old, young = create_order(seller), create_order(seller, orderId="A-2")
        others = rows(without=[old])
        due = old.created_at + timedelta(days=1825)

        forgetting_orders.forget_old_orders(at=due)
        kept = Order.objects.get(pk=old.pk).receiver_name
        forgetting_orders.forget_old_orders(at=due + TICK)

        assert kept == "Maria"
        assert rows(without=[old]) == others
        assert Order.objects.get(pk=old.pk).receiver_name == ""
        assert Order.objects.get(pk=young.pk).receiver_name == "Maria"

    def test_is_switched_off_by_0(self, seller, settings):
        settings.FORGET_ORDER_DAYS = 0
        create_order(seller)

        forgetting_orders.forget_old_orders(at=timezone.now() + timedelta(days=9999))

        assert Order.objects.get().receiver_name == "Maria"


class TestForgettingOldInvoices:
    @pytest.fixture
    def invoice(self, seller):
        create_order(seller)
        invoice = send_invoice(seller, nfe_xml().encode())
        documents = {"issuer_document": "52998224725", "recipient_document": "11144477735"}
        Invoice.objects.update(received_at=datetime(2020, 3, 4, tzinfo=UTC), **documents)
        return invoice

    @pytest.mark.parametrize(
        ("received", "until"),
        [("before", date(2026, 12, 31)), ("start", date(2027, 12, 31)), ("after", date(2027, 12, 31))],
    )
    def test_keeps_the_file_for_five_full_years(self, invoice, received, until):
        five_years_before = Midnight(date(2022, 1, 1))
        Invoice.objects.update(received_at=getattr(five_years_before, received))
        invoice.refresh_from_db()

        files = []
        for at in (NEW_YEAR.before, NEW_YEAR.after):
            forgetting_orders.forget_old_invoices(at=at)
            files.append(bytes(Invoice.objects.get().raw))

        assert forgetting_orders.kept_until(invoice) == until
        assert files == [nfe_xml().encode(), b"" if until < NEW_YEAR.day else nfe_xml().encode()]

    def test_deletes_the_file_and_the_cpfs_of_its_issuer_and_recipient(self, seller, invoice):
        for day in (2, 3):
            forgetting_orders.forget_old_invoices(at=datetime(2026, 1, day, tzinfo=UTC))

        invoice.refresh_from_db()
        assert invoice.forgotten_at == datetime(2026, 1, 2, tzinfo=UTC)
        assert (bytes(invoice.raw), invoice.issuer_document, invoice.recipient_document) == (b"", "", "")
        assert (invoice.number, str(invoice.value), invoice.links.count()) == ("123", "150.50", 1)
        assert Seller.objects.get(pk=seller.pk).invoice_bytes == 0
        assert [finding.name for finding in find_broken(invariants.ALL)] == []

    def test_is_switched_off_by_0(self, invoice, settings):
        settings.FORGET_INVOICE_YEARS = 0

        forgetting_orders.forget_old_invoices(at=timezone.now())

        assert forgetting_orders.kept_until(invoice) is None
        assert bytes(Invoice.objects.get().raw) == nfe_xml().encode()


class TestTriggers:
    @pytest.fixture
    def before(self, seller):
        delivered(seller)
        send_invoice(seller, nfe_xml().encode())
        return rows()

    def test_refuse_an_ordinary_update(self, before):
        of_orders: list[dict[str, Any]] = [{"receiver_name": ""}, {"receiver": {}}, {"forgotten_at": timezone.now()}]

        for rows_of, values in [*((Order.objects, each) for each in of_orders), (Invoice.objects, {"raw": b""})]:
            with pytest.raises(Exception, match="Cannot update rows"), transaction.atomic():
                rows_of.update(**values)

        assert rows() == before

    def test_refuse_anything_else_while_forgetting(self, before):
        of_orders: list[dict[str, Any]] = [{"receiver_name": "Other"}, {"receiver": {"name": "Other"}}, {"cost": 1}]

        for rows_of, values in [*((Order.objects, each) for each in of_orders), (Invoice.objects, {"raw": b"<x/>"})]:
            with pytest.raises(Exception, match="Cannot update rows"), forgetting():
                rows_of.update(**values)

        assert rows() == before


def test_forgets_the_reasons_and_places_of_an_order_with_it(seller):
    order = create_order(seller)
    for to, details in (
        (Status.COLLECTED, orders.Details(place="Casa da Ana")),
        (Status.DELIVERY_FAILED, orders.Details(reason_code="OTHER", reason="Ana, do 12, não quis", place="Portaria")),
    ):
        orders.move(order=order, to=to, by=BY, at=timezone.now(), details=details)
    for column in ("reason", "place"):
        with pytest.raises(ProgrammingError), transaction.atomic():
            StatusLog.objects.update(**{column: ""})

    forgetting_orders.forget_old_orders(at=timezone.now() + timedelta(days=3000))

    assert [*StatusLog.objects.values_list("status", "reason_code", "reason", "place").order_by("pk")] == [
        ("pending", "", "", ""), ("collected", "", "", ""), ("delivery_failed", "OTHER", "", ""),
    ]  # fmt: skip  # a table
