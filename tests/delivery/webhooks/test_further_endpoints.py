"""Events for further endpoints of an account and environment."""

import io
import json
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from common.webhooks import endpoints, replays
from common.webhooks.replays import Replayed
from delivery.actions import deliveries
from delivery.models import EventState, WebhookEndpoint, WebhookEvent, WebhookQueueItem
from panel.integrators.views.deliveries import history
from tests.factories import BY, DeliveryFactory, TariffFactory, TokenFactory, add_endpoint, payload


@pytest.fixture
def first(endpoint):
    """The first endpoint, which has a URL."""
    return endpoint


@pytest.fixture
def further(token):
    return add_endpoint(token)


def states(endpoint):
    """The sequence and the state of its events."""
    return list(endpoint.events.order_by("sequence").values_list("sequence", "state"))


class TestRecording:
    def test_writes_each_change_for_every_endpoint_with_one_webhook_id(self, token, first, further):
        delivery = DeliveryFactory.create(token=token, collected=True)

        own, copies = (list(delivery.events.filter(endpoint=each).order_by("sequence")) for each in (first, further))

        assert [event.sequence for event in copies] == [1, 2, 3]
        assert [(event.pk, event.name, event.body, event.created_at) for event in own] == [
            (event.copy_of, event.name, event.body, event.created_at) for event in copies
        ]
        assert [event.webhook_id for event in own] == [event.webhook_id for event in copies]

    def test_leaves_out_what_the_filter_of_a_further_one_does_not_have(self, token, further):
        endpoints.set_filter(endpoint=further, statuses=["COLLECTED", "PENDING"], by=BY, at=timezone.now())

        DeliveryFactory.create(token=token, collected=True)

        assert states(further) == [(1, EventState.PENDING), (3, EventState.PENDING)]
        assert WebhookQueueItem.objects.filter(endpoint=further).count() == 1

    def test_marks_what_the_filter_of_the_first_one_leaves_out(self, token, first):
        endpoints.set_filter(endpoint=first, statuses=["ACCEPT"], by=BY, at=timezone.now())

        DeliveryFactory.create(token=token, collected=True)

        assert states(first) == [(1, EventState.FILTERED), (2, EventState.PENDING), (3, EventState.FILTERED)]
        assert WebhookQueueItem.objects.get().event.sequence == 2

    def test_is_independent_of_the_url_of_the_first_one(self, token, first, further):
        endpoints.set_url(endpoint=first, url="", by=BY, at=timezone.now())

        DeliveryFactory.create(token=token)

        assert (states(first), states(further)) == ([(1, EventState.UNADDRESSED)], [(1, EventState.PENDING)])

    def test_writes_nothing_for_one_without_a_url_or_of_another_environment(self, token, further):
        endpoints.set_url(endpoint=further, url="", by=BY, at=timezone.now())
        add_endpoint(TokenFactory.create(integrator=token.integrator, environment="sandbox"))

        delivery = DeliveryFactory.create(token=token)

        assert delivery.events.count() == 1

    def test_by_a_request_queues_all(self, client_of, token, further):
        TariffFactory.create()

        client_of(token).post("/api/request-delivery", payload())

        assert WebhookQueueItem.objects.count() == 2
        assert {item.event.endpoint_id for item in WebhookQueueItem.objects.all()} == {
            endpoint.pk for endpoint in WebhookEndpoint.of(token.integrator_id, "live")
        }


class TestReading:
    @pytest.fixture
    def delivery(self, token, first, further):
        endpoints.set_filter(endpoint=first, statuses=["ACCEPT"], by=BY, at=timezone.now())
        return DeliveryFactory.create(token=token, collected=True)

    def test_of_the_feed_has_each_change_once(self, client_of, token, delivery):
        data = client_of(token).get("/api/events").json()["data"]

        assert [(item["sequence"], item["state"]) for item in data] == [
            (1, "filtered"), (2, "pending"), (3, "filtered"),
        ]  # fmt: skip
        assert not WebhookEvent.objects.filter(copy_of__isnull=False, feed_position__isnull=False).exists()

    def test_of_the_detail_has_each_change_once(self, client_of, token, delivery):
        found = client_of(token).get(f"/api/deliveries/{delivery.pk}").json()["events"]

        assert [event["sequence"] for event in found] == [1, 2, 3]

    def test_of_the_history_has_the_event_of_the_first_one(self, first, delivery):
        assert [step.event and step.event.endpoint_id for step in history(delivery)] == [first.pk] * 3


class TestReplay:
    @pytest.fixture
    def delivery(self, token, further):
        return DeliveryFactory.create(token=token, collected=True)

    def replay(self, chosen):
        return replays.replay(events=chosen, by=BY, at=timezone.now())

    def command(self, *arguments):
        output = io.StringIO()
        call_command("replay_webhooks", *arguments, stdout=output)
        return json.loads(output.getvalue())["replayed"]

    def test_leaves_the_other_endpoint_alone(self, delivery, first, further):
        later = timezone.now() + timedelta(hours=8)
        WebhookQueueItem.objects.update(due_at=later)

        assert self.replay(delivery.events.filter(endpoint=further, sequence=3)) == Replayed(behind=1)

        assert WebhookQueueItem.objects.get(endpoint=first).due_at == later
        assert WebhookQueueItem.objects.get(endpoint=further).due_at <= timezone.now()

    def test_of_ended_events_makes_an_item_for_each_endpoint(self, delivery):
        WebhookQueueItem.objects.all().delete()
        delivery.events.update(state=EventState.DEAD)

        assert self.replay(delivery.events.all()) == Replayed(again=6)

        assert [item.event.sequence for item in WebhookQueueItem.objects.all()] == [1, 1]

    def test_counts_what_another_worker_sends_by_endpoint(self, delivery, first, further):
        item = WebhookQueueItem.objects.get(endpoint=further)
        WebhookQueueItem.objects.filter(pk=item.pk).update(
            lease=item.event_id, due_at=timezone.now() + timedelta(seconds=9)
        )

        replayed = self.replay(delivery.events.filter(sequence__lte=2))

        assert replayed == Replayed(due=1, behind=1, in_flight=2)

    def test_by_command_sends_one_change_to_all_or_one(self, delivery, first, further):
        WebhookQueueItem.objects.all().delete()
        delivery.events.update(state=EventState.SENT)
        change = delivery.events.get(endpoint=first, sequence=2).pk

        assert self.command(f"--event={change}", "--endpoint=2") == 1
        assert WebhookQueueItem.objects.get().endpoint == further
        assert self.command(f"--event={change}") == 2

    def test_by_command_leaves_out_what_a_filter_did(self, token, first, further):
        endpoints.set_filter(endpoint=first, statuses=["ACCEPT"], by=BY, at=timezone.now())
        delivery = DeliveryFactory.create(token=token)

        assert self.command(f"--delivery={delivery.pk}", "--state=any") == 1

        assert delivery.events.get(endpoint=first).state == EventState.FILTERED


def test_an_event_waits_behind_one_that_is_settled_meanwhile_at_its_own_endpoint(token, further):
    """The item of one endpoint is gone, that of the other is there: each gets the new event."""
    delivery = DeliveryFactory.create(token=token, accepted=True)
    WebhookQueueItem.objects.filter(endpoint=further).delete()
    delivery.events.filter(endpoint=further).update(state=EventState.SENT)

    deliveries.collect(delivery=delivery, by=BY, at=timezone.now())

    sequences = dict(WebhookQueueItem.objects.values_list("endpoint__number", "event__sequence"))
    assert sequences == {1: 1, 2: 3}
