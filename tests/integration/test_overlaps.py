"""Actions for a seller that begin while the transaction of another one is open."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from access import personal_data
from access.models import PersonRequest, PersonRequestKind
from access.personal_data import person
from common.admin.tabular_import import TableFile
from common.mail.models import Message, MessageState
from common.webhooks import endpoints, feed, replays
from common.webhooks.endpoints import CheckedUrl
from delivery.actions import forgetting as in_deliveries
from integration.accounts import keys, sellers
from integration.actions import forgetting, orders, webhooks
from integration.freight.admin import RateResource
from integration.freight.models import FreightRate
from integration.invoices import actions as invoices
from integration.invoices.models import InvoiceChange, InvoiceLink
from integration.lifecycle import Status
from integration.manifests import actions as manifests
from integration.models import (
    Authentication,
    Manifest,
    ManifestEntry,
    Order,
    StatusLog,
    WebhookEndpoint,
    WebhookEvent,
    WebhookQueueItem,
)
from integration.receivers import mails as receiver_mails
from integration.receivers.models import ReceiverMailStop
from tests.delivery.locking import without_waiting
from tests.delivery.personal_data import MARIA, closed
from tests.integration.admin.rate_files import LOCAL, NEW
from tests.integration.factories import (
    ACCESS_KEY,
    BY,
    access_key,
    create_order,
    load_tariff,
    nfe_xml,
    order_body,
    send_invoice,
)
from tests.integration.test_forgetting import delivered
from tests.overlapping import begin, overlap

pytestmark = pytest.mark.django_db(transaction=True)


def name_of(result):
    return type(result).__name__


class TestOrdersAndInvoices:
    def test_are_linked_whichever_is_first(self, seller):
        def order(number):
            return partial(create_order, seller, orderId=f"A-{number}")

        def invoice(number):
            key = f"{ACCESS_KEY[:-1]}{number}"
            return partial(send_invoice, seller, nfe_xml(key=key, items=(f"A-{number}",)).encode())

        overlap(invoice(1), order(1))
        overlap(order(2), invoice(2))

        assert sorted(InvoiceLink.objects.values_list("order__code", flat=True)) == ["A-1", "A-2"]

    def test_are_stored_once(self, seller):
        send = partial(send_invoice, seller, nfe_xml().encode())

        first, again = overlap(send, send)

        assert first == again

    def test_are_linked_by_hand_once(self, seller):
        order, invoice = create_order(seller, orderId="A-1"), send_invoice(seller, nfe_xml(items=("B-1",)).encode())
        link = partial(invoices.link_by_hand, invoice=invoice, order=order, by=BY, at=timezone.now())

        assert overlap(link, link) == [None, None]

        assert InvoiceLink.objects.count() == 1

    def test_are_unlinked_by_hand_once(self, seller):
        order, invoice = create_order(seller, orderId="A-1"), send_invoice(seller, nfe_xml().encode())
        unlink = partial(invoices.unlink_by_hand, invoice=invoice, order=order, by=BY, at=timezone.now())

        assert overlap(unlink, unlink) == [None, None]

        assert InvoiceChange.objects.filter(kind="unlinked").count() == 1

    def test_are_not_linked_by_hand_while_marked_as_void(self, seller):
        order, invoice = create_order(seller, orderId="A-1"), send_invoice(seller, nfe_xml(items=("B-1",)).encode())
        at = timezone.now()

        overlap(
            partial(invoices.link_by_hand, invoice=invoice, order=order, by=BY, at=at),
            partial(invoices.mark_void, invoice=invoice, text="x", by=BY, at=at),
        )

        assert InvoiceLink.objects.count() == 0


class TestOrder:
    def test_is_created_and_cancelled_once(self, seller):
        created, repeated = overlap(*[partial(create_order, seller)] * 2)
        cancel = partial(orders.cancel, order=created, by=BY, at=timezone.now())
        _cancelled, refused = overlap(cancel, cancel)

        assert [name_of(error) for error in (repeated, refused)] == ["DuplicateOrder", "AlreadyCancelled"]
        assert (Order.objects.count(), StatusLog.objects.count()) == (1, 2)

    def test_is_created_again_once_by_two_who_find_it_cancelled(self, seller):
        cancelled = create_order(seller)
        orders.cancel(order=cancelled, by=BY, at=timezone.now())

        created, refused = overlap(*[partial(create_order, seller)] * 2)

        assert name_of(refused) == "DuplicateOrder"
        assert [*Order.objects.order_by("pk").values_list("pk", "code_reused")] == [
            (cancelled.pk, True), (created.pk, False),
        ]  # fmt: skip  # a list


class TestCorrection:
    """Of an order in an open manifest: it is of what is handed over, or refused."""

    @pytest.fixture
    def order(self, seller):
        return create_order(seller, orderId="A-1")

    @pytest.fixture
    def correct(self, order):
        def make(**changes):
            return partial(orders.correct, order=order, changes=changes, by=BY, at=timezone.now())

        return make

    @pytest.fixture
    def moves(self, seller, order):
        """The actions after which the order does not wait any more."""
        at = timezone.now()
        manifest = manifests.create(seller=seller, environment="live", orders=[order], by=BY, at=at)
        return {
            "move": partial(orders.move, order=order, to=Status.COLLECTED, by=BY, at=at),
            "cancel": partial(orders.cancel, order=order, by=BY, at=at),
            "close": partial(manifests.close, manifest=manifest, by=BY, at=at),
        }

    @pytest.mark.parametrize("name", ["move", "cancel", "close"])
    def test_is_refused_once_the_order_does_not_wait(self, correct, moves, name):
        _moved, refused = overlap(moves[name], correct(volumes=2))

        assert name_of(refused) == "OrderNotPending"
        assert Order.objects.get().volumes == 1

    @pytest.mark.parametrize("name", ["move", "cancel", "close"])
    def test_is_kept_by_what_comes_after_it(self, correct, moves, name):
        _corrected, moved = overlap(correct(volumes=2), moves[name])

        assert not isinstance(moved, Exception)
        assert (Order.objects.get().volumes, Order.objects.get().status != "pending") == (2, True)

    def test_of_something_else_stays(self, correct):
        assert overlap(correct(volumes=2), correct(cost=7)) == [None, None]

        order = Order.objects.get()
        assert [order.volumes, order.cost] == [2, 7]
        assert [*order.corrections.values_list("fields", flat=True)] == [["volumes"], ["orderCost"]]

    def test_and_an_invoice_that_is_received_are_linked_whichever_is_first(self, seller, correct):
        keys = [ACCESS_KEY, access_key(2)]
        for number, key in enumerate(keys):
            create_order(seller, orderId=f"B-{number}", invoice={"key": key})
        first, second = (partial(send_invoice, seller, nfe_xml(key=key, items=("C-1",)).encode()) for key in keys)

        overlap(first, correct(invoice={"key": keys[0]}))
        linked = [*Order.objects.get(code="A-1").invoices.values_list("access_key", flat=True)]
        overlap(correct(invoice={"key": keys[1]}), second)

        assert linked == keys[:1]
        assert [*Order.objects.get(code="A-1").invoices.values_list("access_key", flat=True)] == keys[1:]


class TestEndpoint:
    def test_is_made_once_by_two_who_need_it(self, seller):
        first = partial(endpoints.first, WebhookEndpoint, owner=seller.pk, environment="live")

        one, other = overlap(first, first)

        assert one == other == WebhookEndpoint.objects.get()

    def test_that_has_just_been_removed_is_not_changed(self, seller):
        beside = endpoints.first(WebhookEndpoint, owner=seller.pk, environment="live")
        at, url = timezone.now(), CheckedUrl("http://127.0.0.1:9/other")
        added = endpoints.add(beside=beside, url=url, statuses=[], by=BY, at=at)
        authentication = Authentication.parse("bearer:open-sesame")

        _removed, changed = overlap(
            partial(endpoints.remove, endpoint=added, by=BY, at=at),
            partial(webhooks.set_authentication, endpoint=added, authentication=authentication, by=BY, at=at),
        )

        assert name_of(changed) == "DoesNotExist"


class TestFeed:
    def test_leaves_an_order_that_is_being_moved(self, seller):
        endpoint = endpoints.first(WebhookEndpoint, owner=seller.pk, environment="live")
        order = create_order(seller)
        move = partial(orders.move, order=order, to=Status.COLLECTED, by=BY, at=timezone.now())
        read = partial(feed.read, endpoint=endpoint, after=0, limit=10, at=timezone.now())

        _moved, found = overlap(move, partial(without_waiting, read))

        assert found == []
        assert [event.sequence for event in read()] == [1, 2]


class TestManifest:
    @pytest.fixture
    def order(self, seller):
        return create_order(seller)

    @pytest.fixture
    def create(self, seller, order):
        return partial(manifests.create, seller=seller, environment="live", orders=[order], by=BY, at=timezone.now())

    def test_takes_an_order_once(self, create):
        _created, refused = overlap(create, create)

        assert name_of(refused) == "InOpenManifest"
        assert (Manifest.objects.count(), ManifestEntry.objects.count()) == (1, 1)

    def test_is_closed_once(self, create):
        close = partial(manifests.close, manifest=create(), by=BY, at=timezone.now())

        assert overlap(close, close) == [None, None]

        assert StatusLog.objects.filter(status="collected").count() == 1

    def test_is_closed_with_what_was_added_before(self, seller, create):
        manifest = create()
        more, later = (create_order(seller, orderId=f"B-{number}") for number in range(2))
        close = partial(manifests.close, manifest=manifest, by=BY, at=timezone.now())

        overlap(partial(manifests.add, manifest=manifest, orders=[more], by=BY), close)
        closed = Manifest.objects.create(seller=seller, created_at=timezone.now(), created_by=BY)
        manifests.add(manifest=closed, orders=[later], by=BY)
        _closed, refused = overlap(
            partial(manifests.close, manifest=closed, by=BY, at=timezone.now()),
            partial(manifests.add, manifest=closed, orders=[create_order(seller, orderId="B-9")], by=BY),
        )

        assert [order.status for order in Order.objects.filter(code__startswith="B").order_by("code")] == [
            "collected", "collected", "pending",
        ]  # fmt: skip  # a list
        assert name_of(refused) == "ManifestClosed"

    def test_loses_an_order_that_is_cancelled_until_it_is_closed(self, seller, order, create):
        manifest = create()
        close = partial(manifests.close, manifest=manifest, by=BY, at=timezone.now())
        cancel = partial(orders.cancel, order=order, by=BY, at=timezone.now())

        _cancelled, refused = overlap(cancel, close)

        assert name_of(refused) == "ManifestEmpty"
        kept = create_order(seller, orderId="A-2")
        closed = manifests.create(seller=seller, environment="live", orders=[kept], by=BY, at=timezone.now())
        overlap(
            partial(manifests.close, manifest=closed, by=BY, at=timezone.now()),
            partial(orders.cancel, order=kept, by=BY, at=timezone.now()),
        )
        assert [entry.order.status for entry in closed.entries.all()] == ["cancelled"]


class TestReplay:
    @pytest.fixture
    def unaddressed(self, seller):
        """Two orders whose events can be sent, with keys whose texts have the other sequence."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT setval('integration_order_id_seq', 99999998)")
        made = [create_order(seller, orderId=f"A-{number}") for number in range(2)]
        endpoint = endpoints.first(WebhookEndpoint, owner=seller.pk, environment="live")
        endpoints.store_url(endpoint=endpoint, url=CheckedUrl("http://127.0.0.1:9/"), by=BY, at=timezone.now())
        return made

    def test_and_the_moves_of_a_manifest_do_not_wait_for_each_other(self, unaddressed):
        low, high = (
            partial(orders.move, order=order, to=Status.COLLECTED, by=BY, at=timezone.now()) for order in unaddressed
        )
        replay = partial(replays.replay, events=WebhookEvent.objects.filter(sequence=1), by=BY, at=timezone.now())

        _low, replayed, moved = overlap(low, replay, then=high)

        assert (replayed.again, name_of(moved)) == (2, "Order")

    def test_queues_orders_in_the_sequence_in_which_a_manifest_moves_them(self, seller, unaddressed):
        low, high = unaddressed
        manifest = manifests.create(seller=seller, environment="live", orders=[high, low], by=BY, at=timezone.now())

        manifests.close(manifest=manifest, by=BY, at=timezone.now())

        assert list(WebhookQueueItem.objects.order_by("pk").values_list("order", flat=True)) == [low.pk, high.pk]


