"""What is recorded for each entry of a status log."""

import json
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from common.webhooks import endpoints, feed
from common.webhooks.endpoints import CheckedUrl
from common.webhooks.models import EventState
from common.workers import wake_up
from integration import task_names
from integration.actions import orders
from integration.actions.orders import Details
from integration.lifecycle import Status
from integration.models import Order, WebhookEndpoint, WebhookEvent, WebhookQueueItem
from tests.integration.factories import BY, access_key, create_order, nfe_xml, send_invoice

pytestmark = pytest.mark.django_db


def move(order, *statuses, **details):
    for status in statuses:
        orders.move(order=order, to=Status(status), by=BY, at=timezone.now(), details=Details(**details))


def bodies(order):
    return [json.loads(event.body) for event in order.events.first_ones().order_by("sequence")]


def set_url(endpoint, url="http://127.0.0.1:9/hook"):
    return endpoints.store_url(endpoint=endpoint, url=CheckedUrl(url), by=BY, at=timezone.now())


@pytest.fixture
def with_url(endpoint):
    return set_url(endpoint)


@pytest.mark.usefixtures("with_url")
class TestOrder:
    def test_has_an_event_with_the_whole_log_for_each_entry(self, seller):
        order = create_order(seller)

        move(order, "collected", "delivered")

        assert [(each["status"], len(each["statusLog"])) for each in bodies(order)] == [
            ("pending", 1), ("collected", 2), ("delivered", 3),
        ]  # fmt: skip  # a table
        assert list(order.events.order_by("sequence").values_list("sequence", flat=True)) == [1, 2, 3]

    def test_is_told_with_these_keys(self, seller):
        order = create_order(seller, orderId="A-9")

        (body,) = bodies(order)
        entry = order.status_log.get()
        assert body == {
            "orderId": "A-9",
            "trackingCode": order.tracking_code,
            "status": "pending",
            "occurredAt": entry.created_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "reason": None,
            "statusLog": [
                {
                    "order_id": order.pk,
                    "status": "pending",
                    "company_id": order.company_id,
                    "via_api": True,
                    "created_at": entry.created_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
                    "updated_at": entry.updated_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
                }
            ],
            "invoices": [],
        }

    def test_is_told_with_what_was_reported(self, seller):
        order = create_order(seller)

        move(order, "collected")
        happened_at = timezone.now()
        move(order, "delivery_failed", reason_code="ABSENT", place="Bahia", happened_at=happened_at)

        last = bodies(order)[-1]
        assert last["reason"] == {"code": "ABSENT", "text": None, "place": "Bahia"}
        assert last["occurredAt"] == happened_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    @pytest.mark.parametrize("has_url", [True, False])
    def test_is_told_with_all_of_its_invoices(self, seller, endpoint, has_url):
        """Of several orders, and of those that are linked when the order is created."""
        keys = [access_key(number) for number in range(2)]
        for key in keys:
            send_invoice(seller, nfe_xml(key=key, items=["A-1", "A-2"]).encode())
        if not has_url:
            set_url(endpoint, "")

        made = [create_order(seller, orderId=code) for code in ("A-1", "A-2")]
        for order in made:
            move(order, "collected")
        feed.read(endpoint=endpoint, after=0, limit=10, at=timezone.now())

        told = [[sorted(each["invoices"]) for each in bodies(order)] for order in made]
        assert told == [[keys, keys]] * 2

    def test_is_told_once_of_an_invoice_that_it_names_and_that_may_mean_it(self, seller):
        key = access_key(1)
        send_invoice(seller, nfe_xml(key=key, items=["MARKETPLACE-000"]).encode())

        order = create_order(seller, orderId="MARKETPLACE-0001", orderCost="150.50", invoice={"key": key})

        assert bodies(order)[0]["invoices"] == [key]

    def test_leaves_no_event_if_its_transaction_is_rolled_back(self, seller):
        with transaction.atomic():
            create_order(seller)
            transaction.set_rollback(True)

        assert WebhookEvent.objects.count() == 0


