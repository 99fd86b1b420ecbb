"""Leases: renewed while a request is in flight, kept when the outcome cannot be written yet, and not sent without."""

import asyncio
import threading
import time
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.utils import timezone

from common import clock
from common.webhooks import claims, http_client, sender
from common.webhooks.http_client import Result
from common.webhooks.sender import Sender
from delivery.actions import deliveries
from delivery.models import EventState, WebhookAttempt, WebhookEvent, WebhookQueueItem
from delivery.webhooks.outbox import OUTBOX
from tests.factories import BY, DeliveryFactory, DriverFactory
from tests.faults.waiting import until


def claim(*, at):
    return claims.claim(OUTBOX, lease=uuid4(), at=at, limit=100)


@pytest.fixture
def short_lease(monkeypatch):
    """One second, renewed often."""
    monkeypatch.setattr(claims, "LEASE", timedelta(seconds=1))
    monkeypatch.setattr(sender, "_RENEW_AFTER_SECONDS", 0.2)
    monkeypatch.setattr(sender, "_RENEWAL_INTERVAL_SECONDS", 0.1)


@pytest.fixture
def claiming_often(monkeypatch):
    monkeypatch.setattr(sender, "_CLAIM_AT_LEAST_EVERY_SECONDS", 0.05)


@pytest.fixture
def short_lock_timeout(monkeypatch):
    monkeypatch.setattr(claims, "LOCK_TIMEOUT", timedelta(seconds=0.2))


@pytest.fixture
def sending_in_background(token, sink):
    """A running sender; stopped when the test has ended."""
    loop, worker = asyncio.new_event_loop(), Sender(OUTBOX)
    thread = threading.Thread(target=lambda: loop.run_until_complete(worker.run()), daemon=True)
    thread.start()
    yield lambda: loop.call_soon_threadsafe(worker.wake)
    loop.call_soon_threadsafe(worker.stop)
    thread.join(20)
    assert not thread.is_alive()
    loop.close()


class TestConstants:
    def test_leave_time_to_renew_a_lease_under_which_a_request_was_just_begun(self):
        wait = sender._RENEWAL_INTERVAL_SECONDS + claims.LOCK_TIMEOUT.total_seconds()

        assert sender._FRESH_SECONDS + wait < claims.LEASE.total_seconds()
        assert sender._RENEW_AFTER_SECONDS + wait < sender._FRESH_SECONDS

    def test_leave_a_lease_to_its_worker_whose_clock_differs_from_that_of_another(self):
        wait = sender._RENEWAL_INTERVAL_SECONDS + claims.LOCK_TIMEOUT.total_seconds()
        apart = 2 * clock.LARGEST_DIFFERENCE.total_seconds()  # one ahead of PostgreSQL, the other behind

        assert sender._RENEW_AFTER_SECONDS + wait + apart < claims.LEASE.total_seconds()

    def test_let_outcomes_be_written_before_the_next_claim_after_a_fault(self):
        assert sender._SETTLE_AGAIN_SECONDS < sender._CLAIM_AGAIN_SECONDS


@pytest.mark.django_db
class TestRenew:
    def test_moves_the_end_of_the_lease(self, token):
        DeliveryFactory.create(token=token)
        (item,) = claim(at=timezone.now())
        at = timezone.now() + timedelta(seconds=10)

        assert claims.renew(OUTBOX, [item.key], at=at) == [item.key]

        assert WebhookQueueItem.objects.get().due_at == at + claims.LEASE
        assert claim(at=at + claims.LEASE - timedelta(seconds=1)) == []

    def test_leaves_a_lease_that_another_worker_has(self, token):
        DeliveryFactory.create(token=token)
        (lost,) = claim(at=timezone.now())
        claim(at=timezone.now() + claims.LEASE)
        end = WebhookQueueItem.objects.get().due_at

        assert claims.renew(OUTBOX, [lost.key], at=timezone.now() + timedelta(hours=1)) == []

        assert WebhookQueueItem.objects.get().due_at == end

    @pytest.mark.django_db(transaction=True)
    def test_does_not_wait_for_an_item_that_another_transaction_has_locked(self, token, at_once):
        for _number in range(2):
            DeliveryFactory.create(token=token)
        locked, other = claim(at=timezone.now())

        with transaction.atomic():
            WebhookQueueItem.objects.select_for_update().get(pk=locked.item_id)
            (renewed,) = at_once(lambda: claims.renew(OUTBOX, [locked.key, other.key], at=timezone.now()))

        assert renewed == [other.key]