class TestMailsToAReceiver:
    def test_are_stopped_once(self, seller):
        stop = partial(receiver_mails.stop, order=create_order(seller), at=timezone.now())

        assert overlap(stop, stop) == [None, None]

        assert ReceiverMailStop.objects.count() == 1

    @pytest.fixture
    def order(self, seller, settings):
        settings.EMAIL_URL = "smtp://127.0.0.1:9"
        sellers.set_receiver_mails(seller=seller, are_on=True, by=BY, at=timezone.now())
        return create_order(seller, receiver={**order_body()["receiver"], "email": "maria@shop.example"})

    def test_are_stopped_with_the_one_of_a_move_that_has_not_seen_it(self, order):
        at = timezone.now()
        move = partial(orders.move, order=order, to=Status.COLLECTED, by=BY, at=at)

        _order, stopped = overlap(move, partial(receiver_mails.stop, order=order, at=at))

        assert stopped is None
        assert not Message.objects.exists()

    def test_are_kept_if_they_have_just_been_sent(self, order):
        orders.move(order=order, to=Status.COLLECTED, by=BY, at=timezone.now())
        ended = {"ended_at": timezone.now(), "body_ciphertext": "", "unsubscribe_ciphertext": ""}
        sent = partial(Message.objects.update, state=MessageState.SENT, **ended)

        overlap(sent, partial(receiver_mails.withdraw, order.receiver_mails.all()))

        assert (Message.objects.count(), order.receiver_mails.count()) == (1, 1)


