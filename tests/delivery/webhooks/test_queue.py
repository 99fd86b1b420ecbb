"""Whose item it is, and who may take it. `sink` is an address only: nothing is sent here."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from delivery.actions import endpoints
from delivery.models import WebhookEndpoint, WebhookEvent, WebhookQueueItem
from delivery.webhooks import queue
from tests.factories import BY, DeliveryFactory, TokenFactory


def claim(*, later=timedelta(0), limit=100):
    return queue.claim(lease=uuid4(), at=timezone.now() + later, limit=limit)


def endpoint_of(token):
    return token.integrator.endpoints.get(environment=token.environment)


@pytest.fixture
def others(db, sink):
    """Another integrator's token."""
    token = TokenFactory.create()
    endpoints.set_url(endpoint=endpoint_of(token), url=sink.url, by=BY, at=timezone.now())
    return token


class TestEntering:
    def test_gives_a_delivery_one_turn_at_its_first_event(self, token):
        delivery = DeliveryFactory.create(token=token, collected=True)

        assert WebhookQueueItem.objects.get().event == delivery.events.get(sequence=1)

    def test_leaves_no_turn_without_an_address(self, db):
        DeliveryFactory.create()

        assert not WebhookQueueItem.objects.exists()


class TestClaiming:
    def test_takes_one_event_of_a_delivery_with_everything_that_sending_needs(self, token):
        delivery = DeliveryFactory.create(token=token, collected=True)

        (claimed,) = claim()

        event = delivery.events.get(sequence=1)
        assert (claimed.event_id, claimed.body, claimed.sequence) == (event.pk, event.body, 1)
        assert (claimed.endpoint_id, claimed.token_id, claimed.is_test) == (event.endpoint_id, token.pk, False)

    def test_leaves_what_another_worker_holds(self, token):
        DeliveryFactory.create(token=token)
        claim()

        assert claim(later=timedelta(seconds=14)) == []

    def test_takes_over_from_a_worker_that_died(self, token):
        DeliveryFactory.create(token=token)
        (first,) = claim()

        (second,) = claim(later=timedelta(seconds=15))

        assert (second.event_id, second.item_id) == (first.event_id, first.item_id)
        assert second.lease != first.lease

    def test_has_no_more_than_four_of_an_endpoint_in_flight(self, token, others):
        for _number in range(6):
            DeliveryFactory.create(token=token)

        assert len(claim(limit=3)) == 3
        assert len(claim()) == 1
        DeliveryFactory.create(token=others)
        assert [claimed.endpoint_id for claimed in claim()] == [endpoint_of(others).pk]

    def test_serves_the_endpoint_that_has_waited_longest_first(self, token, others):
        DeliveryFactory.create(token=token)
        DeliveryFactory.create(token=others)
        WebhookQueueItem.objects.filter(endpoint=endpoint_of(others)).update(due_at=timezone.now() - timedelta(hours=1))

        assert [claimed.endpoint_id for claimed in claim(limit=1)] == [endpoint_of(others).pk]

    @pytest.mark.parametrize(
        "state",
        [
            {"enabled": False, "off_because": "staff", "off_since": timezone.now()},
            {"url": ""},
            {"paused_until": timezone.now() + timedelta(hours=1)},
        ],
    )
    def test_leaves_alone_what_cannot_be_sent_to(self, token, state):
        DeliveryFactory.create(token=token)
        WebhookEndpoint.objects.filter(pk=endpoint_of(token).pk).update(**state)

        assert claim() == []

    def test_probes_a_failing_endpoint_with_one_event(self, token):
        for _number in range(3):
            DeliveryFactory.create(token=token)
        WebhookEndpoint.objects.filter(pk=endpoint_of(token).pk).update(failures=5, paused_until=timezone.now())

        assert len(claim()) == 1
        assert claim() == []

    def test_waits_until_it_is_due(self, token):
        DeliveryFactory.create(token=token)
        WebhookQueueItem.objects.update(due_at=timezone.now() + timedelta(seconds=30))

        assert claim() == []
        assert len(claim(later=timedelta(seconds=31))) == 1

    def test_asks_the_database_one_question_however_many_there_are(self, token, django_assert_num_queries):
        for count in (1, 4):
            for _number in range(count):
                DeliveryFactory.create(token=token)
            with django_assert_num_queries(1):
                claim()
            WebhookEvent.objects.all().delete()

    @pytest.mark.django_db(transaction=True)
    def test_never_exceeds_the_cap_when_workers_claim_at_once(self, token, at_once):
        for _number in range(12):
            DeliveryFactory.create(token=token)

        claimed = at_once(*[claim] * 4)

        assert sum(map(len, claimed)) == 4
