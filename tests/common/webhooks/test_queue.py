"""Adding events to the queue and claiming items. The URL of `sink` is stored; nothing is sent to it."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.utils import timezone

from common.webhooks import claims, settlement
from common.webhooks.http_client import Result
from common.webhooks.outbox import ClaimedItem
from delivery.models import WebhookEndpoint, WebhookEvent, WebhookQueueItem
from delivery.webhooks.outbox import OUTBOX
from tests.factories import DeliveryFactory, TokenFactory

UNKNOWN = ClaimedItem(item_id=0, lease=uuid4(), event_id=uuid4(), endpoint_id=0, subject_id=None, sequence=1, body="")


def claim(*, later=timedelta(0), limit=100):
    return claims.claim(OUTBOX, lease=uuid4(), at=timezone.now() + later, limit=limit)


def endpoint_of(token):
    return token.integrator.endpoints.get(environment=token.environment)


@pytest.fixture
def others(receiving):
    """Another integrator's token."""
    return receiving(TokenFactory.create())


class TestAdd:
    def test_makes_one_item_for_the_first_event_of_a_delivery(self, token):
        delivery = DeliveryFactory.create(token=token, collected=True)

        assert WebhookQueueItem.objects.get().event == delivery.events.get(sequence=1)


class TestClaim:
    def test_returns_the_first_event_of_a_delivery_with_what_sending_needs(self, token):
        delivery = DeliveryFactory.create(token=token, collected=True)

        (claimed,) = claim()

        event = delivery.events.get(sequence=1)
        assert (claimed.event_id, claimed.body, claimed.sequence) == (event.pk, event.body, 1)
        assert (claimed.endpoint_id, claimed.subject_id, claimed.is_test) == (event.endpoint_id, delivery.pk, False)

    def test_claims_items_whose_lease_has_ended(self, token):
        DeliveryFactory.create(token=token)
        (first,) = claim()

        (second,) = claim(later=timedelta(seconds=15))

        assert (second.event_id, second.item_id) == (first.event_id, first.item_id)
        assert second.lease != first.lease

    def test_counts_a_lease_until_the_moment_at_which_it_ends(self, token):
        for _number in range(6):
            DeliveryFactory.create(token=token)
        at = timezone.now()
        claims.claim(OUTBOX, lease=uuid4(), at=at, limit=4)

        assert claims.claim(OUTBOX, lease=uuid4(), at=at + claims.LEASE - timedelta(microseconds=1), limit=100) == []
        assert len(claims.claim(OUTBOX, lease=uuid4(), at=at + claims.LEASE, limit=100)) == 4

    def test_does_not_count_items_that_wait_for_a_retry(self, token):
        for _number in range(8):
            DeliveryFactory.create(token=token)
        waiting = WebhookQueueItem.objects.order_by("pk").values_list("pk", flat=True)[:4]
        WebhookQueueItem.objects.filter(pk__in=list(waiting)).update(due_at=timezone.now() + timedelta(hours=1))

        assert len(claim()) == 4

    def test_leaves_at_most_four_of_an_endpoint_in_flight(self, token, others):
        for _number in range(6):
            DeliveryFactory.create(token=token)

        assert len(claim(limit=3)) == 3
        assert len(claim()) == 1
        DeliveryFactory.create(token=others)
        assert [claimed.endpoint_id for claimed in claim()] == [endpoint_of(others).pk]

    def test_claims_first_for_the_endpoint_that_has_waited_longest(self, token, others):
        DeliveryFactory.create(token=token)
        DeliveryFactory.create(token=others)
        WebhookQueueItem.objects.filter(endpoint=endpoint_of(others)).update(due_at=timezone.now() - timedelta(hours=1))

        assert [claimed.endpoint_id for claimed in claim(limit=1)] == [endpoint_of(others).pk]

    @pytest.mark.parametrize(
        "state",
        [
            {"enabled": False, "off_because": "staff", "off_since": timezone.now()},
            {"url": ""},
        ],
    )
    def test_leaves_endpoints_that_are_off_or_without_a_url(self, token, state):
        DeliveryFactory.create(token=token)
        WebhookEndpoint.objects.filter(pk=endpoint_of(token).pk).update(**state)

        assert claim() == []

    @pytest.mark.parametrize(("model", "field"), [(WebhookQueueItem, "due_at"), (WebhookEndpoint, "paused_until")])
    def test_leaves_items_until_the_moment_at_which_they_are_due_and_a_pause_has_ended(self, token, model, field):
        DeliveryFactory.create(token=token)
        until = timezone.now() + timedelta(seconds=30)
        model.objects.update(**{field: until})

        assert claims.claim(OUTBOX, lease=uuid4(), at=until - timedelta(microseconds=1), limit=1) == []
        assert len(claims.claim(OUTBOX, lease=uuid4(), at=until, limit=1)) == 1

    def test_claims_one_item_of_an_endpoint_whose_breaker_is_open(self, token):
        for _number in range(3):
            DeliveryFactory.create(token=token)
        WebhookEndpoint.objects.filter(pk=endpoint_of(token).pk).update(failures=5, paused_until=timezone.now())

        assert len(claim()) == 1
        assert claim() == []

    def test_claims_the_items_of_an_endpoint_in_the_order_in_which_they_are_due(self, token):
        items = [DeliveryFactory.create(token=token).queue_items.get() for _number in range(3)]
        for item, minutes in zip(items, (1, 3, 2), strict=True):
            WebhookQueueItem.objects.filter(pk=item.pk).update(due_at=timezone.now() - timedelta(minutes=minutes))

        assert [claim(limit=1)[0].item_id for _number in range(3)] == [items[1].pk, items[2].pk, items[0].pk]

    def test_makes_the_same_queries_for_any_number_of_items(self, token, django_assert_num_queries):
        for count in (1, 4):
            for _number in range(count):
                DeliveryFactory.create(token=token)
            with django_assert_num_queries(3):
                claim()
            WebhookEvent.objects.all().delete()

    @pytest.mark.django_db(transaction=True)
    def test_keeps_the_limit_of_four_when_workers_claim_concurrently(self, token, at_once):
        for _number in range(12):
            DeliveryFactory.create(token=token)

        claimed = at_once(*[claim] * 4)

        assert sum(map(len, claimed)) == 4

    @pytest.mark.django_db(transaction=True)
    def test_does_not_wait_for_an_item_that_another_transaction_has_locked(self, token, at_once):
        locked, other = (DeliveryFactory.create(token=token).queue_items.get() for _number in range(2))

        with transaction.atomic():
            WebhookQueueItem.objects.select_for_update().get(pk=locked.pk)
            (claimed,) = at_once(claim)

        assert [each.item_id for each in claimed] == [other.pk]


@pytest.mark.django_db
class TestLockTimeout:
    @pytest.mark.parametrize(
        "operation",
        [
            claim,
            lambda: claims.renew(OUTBOX, [], at=timezone.now()),
            lambda: settlement.lock(OUTBOX, [(UNKNOWN, Result())]),
        ],
        ids=["claim", "renew", "lock"],
    )
    def test_holds_for_the_rest_of_the_transaction(self, operation):
        operation()

        with connection.cursor() as cursor:
            cursor.execute("SHOW lock_timeout")
            assert cursor.fetchone() == ("2s",)
