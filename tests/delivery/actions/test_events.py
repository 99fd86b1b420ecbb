"""Sending events once more."""

from datetime import timedelta

import pytest
from django.utils import timezone

from delivery.actions import endpoints, events
from delivery.errors import EndpointCannotSend
from delivery.models import EventState, WebhookEvent, WebhookQueueItem
from tests.factories import BY, DeliveryFactory, TokenFactory


@pytest.fixture
def endpoint(db):
    return endpoints.set_url(
        endpoint=TokenFactory.create().integrator.endpoints.get(environment="live"),
        url="http://127.0.0.1:9/hook",
        by=BY,
        at=timezone.now(),
    )


@pytest.fixture
def delivery(endpoint):
    """A delivery whose three events were sent."""
    delivery = DeliveryFactory.create(token=endpoint.integrator.tokens.get(), collected=True)
    finish(delivery, EventState.SENT)
    return delivery


def finish(delivery, state):
    delivery.events.update(state=state)
    WebhookQueueItem.objects.filter(delivery=delivery).delete()


def replay(chosen):
    return events.replay(events=chosen, by=BY, at=timezone.now())


class TestReplay:
    def test_sends_a_sent_event_again_with_its_id_and_body(self, delivery):
        before = delivery.events.get(sequence=2)

        assert replay(WebhookEvent.objects.filter(pk=before.pk)) == 1

        item = WebhookQueueItem.objects.get()
        assert (item.event, item.event.body, item.event.state) == (before, before.body, EventState.PENDING)

    def test_takes_those_of_one_delivery_in_order(self, delivery):
        assert replay(delivery.events.filter(sequence__gte=2).order_by("-sequence")) == 2

        assert WebhookQueueItem.objects.get().event.sequence == 2
        assert delivery.events.filter(state=EventState.PENDING).count() == 2

    def test_takes_what_a_filter_and_a_time_range_leave(self, delivery):
        old = DeliveryFactory.create(token=delivery.token, at=timezone.now() - timedelta(days=3))
        finish(old, EventState.DEAD)
        finish(delivery, EventState.DEAD)
        since = timezone.now() - timedelta(days=1)

        assert replay(WebhookEvent.objects.filter(state=EventState.DEAD, created_at__gte=since)) == 3

        assert old.events.get().state == EventState.DEAD

    def test_joins_a_delivery_that_has_its_turn(self, delivery):
        last = delivery.events.get(sequence=3)
        WebhookEvent.objects.filter(pk=last.pk).update(state=EventState.PENDING)
        WebhookQueueItem.objects.create(event=last, delivery=delivery, endpoint=last.endpoint, due_at=timezone.now())

        assert replay(delivery.events.filter(sequence=1)) == 1

        assert WebhookQueueItem.objects.get().event == last
        assert delivery.events.get(sequence=1).state == EventState.PENDING

    def test_tries_at_once_what_waits_for_its_retry(self, delivery):
        finish(delivery, EventState.DEAD)
        replay(delivery.events.all())
        WebhookQueueItem.objects.update(due_at=timezone.now() + timedelta(hours=8))

        assert replay(delivery.events.filter(sequence=1)) == 1

        assert WebhookQueueItem.objects.get().due_at <= timezone.now()

    def test_leaves_what_is_in_flight(self, delivery):
        replay(delivery.events.filter(sequence=1))
        later = timezone.now() + timedelta(seconds=60)
        WebhookQueueItem.objects.update(due_at=later, lease=delivery.pk)

        assert replay(delivery.events.filter(sequence=1)) == 0

        assert WebhookQueueItem.objects.get().due_at == later

    def test_starts_the_schedule_anew_and_goes_on_counting_attempts(self, delivery):
        delivery.events.update(attempts_made=17)

        replay(delivery.events.filter(sequence=1))

        item = WebhookQueueItem.objects.get()
        assert (item.tries, item.event.attempts_made) == (0, 17)

    def test_is_refused_without_a_url_and_changes_nothing(self, delivery, endpoint):
        endpoints.set_url(endpoint=endpoint, url="", by=BY, at=timezone.now())

        with pytest.raises(EndpointCannotSend, match="no URL"):
            replay(delivery.events.all())

        assert not delivery.events.filter(state=EventState.PENDING).exists()

    def test_sends_what_had_no_address_once_there_is_one(self, delivery):
        finish(delivery, EventState.UNADDRESSED)

        assert replay(delivery.events.all()) == 3

    def test_sends_a_test_event_again(self, endpoint):
        event = endpoints.send_test(endpoint=endpoint, by=BY, at=timezone.now())
        WebhookQueueItem.objects.all().delete()
        WebhookEvent.objects.update(state=EventState.SENT)

        assert replay(WebhookEvent.objects.filter(pk=event.pk)) == 1

        assert WebhookQueueItem.objects.get().is_ordered is False
