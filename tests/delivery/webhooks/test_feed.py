"""Reading the feed while events are written, with real threads on real PostgreSQL."""

import random
from collections import defaultdict
from datetime import timedelta
from functools import partial
from threading import Event
from time import sleep

import pytest
from django.db import connection, transaction
from django.utils import timezone

from delivery.actions import deliveries
from delivery.models import EventState, WebhookEndpoint, WebhookEvent
from delivery.webhooks import feed
from tests.factories import BY, DeliveryFactory, DriverFactory, TariffFactory, TokenFactory, validated_payload

ENOUGH = 10  # seconds that a thread waits for another


@pytest.fixture(autouse=True)
def _tariff(token):
    TariffFactory.create()


def endpoint_of(token):
    return WebhookEndpoint.objects.get(integrator=token.integrator, environment=token.environment)


def page(token, after=0, limit=100, at=None):
    return feed.read(endpoint=endpoint_of(token), after=after, limit=limit, at=at or timezone.now())


def request(token):
    return deliveries.request(token=token, payload=validated_payload(stops=1), by=BY, at=timezone.now())


def collect(delivery):
    return deliveries.collect(delivery=delivery, by=BY, at=timezone.now())


def facts(events):
    return [(event.pk, event.delivery_id, event.sequence) for event in events]


def sequences(events):
    return [event.sequence for event in events]


@pytest.mark.django_db(transaction=True)
class TestWhatCommitsLate:
    def test_follows_what_was_read_before_it_committed(self, token, at_once):
        written, was_read = Event(), Event()

        def write_slowly():
            with transaction.atomic():
                delivery = request(token)
                written.set()
                assert was_read.wait(ENOUGH)
            return delivery.pk

        def write_and_read_meanwhile():
            assert written.wait(ENOUGH)
            later = request(token)
            seen = page(token)
            was_read.set()
            return later.pk, [event.delivery_id for event in seen], seen[-1].feed_position

        late, (early, seen, position) = at_once(write_slowly, write_and_read_meanwhile)

        assert seen == [early]
        assert [event.delivery_id for event in page(token, after=position)] == [late]

    def test_and_early_are_read_once_by_every_reader(self, token, at_once):
        """Six writers hold their transactions open for random times, while three readers read three at a time."""
        other = TokenFactory.create(integrator=token.integrator, sandbox=True)
        drivers = DriverFactory.create_batch(6)
        finished = [Event() for _driver in drivers]

        def write(number):
            source = random.Random(number)  # noqa: S311  # no secret

            def step(act):
                with transaction.atomic():
                    changed = act()
                    sleep(source.uniform(0, 0.02))
                return changed

            try:
                for _delivery in range(4):
                    delivery = step(partial(request, token))
                    step(partial(request, other))
                    accept = partial(deliveries.accept, driver=drivers[number], by=BY, at=timezone.now())
                    step(partial(accept, delivery=delivery))
                    step(partial(collect, delivery))
                    step(partial(deliveries.deliver_point, delivery=delivery, point="B", by=BY, at=timezone.now()))
            finally:
                finished[number].set()

        def read():
            seen, position = [], 0
            while True:
                is_last = all(event.is_set() for event in finished)
                events = page(token, after=position, limit=3)
                seen += facts(events)
                position = events[-1].feed_position if events else position
                if is_last and not events:
                    return seen, position

        results = at_once(*(partial(write, number) for number in range(6)), read, read, read)

        assert results[:6] == [None] * 6
        # A page can be empty while another reader assigns positions, so each reads on once more.
        first, second, third = ([*seen, *facts(page(token, after=position))] for seen, position in results[6:])
        written = set(WebhookEvent.objects.filter(endpoint=endpoint_of(token)).values_list("pk", flat=True))
        assert len(first) == len(written) == 96
        assert {pk for pk, _delivery, _sequence in first} == written
        assert first == second == third
        by_delivery = defaultdict(list)
        for _pk, delivery, sequence in first:
            by_delivery[delivery].append(sequence)
        assert list(by_delivery.values()) == [[1, 2, 3, 4]] * 24

    def test_does_not_wait_for_another_reader_that_assigns(self, token, at_once):
        request(token)
        assigned, was_read = Event(), Event()

        def assign_slowly():
            with transaction.atomic():
                seen = page(token)
                assigned.set()
                assert was_read.wait(ENOUGH)
            return sequences(seen)

        def read_meanwhile():
            assert assigned.wait(ENOUGH)
            seen = page(token)
            was_read.set()
            return sequences(seen)

        assert at_once(assign_slowly, read_meanwhile) == [[1], []]
        assert sequences(page(token)) == [1]


@pytest.mark.django_db(transaction=True)
def test_an_event_that_is_being_settled_is_left_with_those_after_it(token, at_once):
    first, second = DeliveryFactory.create(token=token, collected=True), DeliveryFactory.create(token=token)
    locked, was_read = Event(), Event()

    def settle_slowly():
        with transaction.atomic():
            WebhookEvent.objects.filter(delivery=first, sequence=2).update(state=EventState.SENT)
            locked.set()
            assert was_read.wait(ENOUGH)

    def read_meanwhile():
        assert locked.wait(ENOUGH)
        seen = page(token)
        was_read.set()
        return seen

    _nothing, seen = at_once(settle_slowly, read_meanwhile)

    assert [(event.delivery_id, event.sequence) for event in seen] == [(first.pk, 1), (second.pk, 1)]
    rest = page(token, after=seen[-1].feed_position)
    assert [(event.delivery_id, event.sequence) for event in rest] == [(first.pk, 2), (first.pk, 3)]


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

    def test_stay_the_same(self, token):
        request(token)

        assert [event.feed_position for event in page(token)] == [event.feed_position for event in page(token)]


@pytest.mark.django_db
class TestThirtyDays:
    def test_ended_before_an_event_that_nobody_read(self, token):
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
    def test_let_the_result_of_a_request_be_written_within_the_page(self, token):
        """A heap-only tuple: no index is written. The statistics are those of this transaction."""
        event = DeliveryFactory.create(token=token).events.get()
        page(token)

        before = hot_updates()
        WebhookEvent.objects.filter(pk=event.pk).update(state=EventState.SENT, attempts_made=1, sent_at=timezone.now())

        assert hot_updates() == before + 1

    def test_find_the_events_of_a_page_and_those_without_a_position(self, token):
        pattern = DeliveryFactory.create(token=token).events.get()
        copies(pattern, 3000)
        page(token)

        with connection.cursor() as cursor:
            cursor.execute("ANALYZE delivery_webhookevent")
        found = WebhookEvent.objects.filter(endpoint=pattern.endpoint, feed_position__gt=5).order_by("feed_position")
        waiting = WebhookEvent.objects.filter(
            endpoint=pattern.endpoint, feed_position=None, delivery__isnull=False, created_at__gte=timezone.now()
        ).order_by("created_at")

        assert " one_event_per_feed_position " in found[:100].explain()
        assert " event_without_position " in waiting[:1000].explain()


def hot_updates():
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_get_xact_tuples_hot_updated('delivery_webhookevent'::regclass)")
        return cursor.fetchone()[0]


def copies(pattern, count):
    same = {field.attname: getattr(pattern, field.attname) for field in WebhookEvent._meta.concrete_fields}
    del same["id"]
    WebhookEvent.objects.bulk_create(WebhookEvent(**{**same, "sequence": number}) for number in range(2, count + 2))
