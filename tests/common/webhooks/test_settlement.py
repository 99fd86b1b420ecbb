"""What an outcome changes: order, retries, poisoned events; and leases that were lost."""

import threading
import time
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from common.webhooks import claims, queue, replays, settlement
from common.webhooks.http_client import Result
from common.webhooks.settlement import settle
from delivery.actions import deliveries
from delivery.models import EventState, WebhookAttempt, WebhookEndpoint, WebhookEvent, WebhookQueueItem
from delivery.webhooks import outbox
from delivery.webhooks.outbox import OUTBOX
from tests.common.webhooks.settling import NOW, OK, REFUSED, TIMEOUT, attempt, claim, item_of
from tests.factories import BY, DeliveryFactory, DriverFactory


class TestSettle:
    def test_executes_no_statement_without_outcomes(self, db, django_assert_num_queries):
        with django_assert_num_queries(0):
            assert settle(OUTBOX, [], at=NOW) == []


class TestOutcome:
    def test_success_moves_the_item_on_to_the_next_event(self, first):
        attempt(first, OK)

        assert (first.state, first.attempts_made, first.sent_at is not None) == (EventState.SENT, 1, True)
        item = item_of(first.delivery)
        assert (item.event.sequence, item.tries, item.lease) == (2, 0, None)
        assert item.due_at <= timezone.now()

    def test_success_after_refusals_leaves_the_next_event_without_any(self, first):
        attempt(first, REFUSED)
        attempt(first, OK)

        item = item_of(first.delivery)
        assert (item.event.sequence, item.tries, item.refusals, item.first_refused_at) == (2, 0, 0, None)

    def test_success_sets_when_the_answer_arrived(self, first):
        attempt(first, {"status_code": 200, "milliseconds": 1500}, at=NOW)

        assert first.sent_at == NOW + timedelta(seconds=1.5)

    def test_failure_of_an_event_that_is_sent_again_keeps_when_it_was_received(self, first):
        attempt(first, OK, at=NOW)
        WebhookQueueItem.objects.all().delete()
        replays.replay(events=WebhookEvent.objects.filter(pk=first.pk), by=BY, at=NOW)

        attempt(first, REFUSED, at=NOW + timedelta(hours=1))

        assert (first.state, first.sent_at, first.attempts_made) == (EventState.PENDING, NOW, 2)

    def test_the_last_success_deletes_the_item(self, first):
        for event in first.delivery.events.order_by("sequence"):
            attempt(event, OK)

        assert not WebhookQueueItem.objects.exists()

    @pytest.mark.parametrize("outcome", [REFUSED, TIMEOUT])
    def test_failure_keeps_the_item_at_the_event_until_the_retry(self, first, outcome):
        attempt(first, outcome, at=NOW)

        item = item_of(first.delivery)
        assert (first.state, item.event, item.tries, item.lease) == (EventState.PENDING, first, 1, None)
        assert timedelta(seconds=4) <= item.due_at - NOW <= timedelta(seconds=6)

    def test_the_17th_failure_ends_the_event_and_moves_the_item_on(self, first):
        attempt(first, REFUSED)
        WebhookQueueItem.objects.update(tries=16)

        attempt(first, REFUSED)

        assert (first.state, first.attempts_made) == (EventState.DEAD, 2)
        assert item_of(first.delivery).event.sequence == 2

    def test_every_attempt_is_recorded(self, first):
        attempt(first, TIMEOUT)
        attempt(first, {"status_code": 503, "response_start": "busy", "milliseconds": 12})

        kept = WebhookAttempt.objects.values_list("number", "status_code", "error", "response_start", "milliseconds")
        assert list(kept) == [(1, None, "timeout", "", 0), (2, 503, "", "busy", 12)]

    def test_a_worker_that_lost_its_lease_writes_nothing(self, first):
        late = claim(at=NOW)[first.pk]
        current = claim(at=NOW + claims.LEASE)[first.pk]

        settle(OUTBOX, [(late, Result(**REFUSED))], at=NOW)

        first.refresh_from_db()
        assert (first.attempts_made, item_of(first.delivery).lease) == (0, current.lease)
        assert not WebhookAttempt.objects.exists()

    def test_of_a_deleted_event_is_ignored(self, first):
        claimed = claim(at=NOW)[first.pk]
        WebhookEvent.objects.all().delete()

        settle(OUTBOX, [(claimed, Result(**OK))], at=NOW)

        assert not WebhookAttempt.objects.exists()

    def test_makes_the_same_number_of_queries_for_any_number(self, token, django_assert_num_queries):
        for count in (1, 4):
            for _number in range(count):
                DeliveryFactory.create(token=token, collected=True)
            outcomes = [(claimed, Result(**OK, at=NOW)) for claimed in claim(at=timezone.now()).values()]
            with django_assert_num_queries(3):
                settle(OUTBOX, outcomes, at=NOW)
            WebhookEvent.objects.all().delete()