@pytest.mark.django_db(transaction=True)
class TestSender:
    def test_sends_an_event_once_when_the_request_takes_longer_than_the_lease(
        self, token, sink, send_due, at_once, short_lease
    ):
        DeliveryFactory.create(token=token)
        sink.delay_seconds = 2.5

        def send_due_later():
            for _second in range(3):
                time.sleep(1)
                send_due()

        outcomes = at_once(send_due, send_due_later)

        assert outcomes == [None, None]
        assert len(sink.received) == 1
        assert WebhookEvent.objects.get().state == EventState.SENT

    def test_renews_a_lease_only_when_it_was_set_some_time_ago(self, token, sink, send_due, short_lease, monkeypatch):
        renew = claims.renew
        renewals: list[Any] = []

        def recorded_renew(outbox, keys, **kwargs):
            renewals.extend(keys)
            return renew(outbox, keys, **kwargs)

        monkeypatch.setattr(sender, "_RENEW_AFTER_SECONDS", 0.8)
        monkeypatch.setattr(claims, "renew", recorded_renew)
        DeliveryFactory.create(token=token)
        sink.delay_seconds = 2
        started = time.monotonic()

        send_due()

        # A busy machine takes longer, and then there are more of them.
        assert 1 <= len(renewals) <= (time.monotonic() - started) / 0.8

    def test_claims_what_falls_due_without_a_wake_up(self, token, sink, claiming_often, sending_in_background):
        DeliveryFactory.create(token=token)

        until(lambda: sink.received, what="an event that no worker was told of")

    def test_compares_the_clocks_before_it_claims(self, token, send_due, monkeypatch):
        compared = []
        monkeypatch.setattr(clock, "compare_if_due", lambda: compared.append(WebhookQueueItem.objects.count()))
        DeliveryFactory.create(token=token)

        send_due()

        assert compared[0] == 1

    def test_claims_no_more_than_the_process_may_have_in_flight(self, token, sink, sending_in_background, monkeypatch):
        monkeypatch.setattr(sender, "_IN_FLIGHT", 2)
        for _number in range(4):
            DeliveryFactory.create(token=token)
        sink.delay_seconds = 0.5

        sending_in_background()
        until(lambda: sink.open_requests == 2, what="two requests are open")
        sending_in_background()
        until(lambda: not WebhookQueueItem.objects.exists(), what="everything is sent")

        assert (len(sink.received), sink.most_open_requests) == (4, 2)

    def test_leaves_an_item_whose_lease_could_end_before_it_is_renewed(self, token, sink, send_due, monkeypatch):
        DeliveryFactory.create(token=token)
        moments = iter([0.0])
        monkeypatch.setattr(
            sender, "time", type("Clock", (), {"monotonic": lambda: next(moments, sender._FRESH_SECONDS + 0.01)})
        )

        send_due()

        assert sink.received == []
        assert WebhookQueueItem.objects.get().lease is not None  # another worker claims it when the lease has ended


@pytest.mark.django_db(transaction=True)
class TestBlockedSettlement:
    """Another transaction holds a lock on a whole table, as a migration or VACUUM FULL does."""

    def test_holds_no_lock_that_a_change_waits_for_and_sends_the_event_once(
        self, token, sink, at_once, sending_in_background, short_lease, short_lock_timeout
    ):
        delivery, driver = DeliveryFactory.create(token=token), DriverFactory.create()

        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE delivery_webhookattempt IN SHARE ROW EXCLUSIVE MODE")
            sending_in_background()
            until(lambda: sink.received, what="the event is received")
            time.sleep(1.5)  # longer than the lease
            (accepted,) = at_once(
                lambda: deliveries.accept(delivery=delivery, driver=driver, by=BY, at=timezone.now()).last_sequence
            )
        until(lambda: not WebhookQueueItem.objects.exists(), what="everything is sent")

        assert accepted == 2
        assert [headers["webhook-sequence"] for headers, _body in sink.received] == ["1", "2"]
        assert set(WebhookEvent.objects.values_list("state", flat=True)) == {EventState.SENT}
        assert WebhookAttempt.objects.count() == 2

    def test_does_not_delay_other_deliveries_when_one_item_is_locked(
        self, token, sink, sending_in_background, short_lease
    ):
        locked, other = (DeliveryFactory.create(token=token) for _number in range(2))

        sink.delay_seconds = 0.3
        sending_in_background()
        until(lambda: len(sink.received) == 2, what="both events are received")
        with transaction.atomic():
            WebhookQueueItem.objects.select_for_update().get(delivery=locked)
            until(lambda: other.events.get().state == EventState.SENT, what="the other event is sent")
            assert locked.events.get().state == EventState.PENDING
        until(lambda: not WebhookQueueItem.objects.exists(), what="everything is sent")

        assert len(sink.received) == 2


@pytest.mark.django_db
@pytest.mark.django_db(transaction=True)  # an outcome that is refused ends the transaction
class TestSettleEachPossible:
    def test_writes_the_others_when_one_outcome_cannot_be_written(self, token):
        refused, *others = (DeliveryFactory.create(token=token).events.get() for _number in range(3))
        outcomes = [(item, Result(status_code=204)) for item in claim(at=timezone.now())]
        # The number of the attempt exists already, which a constraint forbids.
        WebhookAttempt.objects.create(event=refused, number=1, at=timezone.now(), milliseconds=1)

        assert sender._settle_each_possible(OUTBOX, outcomes) == []

        states = dict(WebhookEvent.objects.values_list("pk", "state"))
        assert states == {refused.pk: EventState.PENDING, **{event.pk: EventState.SENT for event in others}}


def test_the_stop_of_a_worker_waits_for_the_deadline_of_a_request():
    assert http_client.TOTAL_SECONDS < sender.STOP_SECONDS < 20
