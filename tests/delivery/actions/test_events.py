"""Sending recorded events again."""

from datetime import timedelta
from io import StringIO
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from common.webhooks import claims, endpoints, replays
from common.webhooks.errors import EndpointCannotSend
from common.webhooks.http_client import Result
from common.webhooks.replays import Replayed
from common.webhooks.settlement import settle
from delivery.actions import deliveries
from delivery.models import AuditAction, AuditEntry, EventState, WebhookEndpoint, WebhookEvent, WebhookQueueItem
from delivery.webhooks.outbox import OUTBOX
from tests.factories import BY, DeliveryFactory, DriverFactory, TokenFactory, add_endpoint


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
    return replays.replay(events=chosen, by=BY, at=timezone.now()).total


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

    def test_is_refused_for_all_if_one_of_several_endpoints_cannot_be_sent_to(self, delivery):
        off = add_endpoint(delivery.token)
        other = DeliveryFactory.create(token=delivery.token)
        finish(other, EventState.SENT)
        endpoints.set_enabled(endpoint=off, enabled=False, by=BY, at=timezone.now())

        with pytest.raises(EndpointCannotSend):
            replay(WebhookEvent.objects.all())

        assert not WebhookEvent.objects.filter(state=EventState.PENDING).exists()
        assert not AuditEntry.objects.filter(action=AuditAction.EVENTS_REPLAYED).exists()

    def test_sends_what_was_recorded_before_there_was_a_url(self, delivery):
        finish(delivery, EventState.UNADDRESSED)

        assert replay(delivery.events.all()) == 3

    def test_sends_each_test_event_again(self, endpoint):
        events = [endpoints.send_test(endpoint=endpoint, by=BY, at=timezone.now()) for _number in range(2)]
        WebhookQueueItem.objects.all().delete()
        WebhookEvent.objects.update(state=EventState.SENT)

        assert replay(WebhookEvent.objects.all()) == 2

        assert {(item.event, item.is_ordered) for item in WebhookQueueItem.objects.all()} == {
            (event, False) for event in events
        }


@pytest.mark.django_db(transaction=True)
class TestReplayInBatches:
    @pytest.fixture
    def two_batches(self, endpoint, monkeypatch):
        """Two deliveries of which a replay takes one after the other; `before_second` is called in between."""
        monkeypatch.setattr(replays, "_BATCH", 1)
        sent = [DeliveryFactory.create(token=endpoint.integrator.tokens.get()) for _number in range(2)]
        for delivery in sent:
            finish(delivery, EventState.SENT)
        replay_batch, batches = replays._replay_batch, []

        def arrange(before_second):
            def replay_batch_and_count(ids, **kwargs):
                batches.append(ids)
                if len(batches) == 2:
                    before_second()
                return replay_batch(ids, **kwargs)

            monkeypatch.setattr(replays, "_replay_batch", replay_batch_and_count)
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
            (item,) = claims.claim(OUTBOX, lease=uuid4(), at=timezone.now(), limit=10)
            return settle(OUTBOX, [(item, Result(status_code=204))], at=timezone.now())

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


class TestReplayOfWhatWaits:
    @pytest.fixture
    def failing(self, endpoint):
        """Two deliveries with three events each. Their first events were tried and are due in an hour."""
        token = endpoint.integrator.tokens.get()
        made = [DeliveryFactory.create(token=token, collected=True) for _number in range(2)]
        WebhookEvent.objects.filter(sequence=1).update(attempts_made=5)
        WebhookQueueItem.objects.update(due_at=timezone.now() + timedelta(hours=1), tries=5)
        return made

    def try_now(self, *chosen):
        keys = [event.pk for event in chosen]
        return replays.replay(events=WebhookEvent.objects.filter(pk__in=keys), by=BY, at=timezone.now(), ahead=True)

    def item(self, delivery):
        return WebhookQueueItem.objects.get(delivery=delivery)

    def test_is_sent_before_the_others_of_the_endpoint(self, failing):
        other, chosen = failing
        WebhookQueueItem.objects.filter(delivery=other).update(due_at=timezone.now() - timedelta(days=1))

        assert self.try_now(chosen.events.get(sequence=1)) == Replayed(due=1)

        (claimed,) = claims.claim(OUTBOX, lease=uuid4(), at=timezone.now(), limit=1)
        assert claimed.event_id == chosen.events.get(sequence=1).pk

    def test_tries_the_earlier_event_of_the_delivery_that_blocks_it(self, failing):
        _other, chosen = failing

        assert self.try_now(chosen.events.get(sequence=3)) == Replayed(behind=1)

        item = self.item(chosen)
        assert (item.event.sequence, item.due_at <= timezone.now()) == (1, True)

    def test_sends_an_ended_event_and_the_one_that_blocks_it(self, failing):
        _other, chosen = failing
        chosen.events.filter(sequence=2).update(state=EventState.DEAD)

        assert self.try_now(chosen.events.get(sequence=2)) == Replayed(again=1)

        assert self.item(chosen).due_at <= timezone.now()
        assert chosen.events.get(sequence=2).state == EventState.PENDING

    @pytest.mark.parametrize("sequence", [1, 2])
    def test_leaves_what_a_worker_holds_and_what_waits_for_it(self, failing, sequence):
        _other, chosen = failing
        WebhookQueueItem.objects.filter(delivery=chosen).update(lease=uuid4())
        before = self.item(chosen)

        assert self.try_now(chosen.events.get(sequence=sequence)) == Replayed(in_flight=1)

        after = self.item(chosen)
        assert (after.due_at, after.lease, after.tries) == (before.due_at, before.lease, before.tries)

    @pytest.mark.parametrize(("sequence", "told"), [(1, Replayed(due=1)), (2, Replayed(behind=1))])
    def test_is_sent_now_where_the_lease_of_a_worker_has_ended(self, failing, sequence, told):
        _other, chosen = failing
        WebhookQueueItem.objects.filter(delivery=chosen).update(lease=uuid4(), due_at=timezone.now())

        assert self.try_now(chosen.events.get(sequence=sequence)) == told

    def test_does_not_count_towards_the_schedule_however_often_it_is_asked_for(self, failing):
        _other, chosen = failing

        for _time in range(3):
            self.try_now(chosen.events.get(sequence=1))

        assert self.item(chosen).tries == 4

    @pytest.mark.parametrize("ahead", [False, True])
    def test_keeps_the_tries_of_what_is_due_already(self, failing, ahead):
        _other, chosen = failing
        at = timezone.now()
        WebhookQueueItem.objects.filter(delivery=chosen).update(due_at=at)

        replays.replay(events=chosen.events.filter(sequence=1), by=BY, at=at, ahead=ahead)

        assert self.item(chosen).tries == 5

    def test_does_not_wait_for_the_next_probe_but_for_the_pause_that_the_endpoint_asked_for(self, failing, endpoint):
        _other, chosen = failing
        later = timezone.now() + timedelta(minutes=1)
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(failures=9, paused_until=later)

        self.try_now(chosen.events.get(sequence=1))
        assert len(claims.claim(OUTBOX, lease=uuid4(), at=timezone.now(), limit=9)) == 1

        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(paused_until=later, retry_after_until=later)
        WebhookQueueItem.objects.update(lease=None)
        self.try_now(chosen.events.get(sequence=1))
        assert claims.claim(OUTBOX, lease=uuid4(), at=timezone.now(), limit=9) == []
