"""The links with which receivers follow their stops."""

from datetime import timedelta

import pytest
from django.utils import timezone

from delivery.actions import receivers
from delivery.models import ReceiverLink
from tests.factories import DeliveryFactory

NOW = timezone.now()


def token_of(address):
    return address.rpartition("/")[2]


@pytest.mark.django_db
class TestAddresses:
    def test_are_made_once_for_each_stop(self):
        stops = list(DeliveryFactory.create(stops=2).stops.all())

        first = receivers.addresses(stops, at=NOW)
        again = receivers.addresses(stops, at=NOW)

        assert first == again
        assert len(set(first.values())) == 2

    def test_lead_to_their_stop(self):
        delivery = DeliveryFactory.create(stops=2, accepted=True)
        stop = delivery.stops.get(index=1)

        address = receivers.addresses([stop], at=NOW)[stop.pk]

        assert receivers.find(token_of(address)) == stop

    def test_hold_128_random_bits_that_the_database_does_not(self):
        stop = DeliveryFactory.create(stops=1).stops.get()

        token = token_of(receivers.addresses([stop], at=NOW)[stop.pk])

        link = ReceiverLink.objects.get()
        assert len(token) == 22
        assert token not in link.ciphertext
        assert token.encode() not in bytes(link.digest)


@pytest.mark.django_db
class TestFind:
    def test_finds_nothing_for_another_text(self):
        receivers.addresses(DeliveryFactory.create().stops.all(), at=NOW)

        for token in ("", "x" * 22, "é" * 22, "x" * 21, "x" * 10_000, "\0" * 22):
            assert receivers.find(token) is None


@pytest.mark.django_db
class TestHasEnded:
    def test_48_hours_after_the_end_of_the_route(self):
        stop = DeliveryFactory.create(stops=1).stops.get()
        assert not receivers.has_ended(stop, at=NOW + timedelta(days=30))

        stop.delivery.closed_at = NOW

        assert not receivers.has_ended(stop, at=NOW + timedelta(hours=47, minutes=59))
        assert receivers.has_ended(stop, at=NOW + timedelta(hours=48))
