"""Which rows a settlement locks, and which locks of other transactions it waits for."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import transaction

from common.webhooks import claims, settlement
from common.webhooks.http_client import Result
from common.webhooks.settlement import settle
from delivery.models import EventState, WebhookEndpoint, WebhookQueueItem
from delivery.webhooks.outbox import OUTBOX
from tests.common.webhooks.settling import NOW, OK, REFUSED, claim
from tests.delivery.locking import without_waiting
from tests.factories import DeliveryFactory, TokenFactory

pytestmark = pytest.mark.django_db(transaction=True)


def unlocked():
    """The ids of the queue items that no transaction has locked."""
    with transaction.atomic():
        return set(WebhookQueueItem.objects.select_for_update(skip_locked=True).values_list("pk", flat=True))


class TestLock:
    def test_leaves_other_items_of_the_same_claim(self, token, at_once):
        for _number in range(2):
            DeliveryFactory.create(token=token)
        chosen, other = claim(at=NOW).values()

        with transaction.atomic():
            attempts, blocked = settlement.lock(OUTBOX, [(chosen, Result(**OK))])
            (free,) = at_once(unlocked)

        assert ([item.item_id for item, _result in attempts], blocked) == ([chosen.item_id], [])
        assert free == {other.item_id}

    def test_leaves_an_item_that_was_claimed_again_under_another_lease(self, token, at_once):
        DeliveryFactory.create(token=token)
        (late,) = claim(at=NOW).values()
        (current,) = claims.claim(OUTBOX, lease=uuid4(), at=NOW + claims.LEASE, limit=1)

        with transaction.atomic():
            found = settlement.lock(OUTBOX, [(late, Result(**OK))])
            (free,) = at_once(unlocked)

        assert (found, free) == (([], []), {current.item_id})


class TestSettle:
    def test_writes_that_a_request_was_not_sent_without_waiting_for_its_endpoint(self, token, endpoint, at_once):
        event = DeliveryFactory.create(token=token).events.get()
        (claimed,) = claim(at=NOW).values()

        with transaction.atomic():
            WebhookEndpoint.objects.select_for_update().get(pk=endpoint.pk)
            results = at_once(
                lambda: settle(OUTBOX, [(claimed, Result(error="no_valid_token", was_sent=False))], at=NOW)
            )

        assert results == [[]]
        event.refresh_from_db()
        assert (event.state, event.attempts_made) == (EventState.PENDING, 0)
        item = WebhookQueueItem.objects.get()
        assert (item.due_at, item.lease, item.tries) == (NOW + timedelta(seconds=60), None, 0)

    def test_writes_a_success_without_waiting_for_its_endpoint(self, token, endpoint, at_once):
        event = DeliveryFactory.create(token=token).events.get()
        (claimed,) = claim(at=NOW).values()

        with transaction.atomic():
            WebhookEndpoint.objects.select_for_update().get(pk=endpoint.pk)
            results = at_once(lambda: settle(OUTBOX, [(claimed, Result(**OK, at=NOW))], at=NOW))

        assert results == [[]]
        event.refresh_from_db()
        assert event.state == EventState.SENT

    def test_writes_a_failure_without_waiting_for_another_endpoint(self, token, endpoint, at_once):
        DeliveryFactory.create(token=token)
        (claimed,) = claim(at=NOW).values()
        other = TokenFactory.create().integrator.endpoints.get(environment="live")

        with transaction.atomic():
            WebhookEndpoint.objects.select_for_update().get(pk=other.pk)
            results = at_once(lambda: settle(OUTBOX, [(claimed, Result(**REFUSED, at=NOW))], at=NOW))

        assert results == [[]]
        endpoint.refresh_from_db()
        assert endpoint.failures == 1

    def test_lets_events_of_the_endpoint_be_recorded_meanwhile(self, token, at_once):
        DeliveryFactory.create(token=token)
        (claimed,) = claim(at=NOW).values()

        with transaction.atomic():
            settle(OUTBOX, [(claimed, Result(**REFUSED, at=NOW))], at=NOW)
            (delivery,) = at_once(lambda: without_waiting(lambda: DeliveryFactory.create(token=token)))

        assert delivery.events.get().state == EventState.PENDING
