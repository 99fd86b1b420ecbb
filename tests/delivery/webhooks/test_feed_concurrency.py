"""Reading the feed while events are written, with real threads on real PostgreSQL."""

import random
from collections import defaultdict
from functools import partial
from threading import Event
from time import sleep

import pytest
from django.db import transaction
from django.utils import timezone

from delivery.actions import deliveries
from delivery.models import EventState, WebhookEvent
from tests.delivery.locking import without_waiting
from tests.delivery.webhooks.feed_pages import endpoint_of, facts, page, request, sequences
from tests.factories import BY, DeliveryFactory, DriverFactory, TariffFactory, TokenFactory
from tests.overlapping import overlap

ENOUGH = 10  # seconds that a thread waits for another


@pytest.fixture(autouse=True)
def _tariff(token):
    TariffFactory.create()


def collect(delivery):
    return deliveries.collect(delivery=delivery, by=BY, at=timezone.now())


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
                    step(partial(deliveries.deliver, delivery=delivery, point="B", by=BY, at=timezone.now()))
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

    def test_is_left_while_another_reader_assigns(self, token):
        """It would get a position after those that the other has not committed, which would be passed over then."""
        request(token)

        def write_and_read():
            request(token)
            return sequences(without_waiting(partial(page, token)))

        first, second = overlap(partial(page, token), write_and_read)

        assert (sequences(first), second) == ([1], [])
        assert sequences(page(token)) == [1, 1]


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
