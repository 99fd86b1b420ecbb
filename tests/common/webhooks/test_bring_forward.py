"""Items that wait for a retry are made due at once, when an endpoint recovers or an account gets a token again."""

from datetime import timedelta
from functools import partial
from threading import Event
from uuid import uuid4

import pytest
from django.db import transaction
from django.utils import timezone

from common.webhooks import claims, queue
from delivery.accounts import tokens
from delivery.models import Environment, WebhookQueueItem
from delivery.webhooks.outbox import OUTBOX
from tests.delivery.locking import wait_for_a_lock_waiter
from tests.factories import BY, DeliveryFactory, TokenFactory
from tests.overlapping import overlap

NOW = timezone.now()
LATER = NOW + timedelta(hours=1)


def waiting(token, **values):
    """The queue item of a new delivery, due in an hour unless `values` say otherwise."""
    item = DeliveryFactory.create(token=token).queue_items.get()
    WebhookQueueItem.objects.filter(pk=item.pk).update(**{"due_at": LATER, **values})
    return item


def due_at(item):
    return WebhookQueueItem.objects.get(pk=item.pk).due_at


class TestBringForward:
    @pytest.mark.parametrize(("tries", "left"), [(0, 0), (1, 0), (5, 4)])
    def test_makes_an_item_due_and_takes_back_one_try(self, token, endpoint, tries, left):
        waiting(token, tries=tries)

        assert queue.bring_forward(OUTBOX, endpoint_id=endpoint.pk, at=NOW) == 1

        item = WebhookQueueItem.objects.get()
        assert (item.due_at, item.tries) == (NOW, left)

    @pytest.mark.parametrize("values", [{"lease": uuid4()}, {"due_at": NOW}, {"is_ordered": False}])
    def test_leaves_items_that_are_claimed_due_or_poisoned(self, token, endpoint, values):
        waiting(token, tries=5, **values)
        before = list(WebhookQueueItem.objects.values())

        assert queue.bring_forward(OUTBOX, endpoint_id=endpoint.pk, at=NOW) == 0

        assert list(WebhookQueueItem.objects.values()) == before

    def test_leaves_an_event_that_was_recorded_three_days_ago(self, token, endpoint):
        later = waiting(token).event.created_at + timedelta(days=3)
        WebhookQueueItem.objects.update(due_at=later + timedelta(hours=1))

        assert queue.bring_forward(OUTBOX, endpoint_id=endpoint.pk, at=later) == 0
        assert queue.bring_forward(OUTBOX, endpoint_id=endpoint.pk, at=later - timedelta(microseconds=1)) == 1

    @pytest.mark.django_db(transaction=True)
    def test_leaves_an_item_that_is_claimed_meanwhile(self, token, endpoint, at_once):
        """Made due while its request is in flight, it would be sent a second time."""
        waiting(token)
        was_claimed = Event()

        def claim():
            with transaction.atomic():
                claimed = claims.claim(OUTBOX, lease=uuid4(), at=LATER, limit=1)
                was_claimed.set()
                wait_for_a_lock_waiter()
            return len(claimed)

        def bring_forward():
            assert was_claimed.wait(10)
            return queue.bring_forward(OUTBOX, endpoint_id=endpoint.pk, at=NOW)

        assert at_once(claim, bring_forward) == [1, 0]

        assert WebhookQueueItem.objects.get().due_at == LATER + claims.LEASE

    @pytest.mark.django_db(transaction=True)
    def test_locks_items_in_the_sequence_of_replays(self, token, endpoint):
        first = waiting(token, due_at=LATER + timedelta(hours=1))
        second = waiting(token)

        def lock(item):
            return WebhookQueueItem.objects.select_for_update(nowait=True).get(pk=item.pk)

        _first, count, found = overlap(
            partial(lock, first),
            partial(queue.bring_forward, OUTBOX, endpoint_id=endpoint.pk, at=NOW),
            then=partial(lock, second),
        )

        assert (count, found) == (2, second)

    def test_leaves_items_of_other_endpoints(self, token, endpoint, receiving):
        own, foreign = waiting(token), waiting(receiving(TokenFactory.create()))

        assert queue.bring_forward(OUTBOX, endpoint_id=endpoint.pk, at=NOW) == 1

        assert (due_at(own), due_at(foreign)) == (NOW, LATER)


class TestNewToken:
    def test_makes_the_webhooks_of_its_account_and_environment_due(self, token, receiving):
        sandbox = receiving(TokenFactory.create(integrator=token.integrator, sandbox=True))
        items = [waiting(each) for each in (token, sandbox, receiving(TokenFactory.create()))]

        tokens.issue(integrator=token.integrator, environment=Environment.LIVE, by=BY, at=NOW)

        assert [due_at(item) for item in items] == [NOW, LATER, LATER]
