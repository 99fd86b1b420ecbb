"""The links with which receivers follow their stops, and the e-mails with them, by a real mail server on loopback."""

from datetime import timedelta
from functools import partial

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from common.mail import sending
from common.mail.models import Message
from delivery.actions import deliveries, stops, transitions
from delivery.errors import MoveRefused, TooManyChanges
from delivery.lifecycle import Mode
from delivery.models import ReceiverLink, Stop
from delivery.payload import Options
from delivery.receivers import actions as receivers
from tests.delivery.proofs import asking_for
from tests.factories import BY, DeliveryFactory, DriverFactory, TokenFactory
from tests.smtp import body_of

pytestmark = pytest.mark.django_db
NOW = timezone.now()
WITH_ADDRESS = Options(email="maria@example.com")


def token_of(address):
    return address.rpartition("/")[2]


class TestAddresses:
    def test_are_made_once_for_each_stop_and_lead_to_it(self):
        stops = list(DeliveryFactory.create(stops=2).stops.all())

        first = receivers.addresses(stops, at=NOW)
        again = receivers.addresses(stops, at=NOW)

        assert first == again
        assert [receivers.find(token_of(first[stop.pk])) for stop in stops] == stops

    def test_hold_128_random_bits_that_the_database_does_not(self):
        stop = DeliveryFactory.create(stops=1).stops.get()

        token = token_of(receivers.addresses([stop], at=NOW)[stop.pk])

        link = ReceiverLink.objects.get()
        assert len(token) == 22
        assert token not in link.ciphertext
        assert token.encode() not in bytes(link.digest)


class TestFind:
    def test_finds_nothing_for_another_text(self):
        receivers.addresses(DeliveryFactory.create().stops.all(), at=NOW)

        for token in ("", "x" * 22, "é" * 22, "x" * 21, "x" * 10_000, "\0" * 22):
            assert receivers.find(token) is None


class TestHasEnded:
    def test_48_hours_after_the_end_of_the_route(self):
        stop = DeliveryFactory.create(stops=1).stops.get()
        assert not receivers.has_ended(stop, at=NOW + timedelta(days=30))

        stop.delivery.closed_at = NOW

        assert receivers.has_ended(stop, at=NOW + timedelta(hours=48))
        assert receivers.addresses([stop], at=NOW + timedelta(hours=48)) == {}
        assert not ReceiverLink.objects.exists()
        assert not receivers.has_ended(stop, at=NOW + timedelta(hours=47, minutes=59))
        assert receivers.addresses([stop], at=NOW + timedelta(hours=47, minutes=59)).keys() == {stop.pk}


def collect(delivery):
    return deliveries.collect(delivery=delivery, by=BY, at=timezone.now())


class TestRecord:
    def test_sends_the_link_of_the_stop_once_the_goods_are_collected(self, mailbox):
        delivery = asking_for(Options(), WITH_ADDRESS, accepted=True)
        sending.send_due()
        before = len(mailbox.messages)

        collect(delivery)
        sending.send_due()
        with pytest.raises(MoveRefused):
            collect(delivery)
        sending.send_due()

        (received,) = mailbox.messages
        stop = Stop.objects.get(delivery=delivery, index=1)
        link = receivers.addresses([stop], at=timezone.now())[stop.pk]
        assert before == 0
        assert (received["To"], received["Subject"]) == ("maria@example.com", "Seu pedido de Shop está a caminho")
        assert link in body_of(received)

    def test_sends_each_receiver_their_own(self, mailbox):
        collect(asking_for(WITH_ADDRESS, Options(email="joao@example.com"), accepted=True))

        sending.send_due()

        assert {received["To"] for received in mailbox.messages} == {"maria@example.com", "joao@example.com"}
        assert len({body_of(received) for received in mailbox.messages}) == 2

    def test_reads_as_much_for_three_receivers_as_for_one(self, mailbox):
        read = []
        for count in (1, 3):
            delivery = asking_for(*[WITH_ADDRESS] * count, accepted=True)
            locked = transitions.lock(delivery)
            with CaptureQueriesContext(connection) as queries:
                receivers.record(locked.ordered_stops, at=timezone.now())
            read.append([query for query in queries.captured_queries if query["sql"].startswith("SELECT")])

        assert len(read[0]) == len(read[1])

    def test_is_not_sent_when_it_comes_too_late(self, mailbox):
        delivery = asking_for(WITH_ADDRESS, accepted=True)
        deliveries.collect(delivery=delivery, by=BY, at=timezone.now() - timedelta(hours=7))

        sending.send_due()

        assert mailbox.messages == []

    def test_writes_nothing_without_an_address(self, mailbox):
        collect(DeliveryFactory.create(accepted=True))
        collect(asking_for(Options(instructions="Ring"), accepted=True))

        assert (Message.objects.count(), ReceiverLink.objects.count()) == (0, 0)

    def test_writes_nothing_without_a_mail_server(self, settings, django_assert_num_queries):
        settings.EMAIL_URL = ""

        collect(asking_for(WITH_ADDRESS, accepted=True))

        assert (Message.objects.count(), ReceiverLink.objects.count()) == (0, 0)

    def test_writes_nothing_of_the_sandbox(self, mailbox):
        token = TokenFactory.create(sandbox=True)
        driver = DriverFactory.create(environment="sandbox")

        collect(asking_for(WITH_ADDRESS, token=token, driver=driver, accepted=True))

        assert Message.objects.count() == 0