class TestKeys:
    def test_are_no_more_than_allowed(self, seller, monkeypatch):
        monkeypatch.setattr(keys, "MOST_VALID", 1)
        issue = partial(keys.issue, seller=seller, by=BY, at=timezone.now())

        assert [name_of(result) for result in overlap(issue, issue)] == ["Issued", "TooManyKeys"]


class TestForgetting:
    def test_locks_events_in_the_sequence_of_replays(self, seller):
        endpoint = endpoints.first(WebhookEndpoint, owner=seller.pk, environment="live")
        endpoints.store_url(endpoint=endpoint, url=CheckedUrl("http://127.0.0.1:9/"), by=BY, at=timezone.now())
        url = CheckedUrl("http://127.0.0.1:9/2")
        endpoints.add(beside=endpoint, url=url, statuses=[], by=BY, at=timezone.now())
        order = create_order(seller)
        said = orders.Details(reason_code="ABSENT")
        for status, details in (
            (Status.COLLECTED, orders.NOTHING_MORE),
            (Status.DELIVERY_FAILED, said),
            (Status.RETURNED, said),
        ):
            orders.move(order=order, to=status, by=BY, at=timezone.now(), details=details)
        _first, early, late, _last = order.events.filter(sequence__gt=2).order_by("pk")
        # Stored behind the others, as an index has it, which begins with the endpoint.
        WebhookEvent.objects.filter(pk=early.pk).update(state="sent")
        at = timezone.now()

        def lock(event):
            return WebhookEvent.objects.select_for_update(nowait=True).get(pk=event.pk)

        _early, count, found = overlap(
            partial(lock, early),
            partial(forgetting.forget_orders_of, document="52998224725", until=at, at=at),
            then=partial(lock, late),
        )

        assert (count, found) == (1, late)

    def test_counts_an_order_once(self, seller):
        delivered(seller)
        at = timezone.now()
        forget = partial(forgetting.forget_orders_of, document="52998224725", until=at, at=at)

        assert overlap(forget, forget) == [1, 0]

    def test_of_a_request_counts_a_batch_once_that_two_runs_begin(self, monkeypatch):
        closed(MARIA)
        at = timezone.now()
        request = personal_data.record(person(phone=MARIA), kind=PersonRequestKind.FORGET, by=BY, at=at)
        forget = in_deliveries.forget_stops_of
        runs: list[Any] = []

        def forget_while_another_run_begins(*phone, **moments):
            count = forget(*phone, **moments)
            if not runs:
                runs.append(None)
                runs[0] = begin(lambda: personal_data.carry_out(PersonRequest.objects.get(pk=request.pk), at=at), pool)
            return count

        monkeypatch.setattr(in_deliveries, "forget_stops_of", forget_while_another_run_begins)
        with ThreadPoolExecutor(1) as pool:
            personal_data.carry_out(PersonRequest.objects.get(pk=request.pk), at=at)

        assert runs[0].result() == PersonRequest.objects.get(stops=1)


class TestImport:
    def test_compares_with_what_was_changed_meanwhile(self):
        load_tariff()
        rates = FreightRate.objects.filter(service="economy", zone="local")

        def load():
            file = TableFile(RateResource).create_dataset((NEW + LOCAL.format("44,90", "1,90", 3)).encode())
            return RateResource(is_locking=True).import_data(file)

        _updated, found = overlap(partial(rates.update, base_centavos=777), load)

        assert found.changing[0].cells[0].old == "7.77"
