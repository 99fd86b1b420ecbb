"""Sending recorded events again."""

from datetime import timedelta
from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from delivery.actions import deliveries, endpoints, events
from delivery.errors import EndpointCannotSend
from delivery.models import AuditAction, AuditEntry, EventState, WebhookEvent, WebhookQueueItem
from delivery.webhooks import queue
from delivery.webhooks.sending import Result
from delivery.webhooks.settlement import settle
from tests.factories import BY, DeliveryFactory, DriverFactory, TokenFactory


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

    def test_queues_those_of_one_delivery_in_order(self, delivery):
        assert replay(delivery.events.filter(sequence__gte=2).order_by("-sequence")) == 2

        assert WebhookQueueItem.objects.get().event.sequence == 2
        assert delivery.events.filter(state=EventState.PENDING).count() == 2

    def test_replays_the_events_of_the_queryset_only(self, delivery):
        old = DeliveryFactory.create(token=delivery.token, at=timezone.now() - timedelta(days=3))
        finish(old, EventState.DEAD)
        finish(delivery, EventState.DEAD)
        since = timezone.now() - timedelta(days=1)

        assert replay(WebhookEvent.objects.filter(state=EventState.DEAD, created_at__gte=since)) == 3

        assert old.events.get().state == EventState.DEAD

    def test_leaves_the_item_of_a_delivery_that_has_one(self, delivery):
        last = delivery.events.get(sequence=3)
        WebhookEvent.objects.filter(pk=last.pk).update(state=EventState.PENDING)
        WebhookQueueItem.objects.create(event=last, delivery=delivery, endpoint=last.endpoint, due_at=timezone.now())

        assert replay(delivery.events.filter(sequence=1)) == 1

        assert WebhookQueueItem.objects.get().event == last
        assert delivery.events.get(sequence=1).state == EventState.PENDING

    def test_sends_at_once_what_waits_for_a_retry(self, delivery):
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

    def test_restarts_the_schedule_and_continues_the_numbers_of_attempts(self, delivery):
        delivery.events.update(attempts_made=17)

        replay(delivery.events.filter(sequence=1))

        item = WebhookQueueItem.objects.get()
        assert (item.tries, item.event.attempts_made) == (0, 17)

    def test_is_refused_without_a_url_and_changes_nothing(self, delivery, endpoint):
        endpoints.set_url(endpoint=endpoint, url="", by=BY, at=timezone.now())

        with pytest.raises(EndpointCannotSend, match="no URL"):
            replay(delivery.events.all())

        assert not delivery.events.filter(state=EventState.PENDING).exists()

    def test_sends_what_was_recorded_before_there_was_a_url(self, delivery):
        finish(delivery, EventState.UNADDRESSED)

        assert replay(delivery.events.all()) == 3

    def test_sends_a_test_event_again(self, endpoint):
        event = endpoints.send_test(endpoint=endpoint, by=BY, at=timezone.now())
        WebhookQueueItem.objects.all().delete()
        WebhookEvent.objects.update(state=EventState.SENT)

        assert replay(WebhookEvent.objects.filter(pk=event.pk)) == 1

        assert WebhookQueueItem.objects.get().is_ordered is False


@pytest.mark.django_db(transaction=True)
class TestReplayInBatches:
    @pytest.fixture
    def two_batches(self, endpoint, monkeypatch):
        """Two deliveries of which a replay takes one after the other; `before_second` is called in between."""
        monkeypatch.setattr(events, "_BATCH", 1)
        sent = [DeliveryFactory.create(token=endpoint.integrator.tokens.get()) for _number in range(2)]
        for delivery in sent:
            finish(delivery, EventState.SENT)
        replay_batch, batches = events._replay_batch, []

        def arrange(before_second):
            def replay_batch_and_count(ids, **kwargs):
                batches.append(ids)
                if len(batches) == 2:
                    before_second()
                return replay_batch(ids, **kwargs)

            monkeypatch.setattr(events, "_replay_batch", replay_batch_and_count)
            return sent

        return arrange

    def run_command(self, endpoint):
        call_command(
            "replay_webhooks", "--integrator", str(endpoint.integrator_id), "--state", "any", stdout=StringIO()
        )

    def test_lets_others_change_and_settle_what_an_earlier_batch_has_queued(self, endpoint, two_batches, at_once):
        driver, outcomes = DriverFactory.create(), []

        def change_and_settle():
            with connection.cursor() as cursor:
                cursor.execute("SET lock_timeout = '500ms'")
            deliveries.accept(delivery=first, driver=driver, by=BY, at=timezone.now())
            (item,) = queue.claim(lease=uuid4(), at=timezone.now(), limit=10)
            return settle([(item, Result(status_code=204))], at=timezone.now())

        first, _second = two_batches(lambda: outcomes.extend(at_once(change_and_settle)))

        self.run_command(endpoint)

        assert outcomes == [[]]
        assert first.events.get(sequence=1).state == EventState.SENT
        assert WebhookQueueItem.objects.get(delivery=first).event.sequence == 2

    def test_keeps_what_was_done_when_a_later_batch_fails(self, endpoint, two_batches):
        def fail():
            raise OperationalError("the database is away")

        first, second = two_batches(fail)

        with pytest.raises(OperationalError):
            self.run_command(endpoint)

        assert first.events.get().state == EventState.PENDING
        assert second.events.get().state == EventState.SENT
        assert [item.delivery for item in WebhookQueueItem.objects.all()] == [first]
        replayed = AuditEntry.objects.filter(action=AuditAction.EVENTS_REPLAYED)
        assert [entry.subject for entry in replayed] == ["1"]

    def test_refuses_to_run_inside_a_transaction(self, endpoint, two_batches):
        first, _second = two_batches(lambda: None)

        with transaction.atomic(), pytest.raises(RuntimeError):
            replay(first.events.all())

        assert first.events.get().state == EventState.SENT