class TestOfAReverseRoute:
    def test_are_sent_to_the_senders_once_a_driver_comes(self, mailbox):
        delivery = asking_for(WITH_ADDRESS, Options(), mode=Mode.REVERSE)
        accept = partial(deliveries.accept, delivery=delivery, by=BY)

        accept(driver=DriverFactory.create(), at=timezone.now())
        deliveries.release(delivery=delivery, by=BY, at=timezone.now())
        accept(driver=DriverFactory.create(), at=timezone.now())
        deliveries.collect(delivery=delivery, point="B", by=BY, at=timezone.now())
        sending.send_due()

        (received,) = mailbox.messages
        assert (received["To"], received["Subject"]) == ("maria@example.com", "Um entregador vai buscar para Shop")
        assert "para buscar o que você envia" in body_of(received)


class TestNewAddress:
    """An e-mail that the shop changes after the request."""

    def change(self, delivery, email):
        values = {"contact_email": email}
        stops.change(delivery=delivery, point="B", values=values, by=BY, at=timezone.now())

    def recipients(self):
        return list(Message.objects.order_by("pk").values_list("recipient", flat=True))

    @pytest.mark.parametrize("later", [timedelta(0), timedelta(hours=1)])
    def test_gets_the_link_in_place_of_the_one_before(self, mailbox, later):
        delivery = asking_for(WITH_ADDRESS, Options(email="joao@example.com"), accepted=True, at=NOW - 2 * later)
        deliveries.collect(delivery=delivery, by=BY, at=NOW, made_at=NOW - later)  # a phone without signal until now

        self.change(delivery, "ana@example.com")
        self.change(delivery, "bia@example.com")

        assert self.recipients() == ["joao@example.com", "bia@example.com"]

    @pytest.mark.parametrize("second", ["joao@example.com", WITH_ADDRESS.email])
    def test_ends_the_link_that_was_sent_to_the_one_before(self, mailbox, second):
        delivery = asking_for(WITH_ADDRESS, Options(email=second), collected=True)
        before = receivers.addresses(delivery.ordered_stops, at=NOW)

        self.change(delivery, "ana@example.com")

        after = receivers.addresses(delivery.ordered_stops, at=NOW)
        assert [before[stop.pk] == after[stop.pk] for stop in delivery.ordered_stops] == [False, True]
        assert receivers.find(token_of(before[delivery.ordered_stops[0].pk])) is None

    def test_leaves_the_link_that_the_shop_alone_has_given(self, mailbox):
        delivery = asking_for(Options(), collected=True)
        before = receivers.addresses(delivery.ordered_stops, at=NOW)

        self.change(delivery, "ana@example.com")

        assert receivers.addresses(delivery.ordered_stops, at=NOW) == before

    def test_gets_nothing_before_the_others_do(self, mailbox):
        delivery = asking_for(WITH_ADDRESS, accepted=True)

        self.change(delivery, "ana@example.com")

        assert self.recipients() == []
        collect(delivery)
        assert self.recipients() == ["ana@example.com"]

    def test_is_sent_to_five_at_most(self, mailbox):
        delivery = asking_for(WITH_ADDRESS, collected=True)
        for number in range(4):
            self.change(delivery, f"a{number}@example.com")

        with pytest.raises(TooManyChanges):
            self.change(delivery, "b@example.com")

        assert self.recipients() == ["a3@example.com"]
        self.change(delivery, "")
        assert self.recipients() == []

    def test_keeps_the_e_mail_of_another_stop_with_the_one_before(self, mailbox):
        delivery = asking_for(WITH_ADDRESS, WITH_ADDRESS, collected=True)

        self.change(delivery, "ana@example.com")

        assert self.recipients() == ["maria@example.com"] * 2 + ["ana@example.com"]

    def test_is_forgotten_with_the_stop(self, mailbox):
        delivery = asking_for(WITH_ADDRESS, collected=True)
        self.change(delivery, "Ana@Example.com")  # mailed to in lower case

        assert receivers.messages(delivery.ordered_stops).get().recipient == "ana@example.com"

    @pytest.mark.parametrize(("mode", "moment"), [(Mode.DEFAULT, "collected"), (Mode.REVERSE, "accepted")])
    def test_is_forgotten_as_the_one_of_the_request_is(self, mailbox, mode, moment):
        delivery = asking_for(WITH_ADDRESS, mode=mode, **{moment: True})

        assert receivers.messages(delivery.ordered_stops).get().recipient == "maria@example.com"

    def test_may_be_none(self, mailbox):
        delivery = asking_for(WITH_ADDRESS, collected=True)

        self.change(delivery, "")

        assert self.recipients() == []
