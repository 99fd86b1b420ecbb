"""E-mails to the receivers of orders, by a real mail server on loopback."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from common.accounts import Environment
from common.mail import sending
from common.mail.models import Kind, Message
from integration.accounts import sellers
from integration.actions import forgetting, orders
from integration.lifecycle import Status
from integration.models import Company, Order, Seller
from integration.receivers import mails as receiver_mails
from integration.receivers.models import ReceiverMail
from tests.integration.factories import BY, OTHER_COMPANY, create_order, order_body
from tests.smtp import body_of

MARIA = "maria@example.com"
# What an e-mail and its page never show.
PERSONAL = ("529.982.247-25", "52998224725", "Avenida Paulista", "1578", "Bela Vista", "01310", "Maria")


def receiver(email=MARIA):
    return {**order_body()["receiver"], "email": email}


@pytest.fixture
def seller(seller):
    sellers.set_receiver_mails(seller=seller, are_on=True, by=BY, at=timezone.now())
    Seller.objects.filter(pk=seller.pk).update(name="Loja Azul")
    return Seller.objects.get(pk=seller.pk)


@pytest.fixture
def order(seller):
    return create_order(seller, receiver=receiver())


def move(order, *statuses, at=None, **details):
    for status in statuses:
        orders.move(order=order, to=status, by=BY, at=at or timezone.now(), details=orders.Details(**details))


def sent(mailbox):
    """What has arrived, the oldest first: subjects."""
    sending.send_due()
    return [received["Subject"].strip() for received in mailbox.messages]


class TestMails:
    def test_tell_each_status_once_in_portuguese(self, mailbox, order):
        for status in (
            Status.COLLECTED, Status.IN_TRANSIT, Status.OUT_FOR_DELIVERY, Status.IN_TRANSIT, Status.OUT_FOR_DELIVERY,
        ):  # fmt: skip  # a list
            move(order, status)
            sent(mailbox)
        for _time in range(2):
            move(order, Status.DELIVERY_FAILED, reason_code="ABSENT", reason="Ana não abriu")
            sent(mailbox)
            move(order, Status.OUT_FOR_DELIVERY)
        move(order, Status.DELIVERED)

        assert sent(mailbox) == [
            "Seu pedido de Loja Azul está a caminho",
            "Seu pedido de Loja Azul saiu para entrega",
            "Não foi possível entregar seu pedido de Loja Azul",
            "Seu pedido de Loja Azul foi entregue",
        ]

    def test_say_what_the_receivers_page_says_and_lead_to_it(self, mailbox, seller, order, tariff):
        Company.objects.update(postcode="01310100")
        order = create_order(seller, orderId="A-2", receiver=receiver())
        move(order, Status.IN_TRANSIT)
        sent(mailbox)
        move(order, Status.RETURNED, reason_code="REFUSED", reason="Ana não quis", place="Casa da Ana")
        sent(mailbox)

        first, second = mailbox.messages
        order.refresh_from_db()
        assert (first["To"], first["List-Unsubscribe"].strip()) == (MARIA, f"<{order.tracking_url}>")
        assert first["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
        for text in ("Pedido: A-2", order.tracking_url, "está a caminho", f"{order.promised_on:%d/%m/%Y}"):
            assert text in body_of(first)
        for text in ("Motivo: Recusado pelo destinatário", "devolvido", "Fale com Loja Azul"):
            assert text in body_of(second)
        for text in (*PERSONAL, "Ana"):
            assert text not in body_of(first) + body_of(second)

    def test_that_wait_give_way_to_a_later_one(self, mailbox, order):
        move(order, Status.COLLECTED, Status.OUT_FOR_DELIVERY, Status.DELIVERED)

        assert sent(mailbox) == ["Seu pedido de Loja Azul foi entregue"]

    def test_to_a_wrong_address_stop_no_others(self, mailbox, seller, order):
        mailbox.refused.add("gone@example.com")
        for number, email in enumerate(("gone@example.com", "no address", "", None, '"a b"@example.com')):
            move(create_order(seller, orderId=f"B-{number}", receiver=receiver(email)), Status.COLLECTED)
        move(order, Status.COLLECTED)

        sent(mailbox)

        assert [received["To"] for received in mailbox.messages] == [MARIA]
        assert dict(Message.objects.values_list("recipient", "state")) == {"gone@example.com": "failed", MARIA: "sent"}

    @pytest.mark.parametrize("status", [Status.CANCELLED, Status.IN_TRANSIT])
    def test_are_none_about_other_changes(self, mailbox, order, status):
        move(order, Status.COLLECTED)
        before = sent(mailbox)

        move(order, status)

        assert sent(mailbox) == before
        assert ReceiverMail.objects.count() == 1

    def test_are_none_about_what_happened_long_before(self, mailbox, order):
        happened = timezone.now() + timedelta(minutes=1)

        move(
            order, Status.COLLECTED, at=happened + receiver_mails.LIFETIME + timedelta(minutes=1), happened_at=happened
        )

        assert Message.objects.count() == 0

    def test_are_none_of_the_sandbox_and_of_other_sellers(self, mailbox, seller, other_seller):
        test = create_order(seller, Environment.SANDBOX, receiver=receiver())
        other = create_order(other_seller, company_document=OTHER_COMPANY, receiver=receiver())

        for order in (test, other):
            move(order, Status.COLLECTED)

        assert Message.objects.count() == ReceiverMail.objects.count() == 0

    def test_are_none_without_a_mail_server(self, order, settings):
        settings.EMAIL_URL = ""

        move(order, Status.COLLECTED)

        assert Message.objects.count() == 0

    @pytest.mark.parametrize("limit", ["MOST_OF_SELLER", "MOST_OF_ADDRESS"])
    def test_are_limited_for_a_seller_and_an_address(self, mailbox, seller, order, monkeypatch, limit):
        monkeypatch.setattr(receiver_mails, limit, 1)
        other = create_order(seller, orderId="A-2", receiver=receiver("MARIA@example.com"))
        move(order, Status.COLLECTED)

        move(other, Status.COLLECTED)

        assert len(sent(mailbox)) == 1
        Message.objects.update(created_at=timezone.now() - timedelta(hours=25))
        ReceiverMail.objects.update(created_at=timezone.now() - timedelta(hours=25))
        move(other, Status.OUT_FOR_DELIVERY)
        assert len(sent(mailbox)) == 2


class TestSuspension:
    def test_ends_what_waits_and_what_follows_of_this_seller(self, mailbox, seller, other_seller, order):
        sellers.set_receiver_mails(seller=other_seller, are_on=True, by=BY, at=timezone.now())
        other = create_order(other_seller, company_document=OTHER_COMPANY, receiver=receiver())
        for each in (order, other):
            move(each, Status.COLLECTED)

        sellers.suspend(seller=seller, reason="fraud", by=BY, at=timezone.now())
        move(order, Status.OUT_FOR_DELIVERY)

        assert sent(mailbox) == [f"Seu pedido de {other_seller.name} está a caminho"]


class TestStop:
    @pytest.mark.parametrize("body", [{}, {"List-Unsubscribe": "One-Click"}])
    def test_by_a_post_to_the_receivers_page_is_of_this_order(self, mailbox, client, seller, order, body):
        other = create_order(seller, orderId="A-2", receiver=receiver())
        path = "/" + order.tracking_url.split("/", 3)[3]
        move(order, Status.COLLECTED)
        assert "<form" in client.get(path).content.decode()

        program = Client(enforce_csrf_checks=True)  # which has opened no page
        pages = [program.post(path, body, HTTP_ACCEPT_LANGUAGE="en") for _time in range(2)]
        pages.append(client.get(path, HTTP_ACCEPT_LANGUAGE="en"))
        for each in (order, other):
            move(each, Status.OUT_FOR_DELIVERY)

        assert [page.status_code for page in pages] == [200, 200, 200]
        assert all("You get no more e-mails about this order." in page.content.decode() for page in pages)
        assert sent(mailbox) == ["Seu pedido de Loja Azul saiu para entrega"]
        assert other.tracking_url in body_of(mailbox.messages[0])

    def test_is_offered_where_mails_are_sent(self, client, seller, order):
        other = create_order(seller, orderId="A-2", receiver=receiver(None))
        closed = create_order(seller, orderId="A-3", receiver=receiver())
        move(closed, Status.DELIVERED)
        pages = {each: "/" + each.tracking_url.split("/", 3)[3] for each in (order, other, closed)}

        assert ["<form" in client.get(path).content.decode() for path in pages.values()] == [True, False, False]
        sellers.set_receiver_mails(seller=seller, are_on=False, by=BY, at=timezone.now())
        assert "<form" not in client.get(pages[order]).content.decode()


class TestMailThatWaits:
    def test_is_not_sent_when_the_order_is_cancelled_meanwhile(self, mailbox, order):
        move(order, Status.COLLECTED, Status.OUT_FOR_DELIVERY, Status.CANCELLED)

        assert sent(mailbox) == []

    def test_is_recorded_again_when_its_status_is_the_orders_again(self, mailbox, order):
        move(order, Status.OUT_FOR_DELIVERY, Status.IN_TRANSIT, Status.OUT_FOR_DELIVERY)

        assert sent(mailbox) == ["Seu pedido de Loja Azul saiu para entrega"]

    @pytest.mark.parametrize(
        ("status", "subject"), [(Status.IN_TRANSIT, "está a caminho"), (Status.OUT_FOR_DELIVERY, "saiu para entrega")]
    )
    def test_is_sent_although_its_status_is_reported_once_more(self, mailbox, order, status, subject):
        move(order, status)
        move(order, status, place="Camaçari/BA")

        assert sent(mailbox) == [f"Seu pedido de Loja Azul {subject}"]

    def test_is_not_sent_when_the_seller_has_switched_them_off(self, mailbox, seller, order):
        move(order, Status.OUT_FOR_DELIVERY)

        sellers.set_receiver_mails(seller=seller, are_on=False, by=BY, at=timezone.now())

        assert sent(mailbox) == []


class TestForgottenOrder:
    def test_has_no_mails_and_gets_none(self, mailbox, order):
        move(order, Status.COLLECTED)

        forgetting.forget_old_orders(at=timezone.now() + timedelta(days=3000))
        move(order, Status.OUT_FOR_DELIVERY)

        assert sent(mailbox) == []
        assert not Message.objects.filter(kind=Kind.ORDER).exists()
        assert not ReceiverMail.objects.exists()

    def test_leaves_those_of_other_orders(self, mailbox, seller, order):
        other = create_order(seller, orderId="A-2", receiver=receiver())
        for each in (order, other):
            move(each, Status.COLLECTED)

        receiver_mails.forget([order.pk])

        (kept,) = ReceiverMail.objects.all()
        assert (kept.order, Message.objects.get().pk) == (other, kept.message)


class TestCosts:
    def test_are_no_statement_for_sellers_without_mails(self, mailbox, seller, order, django_assert_num_queries):
        sellers.set_receiver_mails(seller=seller, are_on=False, by=BY, at=timezone.now())

        with django_assert_num_queries(
            6
        ):  # savepoint, order locked, log entry, endpoints of webhooks, status, savepoint
            move(order, Status.COLLECTED)

    def test_of_the_limits_are_indexes(self, order):
        same = {field.attname: getattr(order, field.attname) for field in Order._meta.concrete_fields}
        orders_of_others = Order.objects.bulk_create(  # with few rows other plans are as cheap
            Order(**{**same, "id": None, "code": f"C-{n}", "tracking_code": f"T-{n}"}) for n in range(1000)
        )
        now, at = timezone.now(), timezone.now() - timedelta(hours=500)
        moments = [now - timedelta(hours=n) for n in range(1000)]
        ReceiverMail.objects.bulk_create(
            ReceiverMail(seller=order.seller, order=other, status=Status.COLLECTED, message=1, created_at=moment)
            for other, moment in zip(orders_of_others, moments, strict=True)
        )
        Message.objects.bulk_create(
            Message(kind=Kind.ORDER, recipient=f"{n}@example.com", created_at=moment, expires_at=moment, due_at=moment)
            for n, moment in enumerate(moments)
        )
        mails = ReceiverMail.objects.filter(seller=order.seller, created_at__gt=at).order_by("-created_at")
        messages = Message.objects.filter(recipient="7@example.com", created_at__gt=at, kind=Kind.ORDER)

        with connection.cursor() as cursor:
            cursor.execute("ANALYZE integration_receivermail, mail_message")
        for rows, index in ((mails, "receiver_mail_newest"), (messages.order_by(), "message_to")):
            assert index in rows[:1].explain()