class TestPoisonedEvent:
    """After three refusals of an event, while the endpoint accepts others, later events no longer wait for it."""

    @pytest.fixture
    def others(self, token):
        """Events of other deliveries."""
        return [DeliveryFactory.create(token=token).events.get() for _number in range(2)]

    def test_no_longer_delays_later_events_after_three_refusals(self, first, others):
        attempt(first, REFUSED)
        attempt(first, REFUSED, also=others[:1])
        assert item_of(first.delivery).event == first

        attempt(first, REFUSED, also=others[1:])

        assert item_of(first.delivery).event.sequence == 2
        assert (first.queue_item.is_ordered, first.queue_item.tries, first.state) == (False, 3, EventState.PENDING)

    def test_is_found_at_a_later_refusal_when_the_endpoint_accepts_others_only_then(self, first, others):
        for also in (others[:0], others[:0], others[:0], others[:1]):
            assert item_of(first.delivery).event == first
            attempt(first, REFUSED, also=also)

        assert item_of(first.delivery).event.sequence == 2

    def test_is_retried_beside_the_later_events(self, first, others):
        for also in (others[:0], others[:1], others[1:]):
            attempt(first, REFUSED, also=also)

        attempt(first, OK)

        assert first.state == EventState.SENT
        assert item_of(first.delivery) == WebhookQueueItem.objects.get(delivery=first.delivery)
        assert item_of(first.delivery).event.sequence == 2

    def test_is_poisoned_once(self, first, others):
        for also in (others[:0], others[:1], others[1:], others[:0]):
            attempt(first, REFUSED, also=also)

        assert sorted(WebhookQueueItem.objects.values_list("event__sequence", "is_ordered")) == [(1, False), (2, True)]

    def test_delays_later_events_while_the_endpoint_accepts_none(self, first, endpoint):
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(last_success_at=timezone.now() - timedelta(minutes=1))

        for _try in range(6):
            attempt(first, REFUSED)

        assert item_of(first.delivery).event == first

    def test_delays_later_events_when_the_only_success_was_sent_at_the_moment_of_the_first_refusal(
        self, first, endpoint
    ):
        for _attempt in range(4):
            attempt(first, REFUSED, at=NOW)
            WebhookEndpoint.objects.filter(pk=endpoint.pk).update(last_success_at=NOW)

        assert item_of(first.delivery).event == first

    def test_delays_later_events_when_the_endpoint_does_not_answer(self, first, others):
        attempt(first, TIMEOUT)
        attempt(first, TIMEOUT, also=others[:1])
        attempt(first, TIMEOUT, also=others[1:])

        assert item_of(first.delivery).event == first


