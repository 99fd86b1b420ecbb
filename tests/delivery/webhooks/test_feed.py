"""The feed: positions of its events, how long they stay, and its indexes."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from common.webhooks import feed
from delivery.actions import deliveries
from delivery.models import EventState, WebhookEvent
from tests.delivery.webhooks.feed_pages import endpoint_of, page, request, sequences
from tests.factories import BY, DeliveryFactory, TariffFactory
from tests.tables import renew


@pytest.fixture(autouse=True)
def _tariff(token):
    TariffFactory.create()


@pytest.mark.django_db
class TestPositions:
    def test_ascend_with_the_sequence_though_the_clock_was_set_back(self, token, monkeypatch):
        monkeypatch.setattr(feed, "_MOST_ASSIGNED", 1)
        now = timezone.now()
        delivery = DeliveryFactory.create(token=token, at=now)
        deliveries.cancel(delivery=delivery, reason="", by=BY, at=now - timedelta(hours=1))

        assert sequences(page(token)) == [1, 2]

    def test_ascend_though_the_clock_was_set_back_between_two_reads(self, token):
        now = timezone.now()
        request(token)
        (before,) = page(token, at=now)
        request(token)

        (after,) = page(token, after=before.feed_position, at=now - timedelta(hours=1))

        assert after.feed_position == before.feed_position + 1

    def test_are_in_the_order_of_creation(self, token):
        now = timezone.now()
        made = [DeliveryFactory.create(token=token, at=now - timedelta(minutes=age)).pk for age in (2, 3, 1)]

        assert [event.delivery_id for event in page(token)] == [made[1], made[0], made[2]]

    def test_are_assigned_to_so_many_at_a_time(self, token, monkeypatch):
        monkeypatch.setattr(feed, "_MOST_ASSIGNED", 2)
        for _number in range(5):
            request(token)

        counts = []
        position = 0
        while events := page(token, after=position):
            counts.append(len(events))
            position = events[-1].feed_position

        assert counts == [2, 2, 1]

    def test_are_assigned_only_when_a_page_is_not_full(self, token, django_assert_num_queries):
        request(token)
        request(token)
        page(token)
        endpoint = endpoint_of(token)

        with django_assert_num_queries(1):
            feed.read(endpoint=endpoint, after=0, limit=2, at=timezone.now())


@pytest.mark.django_db
class TestThirtyDays:
    def test_exclude_an_older_event_that_was_never_read(self, token):
        now = timezone.now()
        DeliveryFactory.create(token=token, at=now - timedelta(days=30, seconds=1))
        young = DeliveryFactory.create(token=token, at=now - timedelta(days=30, seconds=-1))

        assert [event.delivery_id for event in page(token, at=now)] == [young.pk]

    def test_end_after_an_event_was_first_read(self, token):
        now = timezone.now()
        DeliveryFactory.create(token=token, at=now)
        assert len(page(token, at=now)) == 1

        assert len(page(token, at=now + timedelta(days=29, hours=23))) == 1
        assert page(token, at=now + timedelta(days=30, seconds=1)) == []


@pytest.mark.django_db
class TestTheIndexes:
    def test_allow_a_heap_only_update_when_a_result_is_written(self, token):
        """A heap-only tuple: no index is written. The statistics are those of this transaction."""
        renew(WebhookEvent)
        event = DeliveryFactory.create(token=token).events.get()
        page(token)

        before = hot_updates()
        WebhookEvent.objects.filter(pk=event.pk).update(state=EventState.SENT, attempts_made=1, sent_at=timezone.now())

        assert hot_updates() == before + 1

    def test_find_the_events_of_a_page_and_those_without_a_position(self, token):
        renew(WebhookEvent)
        pattern = DeliveryFactory.create(token=token).events.get()
        copies(pattern, [{}] * 3000)
        page(token)

        with connection.cursor() as cursor:
            cursor.execute("ANALYZE delivery_webhookevent")
        found = WebhookEvent.objects.filter(endpoint=pattern.endpoint, feed_position__gt=5).order_by("feed_position")
        waiting = WebhookEvent.objects.filter(
            endpoint=pattern.endpoint,
            feed_position=None,
            delivery__isnull=False,
            copy_of=None,
            created_at__gte=timezone.now(),
        ).order_by("created_at")

        assert " one_event_per_feed_position " in found[:100].explain()
        assert " event_without_feed_position " in waiting[:1000].explain()

    def test_read_a_page_from_a_moment_on_and_not_all_that_follows(self, token):
        renew(WebhookEvent)
        now, pattern = timezone.now(), DeliveryFactory.create(token=token).events.get()
        moments = [now - number * timedelta(minutes=4) for number in range(10_000)]
        copies(pattern, [{"created_at": moment, "feed_position": microseconds(moment)} for moment in moments])
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE delivery_webhookevent")
        since = now - timedelta(days=3)
        selection, after = feed.Selection(since=since), microseconds(since - timedelta(hours=1))

        with CaptureQueriesContext(connection) as captured:
            found = feed.read(endpoint=pattern.endpoint, after=after, limit=50, at=now, selection=selection)
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN {captured[-1]['sql']}")
            plan = "\n".join(row[0] for row in cursor.fetchall())

        assert len(found) == 50
        assert found[0].created_at >= since
        assert " one_event_per_feed_position " in plan
        assert "Sort" not in plan


def hot_updates():
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_get_xact_tuples_hot_updated('delivery_webhookevent'::regclass)")
        return cursor.fetchone()[0]


def copies(pattern, changed):
    same = {field.attname: getattr(pattern, field.attname) for field in WebhookEvent._meta.concrete_fields}
    del same["id"]
    WebhookEvent.objects.bulk_create(
        WebhookEvent(**{**same, "sequence": number, **each}) for number, each in enumerate(changed, start=2)
    )


def microseconds(moment):
    return int(moment.timestamp() * 1_000_000)
