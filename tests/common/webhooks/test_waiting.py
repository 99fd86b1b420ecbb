"""Events that wait for a reason on our side, or were brought forward; neither uses up attempts of the schedule."""

import errno
import threading
from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from common.webhooks import claims, http_client, queue, settlement
from common.webhooks.http_client import Result
from common.webhooks.settlement import settle
from delivery.actions import deliveries, endpoints, events, tokens
from delivery.models import EventState, WebhookAttempt, WebhookEndpoint, WebhookEvent, WebhookQueueItem
from delivery.webhooks import outbox
from delivery.webhooks.outbox import OUTBOX
from tests.factories import BY, DeliveryFactory, DriverFactory


def claim(**kwargs):
    """Everything that is due, by the event's id."""
    return {each.event_id: each for each in claims.claim(OUTBOX, lease=uuid4(), at=timezone.now(), limit=100, **kwargs)}


def make_due():
    WebhookQueueItem.objects.update(due_at=timezone.now(), lease=None)


@pytest.mark.django_db(transaction=True)
def test_an_event_without_a_valid_token_counts_no_attempt_and_no_failure(token, sink, endpoint, send_due):
    DeliveryFactory.create(token=token)
    tokens.revoke(token=token, by=BY, at=timezone.now())

    for _time in range(3):
        make_due()
        send_due()

    endpoint.refresh_from_db()
    assert (sink.received, endpoint.failures, WebhookQueueItem.objects.get().tries) == ([], 0, 0)
    assert not WebhookAttempt.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_local_shortage_is_no_failure_of_the_endpoint(token, endpoint, send_due, monkeypatch):
    def no_file_handles(*_args, **_kwargs):
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(http_client, "guarded_socket", no_file_handles)
    DeliveryFactory.create(token=token)

    send_due()

    endpoint.refresh_from_db()
    assert (endpoint.failures, WebhookQueueItem.objects.get().tries) == (0, 0)


class TestBroughtForward:
    def test_an_endpoint_that_recovers_repeatedly_does_not_use_up_the_schedule(self, token, endpoint):
        bad, good = (DeliveryFactory.create(token=token).events.get() for _number in range(2))
        for _time in range(30):
            WebhookEndpoint.objects.filter(pk=endpoint.pk).update(failures=5, paused_until=None)
            make_due()
            WebhookEndpoint.objects.filter(pk=endpoint.pk).update(failures=0)
            claimed = claim()
            WebhookEndpoint.objects.filter(pk=endpoint.pk).update(failures=5)
            settle(OUTBOX, [(claimed[bad.pk], Result(error="protocol"))], at=timezone.now())
            settle(OUTBOX, [(claimed[good.pk], Result(status_code=204))], at=timezone.now())
            events.replay(events=WebhookEvent.objects.filter(pk=good.pk), by=BY, at=timezone.now())

        assert WebhookEvent.objects.get(pk=bad.pk).state == EventState.PENDING
        assert WebhookQueueItem.objects.get(event=bad).tries <= 1

    def test_exactly_three_days_are_too_long(self, token, endpoint):
        event = DeliveryFactory.create(token=token).events.get()
        later = event.created_at + timedelta(days=3)
        WebhookQueueItem.objects.update(due_at=later + timedelta(hours=1))

        assert queue.bring_forward(OUTBOX, endpoint_id=endpoint.pk, at=later) == 0
        assert queue.bring_forward(OUTBOX, endpoint_id=endpoint.pk, at=later - timedelta(microseconds=1)) == 1

    @pytest.mark.parametrize("means", ["url", "switch"])
    def test_a_new_url_and_switching_on_make_poisoned_events_due_too(self, token, endpoint, means):
        DeliveryFactory.create(token=token)
        WebhookQueueItem.objects.update(is_ordered=False, due_at=timezone.now() + timedelta(hours=9))
        at = timezone.now()

        if means == "url":
            endpoints.set_url(endpoint=endpoint, url=endpoint.url, by=BY, at=at)
        else:
            endpoints.set_enabled(endpoint=endpoint, enabled=True, by=BY, at=at)

        assert WebhookQueueItem.objects.get().due_at == at


def test_a_poisoned_event_does_not_count_against_the_endpoint(token, endpoint):
    poisoned = DeliveryFactory.create(token=token).events.get()
    WebhookQueueItem.objects.filter(event=poisoned).update(is_ordered=False)
    WebhookEndpoint.objects.filter(pk=endpoint.pk).update(failures=5)

    settle(OUTBOX, [(claim()[poisoned.pk], Result(status_code=422))], at=timezone.now())

    endpoint.refresh_from_db()
    assert (endpoint.failures, endpoint.paused_until) == (5, None)


def test_a_410_of_a_request_sent_before_the_breaker_opened_switches_the_endpoint_off(token, endpoint):
    for _number in range(2):
        DeliveryFactory.create(token=token)
    WebhookEndpoint.objects.filter(pk=endpoint.pk).update(failures=4, failing_since=timezone.now())
    first, second = claim().values()
    sent_at = timezone.now()

    settle(OUTBOX, [(first, Result(status_code=500, at=sent_at))], at=timezone.now())
    settle(OUTBOX, [(second, Result(status_code=410, at=sent_at))], at=timezone.now())

    endpoint.refresh_from_db()
    assert (endpoint.enabled, endpoint.off_because) == (False, "gone")


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
                write(*args, **kwargs)
                written.set()
                threading.Event().wait(0.3)

            monkeypatch.setattr(outbox, "record", slow_record)
            monkeypatch.setattr(module, name, slow_write)

        return arrange

    def test_a_replay_does_not_roll_a_transition_back(self, token, send_due, at_once, interleaved):
        delivery, driver = DeliveryFactory.create(token=token), DriverFactory.create()
        send_due()
        interleaved(queue, "add_again")

        outcomes = at_once(
            lambda: deliveries.accept(delivery=delivery, driver=driver, by=BY, at=timezone.now()),
            lambda: events.replay(events=WebhookEvent.objects.filter(delivery=delivery), by=BY, at=timezone.now()),
        )

        assert [outcome for outcome in outcomes if isinstance(outcome, Exception)] == []
        send_due()
        assert set(WebhookEvent.objects.values_list("state", flat=True)) == {EventState.SENT}

    def test_poisoning_an_event_does_not_roll_a_transition_back(self, token, endpoint, at_once, interleaved):
        delivery = DeliveryFactory.create(token=token, collected=True)
        WebhookQueueItem.objects.update(refusals=2, first_refused_at=timezone.now() - timedelta(minutes=1))
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(last_success_at=timezone.now())
        (claimed,) = claim().values()
        interleaved(settlement, "write")

        outcomes = at_once(
            lambda: deliveries.deliver_point(delivery=delivery, point="B", by=BY, at=timezone.now()),
            lambda: settle(OUTBOX, [(claimed, Result(status_code=500))], at=timezone.now()),
        )

        assert [outcome for outcome in outcomes if isinstance(outcome, Exception)] == []
        assert WebhookQueueItem.objects.filter(is_ordered=True).count() == 1