@pytest.mark.django_db(transaction=True)
class TestConcurrentChange:
    """A change is committed while a worker settles the event before it; the new event must be queued."""

    def test_the_new_event_is_queued(self, token, at_once):
        for _round in range(15):
            delivery = DeliveryFactory.create(token=token)
            driver = DriverFactory.create()
            (claimed,) = claim(at=timezone.now()).values()

            def change(delivery=delivery, driver=driver):
                with transaction.atomic():
                    deliveries.accept(delivery=delivery, driver=driver, by=BY, at=timezone.now())

            def record(claimed=claimed):
                while settle(OUTBOX, [(claimed, Result(**OK))], at=timezone.now()):
                    time.sleep(0.01)  # the change has locked the item

            assert at_once(change, record)[1] is None
            assert item_of(delivery).event.sequence == 2
            WebhookEvent.objects.all().delete()

    def test_the_outcome_of_a_delivery_that_is_being_changed_is_returned_and_the_others_are_written(
        self, token, at_once
    ):
        delivery, other = (DeliveryFactory.create(token=token) for _number in range(2))
        driver = DriverFactory.create()
        outcomes = [(claimed, Result(**OK)) for claimed in claim(at=timezone.now()).values()]

        with transaction.atomic():
            deliveries.accept(delivery=delivery, driver=driver, by=BY, at=timezone.now())
            (blocked,) = at_once(lambda: settle(OUTBOX, outcomes, at=timezone.now()))

        assert [claimed.event_id for claimed, _result in blocked] == [delivery.events.get(sequence=1).pk]
        assert (delivery.events.get(sequence=1).state, other.events.get().state) == (
            EventState.PENDING,
            EventState.SENT,
        )
        assert settle(OUTBOX, blocked, at=timezone.now()) == []
        assert item_of(delivery).event.sequence == 2

    def test_an_outcome_whose_lease_was_lost_is_not_returned(self, token, at_once):
        delivery = DeliveryFactory.create(token=token)
        (late,) = claim(at=timezone.now()).values()
        claim(at=timezone.now() + claims.LEASE)

        with transaction.atomic():
            WebhookQueueItem.objects.select_for_update().get()
            assert at_once(lambda: settle(OUTBOX, [(late, Result(**OK))], at=timezone.now())) == [[]]

        assert delivery.events.get().state == EventState.PENDING


@pytest.mark.django_db(transaction=True)
class TestConcurrentMove:
    """A transition has locked its delivery; another transaction writes the queue item and commits meanwhile."""

    @pytest.fixture
    def interleaved(self, monkeypatch):
        """Delay the transition after its lock until the other has written, and the other before its commit."""

        def arrange(module, name):
            locked, written = threading.Event(), threading.Event()
            record, write = outbox.record, getattr(module, name)

            def slow_record(**kwargs):
                locked.set()
                written.wait(5)
                return record(**kwargs)

            def slow_write(*args, **kwargs):
                locked.wait(5)
                returned = write(*args, **kwargs)
                written.set()
                threading.Event().wait(0.3)
                return returned

            monkeypatch.setattr(outbox, "record", slow_record)
            monkeypatch.setattr(module, name, slow_write)

        return arrange

    def test_a_replay_does_not_roll_a_transition_back(self, token, send_due, at_once, interleaved):
        delivery, driver = DeliveryFactory.create(token=token), DriverFactory.create()
        send_due()
        interleaved(queue, "add_again")

        outcomes = at_once(
            lambda: deliveries.accept(delivery=delivery, driver=driver, by=BY, at=timezone.now()),
            lambda: replays.replay(events=WebhookEvent.objects.filter(delivery=delivery), by=BY, at=timezone.now()),
        )

        assert [outcome for outcome in outcomes if isinstance(outcome, Exception)] == []
        send_due()
        assert set(WebhookEvent.objects.values_list("state", flat=True)) == {EventState.SENT}

    def test_poisoning_an_event_does_not_roll_a_transition_back(self, token, endpoint, at_once, interleaved):
        delivery = DeliveryFactory.create(token=token, collected=True)
        WebhookQueueItem.objects.update(refusals=2, first_refused_at=timezone.now() - timedelta(minutes=1))
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(last_success_at=timezone.now())
        (claimed,) = claim(at=timezone.now()).values()
        interleaved(settlement, "write")

        outcomes = at_once(
            lambda: deliveries.deliver(delivery=delivery, point="B", by=BY, at=timezone.now()),
            lambda: settle(OUTBOX, [(claimed, Result(status_code=500))], at=timezone.now()),
        )

        assert [outcome for outcome in outcomes if isinstance(outcome, Exception)] == []
        assert WebhookQueueItem.objects.filter(is_ordered=True).count() == 1
