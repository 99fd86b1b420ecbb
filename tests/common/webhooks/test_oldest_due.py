"""How late the sending of webhooks is."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from common.webhooks import breaker, queue, recording
from delivery.models import OffBecause, WebhookQueueItem
from delivery.webhooks.outbox import OUTBOX
from tests.factories import DeliveryFactory, TokenFactory

NOW = timezone.now()
MINUTE = timedelta(minutes=1)


@pytest.fixture
def late(token):
    """Events that have been due for two minutes."""

    def make(count=1):
        for _ in range(count):
            DeliveryFactory.create(token=token, at=NOW - 2 * MINUTE)
        WebhookQueueItem.objects.update(due_at=NOW - 2 * MINUTE)

    return make


class TestOldestDue:
    def test_is_0_if_nothing_is_due(self, late):
        late()
        WebhookQueueItem.objects.update(due_at=NOW + MINUTE)

        assert queue.oldest_due_seconds(OUTBOX, at=NOW) == 0

    def test_is_the_age_of_the_event_that_is_due_first(self, late, token):
        late()
        DeliveryFactory.create(token=token, at=NOW)

        assert queue.oldest_due_seconds(OUTBOX, at=NOW) == 120

    def test_is_the_oldest_of_all_endpoints(self, late, receiving):
        DeliveryFactory.create(token=receiving(TokenFactory.create()), at=NOW)
        late()

        assert queue.oldest_due_seconds(OUTBOX, at=NOW) == 120

    def test_of_a_test_event_counts_from_its_record(self, endpoint):
        recording.record_test(OUTBOX, endpoint=endpoint, at=NOW - MINUTE)

        assert queue.oldest_due_seconds(OUTBOX, at=NOW) == 60

    def test_counts_from_the_end_of_a_pause(self, endpoint, late):
        late()
        endpoint.paused_until = NOW - timedelta(seconds=5)
        endpoint.save()

        assert queue.oldest_due_seconds(OUTBOX, at=NOW) == 5


class TestLeftOut:
    @pytest.mark.parametrize(
        "change",
        [
            {"url": ""},
            {"enabled": False, "off_because": OffBecause.STAFF, "off_since": NOW},
            {"paused_until": NOW + MINUTE},
            {"failures": breaker.OPENS_AFTER},
        ],
        ids=["without a URL", "off", "paused", "failing"],
    )
    def test_are_endpoints_that_nothing_is_sent_to(self, endpoint, late, change):
        late()
        for name, value in change.items():
            setattr(endpoint, name, value)
        endpoint.save()

        assert queue.oldest_due_seconds(OUTBOX, at=NOW) == 0

    @pytest.mark.parametrize(
        ("count", "lease", "due_at", "seconds"),
        [
            (3, uuid4(), NOW + MINUTE, 120),
            (4, uuid4(), NOW + MINUTE, 0),
            (4, uuid4(), NOW, 120),
            (4, None, NOW + MINUTE, 120),
        ],
        ids=["three in flight", "four in flight", "of leases that have ended", "that wait for a retry"],
    )
    def test_are_endpoints_with_as_many_requests_as_they_may_have(self, late, count, lease, due_at, seconds):
        late(5)
        items = WebhookQueueItem.objects.order_by("pk").values("pk")[:count]
        WebhookQueueItem.objects.filter(pk__in=items).update(lease=lease, due_at=due_at)

        assert queue.oldest_due_seconds(OUTBOX, at=NOW) == seconds

    def test_are_no_endpoints_beside_a_busy_one(self, late, receiving):
        late()
        busy = receiving(TokenFactory.create())
        DeliveryFactory.create_batch(4, token=busy, at=NOW)
        items = WebhookQueueItem.objects.filter(endpoint__integrator=busy.integrator)
        items.update(lease=uuid4(), due_at=NOW + MINUTE)

        assert queue.oldest_due_seconds(OUTBOX, at=NOW) == 120