class TestWithoutAUrl:
    def test_records_nothing_until_the_feed_is_read(self, seller, endpoint):
        order, other = create_order(seller), create_order(seller, "sandbox", orderId="T-1")
        move(order, "collected")
        before = WebhookEvent.objects.count()

        found = feed.read(endpoint=endpoint, after=0, limit=10, at=timezone.now())

        assert before == 0
        assert [(event.sequence, event.state) for event in found] == [(1, "unaddressed"), (2, "unaddressed")]
        assert [len(each["statusLog"]) for each in bodies(order)] == [1, 2]
        assert [event.created_at for event in found] == [entry.created_at for entry in order.status_log.all()]
        assert [*Order.objects.exclude(unrecorded_at=None)] == [other]
        assert WebhookQueueItem.objects.count() == 0

    def test_records_once_what_is_read_twice(self, seller, endpoint):
        order = create_order(seller)
        feed.read(endpoint=endpoint, after=0, limit=10, at=timezone.now())
        move(order, "collected")

        for _number in range(2):
            feed.read(endpoint=endpoint, after=0, limit=10, at=timezone.now())

        assert list(order.events.order_by("sequence").values_list("sequence", flat=True)) == [1, 2]

    def test_leaves_out_what_is_older_than_the_feed(self, seller, endpoint):
        order = create_order(seller)
        Order.objects.filter(pk=order.pk).update(unrecorded_at=timezone.now() - timedelta(days=31))

        assert feed.read(endpoint=endpoint, after=0, limit=10, at=timezone.now()) == []

    def test_makes_no_endpoint(self, seller):
        move(create_order(seller), "collected")

        assert not WebhookEndpoint.objects.exists()

    def test_set_later_is_sent_what_happens_from_then_on(self, seller, endpoint):
        order = create_order(seller)
        WebhookEndpoint.objects.update(url="http://127.0.0.1:9/hook")  # while the order was being created

        move(order, "collected")

        states = order.events.order_by("sequence").values_list("sequence", "state")
        assert list(states) == [(1, "unaddressed"), (2, "pending")]
        assert Order.objects.get().unrecorded_at is None

    def test_set_later_leaves_the_events_before_it_to_be_recovered(self, seller, endpoint):
        order = create_order(seller)

        set_url(endpoint)

        assert order.events.get().state == EventState.UNADDRESSED


class TestEndpoint:
    def test_with_a_url_is_sent_the_first_event_and_the_others_after_it(self, seller, endpoint):
        set_url(endpoint)

        order = create_order(seller)
        move(order, "collected")

        assert set(order.events.values_list("state", flat=True)) == {EventState.PENDING}
        assert WebhookQueueItem.objects.get().event == order.events.get(sequence=1)

    @pytest.mark.parametrize("has_url", [True, False])
    def test_is_told_by_a_worker_that_is_woken_once_that_is_committed(
        self, seller, endpoint, monkeypatch, django_capture_on_commit_callbacks, has_url
    ):
        order, woken = create_order(seller), []
        if has_url:
            set_url(endpoint)
        monkeypatch.setattr(wake_up, "send", lambda task, **_messages: woken.append(task))

        with django_capture_on_commit_callbacks(execute=True):
            create_order(seller, orderId="A-2")
            created = [*woken]
        with django_capture_on_commit_callbacks(execute=True):
            move(order, "collected")

        assert (created, woken) == ([], [task_names.SEND_DUE] * 2 if has_url else [])

    def test_of_the_sandbox_is_not_told_of_live_orders(self, seller):
        set_url(endpoints.create(WebhookEndpoint, owner=seller.pk, environment="sandbox"))

        create_order(seller)

        assert not WebhookEvent.objects.exists()

    def test_is_sent_what_its_filter_has(self, seller, endpoint):
        set_url(endpoint)
        endpoints.set_filter(endpoint=endpoint, statuses=["delivered"], by=BY, at=timezone.now())
        further = endpoints.add(
            beside=endpoint, url=CheckedUrl("http://127.0.0.1:9/2"), statuses=["collected"], by=BY, at=timezone.now()
        )

        order = create_order(seller)
        move(order, "collected", "delivered")

        states = order.events.filter(endpoint=endpoint).order_by("sequence").values_list("name", "state")
        assert list(states) == [("pending", "filtered"), ("collected", "filtered"), ("delivered", "pending")]
        copied = order.events.get(endpoint=further)
        assert (copied.name, copied.webhook_id) == ("collected", order.events.get(endpoint=endpoint, sequence=2).pk)
