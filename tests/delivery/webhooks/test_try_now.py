"""Events that a person has tried at once, while a worker sends."""

import time
from datetime import timedelta

import pytest
from django.utils import timezone

from common.webhooks import replays
from common.webhooks.replays import Replayed
from delivery.models import EventState, WebhookAttempt, WebhookEndpoint, WebhookEvent, WebhookQueueItem
from tests.factories import BY

pytestmark = pytest.mark.django_db(transaction=True)


def try_now(*chosen):
    keys = [event.pk for event in chosen]
    return replays.replay(events=WebhookEvent.objects.filter(pk__in=keys), by=BY, at=timezone.now(), ahead=True)


class TestTryNow:
    @pytest.fixture
    def failing(self, first, sink, endpoint, send_due):
        """The first of three events of a delivery. It failed, and the breaker waits for a minute."""
        sink.answers = [(503, {}, b"")]
        send_due()
        later = timezone.now() + timedelta(minutes=1)
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(failures=9, paused_until=later)
        return first

    def test_sends_the_event_without_waiting_and_then_those_behind_it(self, failing, sink, send_due):
        sink.answers = [(204, {}, b"")]

        assert try_now(failing.delivery.events.get(sequence=3)) == Replayed(behind=1)
        send_due()

        assert [headers["webhook-sequence"] for headers, _body in sink.received] == ["1", "1", "2", "3"]
        assert set(WebhookEvent.objects.values_list("state", flat=True)) == {EventState.SENT}

    def test_is_repeated_by_the_schedule_when_it_fails_again(self, failing, sink, send_due):
        try_now(failing)
        send_due()

        assert list(WebhookAttempt.objects.values_list("number", flat=True)) == [1, 2]
        assert WebhookQueueItem.objects.get(event=failing).due_at > timezone.now()

    def test_sends_nothing_twice_while_a_worker_holds_it(self, first, sink, send_due, at_once):
        sink.delay_seconds = 0.5

        def try_while_it_is_sent():
            while not sink.open_requests:
                time.sleep(0.01)
            return try_now(first)

        _none, replayed = at_once(send_due, try_while_it_is_sent)

        assert replayed == Replayed(in_flight=1)
        assert [headers["webhook-sequence"] for headers, _body in sink.received] == ["1", "2", "3"]
