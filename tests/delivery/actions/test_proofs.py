"""Deliveries that a driver proves: the rules of photo, PIN and receiver's name."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from delivery.actions import deliveries, proofs
from delivery.actions.proofs import Proof
from delivery.drivers import moves as driver_moves
from delivery.drivers.moves import SentMove
from delivery.errors import MoveRefused, PhotoRequired, PinLocked, PinRequired, StopNotOpen, WrongPin
from delivery.lifecycle import Trigger
from delivery.models import DriverMove, StopProof
from delivery.payload import Options
from tests.delivery.proofs import asking_for, first_stop, pin_of, wrong_pin_of
from tests.factories import BY, DeliveryFactory, DriverFactory
from tests.overlapping import begin
from tests.photos import photo

NOW = timezone.now()
PHOTO, PIN = Options(needs_photo=True), Options(has_pin=True)
BOTH = Options(needs_photo=True, has_pin=True)


def requested(options, **values):
    return asking_for(options, **{"collected": True, "at": NOW - timedelta(minutes=30), **values})


def deliver(delivery, *, made_at=None, **proof):
    return proofs.deliver(delivery=delivery, point="B", proof=Proof(**proof), by=BY, at=NOW, made_at=made_at)


def photographed(delivery, *, point="B"):
    upload = uuid4()
    proofs.add(
        driver=delivery.driver, upload=upload, delivery=delivery.pk, point=point, content=photo(), taken_at=NOW, at=NOW
    )
    return upload


def is_open(delivery):
    return first_stop(delivery).status == "COLLECTED"


def wrong_pins(delivery):
    return StopProof.objects.filter(pk=first_stop(delivery)).values_list("wrong_pins", flat=True).first()


@pytest.mark.django_db
class TestDeliver:
    def test_keeps_who_received_and_when_the_pin_was_told(self):
        delivery = requested(PIN)

        deliver(delivery, received_by="Dona Célia", pin=pin_of(delivery), made_at=NOW - timedelta(minutes=5))

        kept = StopProof.objects.get()
        assert first_stop(delivery).status == "DELIVERED"
        assert (kept.stop, kept.received_by, kept.wrong_pins) == (first_stop(delivery), "Dona Célia", 0)
        assert kept.pin_confirmed_at == NOW - timedelta(minutes=5)

    def test_needs_nothing_that_the_request_did_not_ask_for(self):
        delivery = requested(Options())

        deliver(delivery)

        assert first_stop(delivery).status == "DELIVERED"
        assert not StopProof.objects.exists()

    def test_keeps_who_received_where_no_pin_is_asked_for(self):
        delivery = requested(Options())

        deliver(delivery, received_by="Dona Célia", pin="1234")

        kept = StopProof.objects.get()
        assert (kept.received_by, kept.pin_confirmed_at) == ("Dona Célia", None)

    def test_refuses_to_deliver_without_the_pin_and_counts_no_try(self):
        delivery = requested(PIN)

        with pytest.raises(PinRequired):
            deliver(delivery, received_by="Célia")

        assert is_open(delivery)
        assert not StopProof.objects.exists()

    def test_takes_the_right_pin_after_wrong_ones(self):
        delivery = requested(PIN)
        for _try in range(4):
            with pytest.raises(WrongPin):
                deliver(delivery, pin=wrong_pin_of(delivery))

        deliver(delivery, pin=pin_of(delivery))

        kept = StopProof.objects.get()
        assert (kept.pin_confirmed_at, kept.wrong_pins) == (NOW, 4)

    def test_takes_no_pin_after_five_wrong_ones_and_asks_for_none(self):
        delivery = requested(PIN)
        for left in (4, 3, 2, 1):
            with pytest.raises(WrongPin, match=f"Tries left: {left}"):
                deliver(delivery, pin=wrong_pin_of(delivery))
        with pytest.raises(WrongPin, match="Only your dispatcher"):
            deliver(delivery, pin=wrong_pin_of(delivery))

        for pin in (pin_of(delivery), ""):
            with pytest.raises(PinLocked):
                deliver(delivery, pin=pin)

        assert is_open(delivery)
        assert wrong_pins(delivery) == 5

    def test_leaves_the_dispatcher_free_to_deliver(self):
        delivery = requested(BOTH)
        StopProof.objects.create(stop=first_stop(delivery), wrong_pins=5)

        deliveries.deliver(delivery=delivery, point="B", by=BY, at=NOW)

        assert first_stop(delivery).status == "DELIVERED"
        assert StopProof.objects.get().pin_confirmed_at is None

    def test_counts_no_pin_of_a_stop_that_cannot_be_delivered(self):
        delivery, closed = requested(PIN, collected=False, accepted=True), requested(PIN)
        deliveries.deliver(delivery=closed, point="B", by=BY, at=NOW)

        for refused, error in ((delivery, MoveRefused), (closed, (MoveRefused, StopNotOpen))):
            with pytest.raises(error):
                deliver(refused, pin=wrong_pin_of(refused))

        assert not StopProof.objects.exists()


@pytest.mark.django_db
@pytest.mark.usefixtures("photo_folder")
class TestPhotoRequired:
    def test_is_met_by_a_photo_of_this_stop(self):
        delivery = requested(PHOTO)

        deliver(delivery, photos=(photographed(delivery),))

        assert first_stop(delivery).status == "DELIVERED"

    def test_costs_no_try_of_the_pin(self):
        delivery = requested(BOTH)

        with pytest.raises(PhotoRequired):
            deliver(delivery, pin=wrong_pin_of(delivery))

        assert not StopProof.objects.exists()

    @pytest.mark.parametrize("which", ["none", "unknown", "not named", "other stop", "other route"])
    def test_is_not_met_by_another_photo(self, which):
        delivery = asking_for(PHOTO, Options(), collected=True)
        other = asking_for(PHOTO, collected=True)
        photos = {
            "none": lambda: (),
            "unknown": lambda: (uuid4(),),
            "not named": lambda: photographed(delivery) and (),
            "other stop": lambda: (photographed(delivery, point="C"),),
            "other route": lambda: (photographed(other),),
        }[which]()

        with pytest.raises(PhotoRequired):
            deliver(delivery, photos=photos)

        assert is_open(delivery)

    def test_is_not_met_by_a_photo_of_the_driver_before(self):
        delivery = requested(PHOTO, collected=False, accepted=True)
        upload = photographed(delivery)
        deliveries.reassign(delivery=delivery, driver=DriverFactory.create(), by=BY, at=NOW)
        deliveries.collect(delivery=delivery, by=BY, at=NOW)

        with pytest.raises(PhotoRequired):
            deliver(delivery, photos=(upload,))

        assert is_open(delivery)


def sent_move(delivery, pin, *, number=None):
    return SentMove(number or uuid4(), delivery.pk, Trigger.DELIVER, NOW, "B", proof=Proof(pin=pin))


@pytest.mark.django_db(transaction=True)
class TestReportedPins:
    def test_are_counted_although_the_move_is_refused(self):
        delivery = requested(PIN)
        sent = sent_move(delivery, wrong_pin_of(delivery))

        moves = [driver_moves.perform(driver=delivery.driver, sent=sent, at=NOW) for _repeated in range(3)]

        assert [move.refusal for move in moves] == ["wrong_pin"] * 3
        assert DriverMove.objects.count() == 1
        assert wrong_pins(delivery) == 1

    def test_of_a_driver_who_does_not_hold_the_route_are_not_compared(self):
        delivery, other = requested(PIN), DeliveryFactory.create(collected=True)

        move = driver_moves.perform(driver=other.driver, sent=sent_move(delivery, pin_of(delivery)), at=NOW)

        assert move.refusal == "not_your_route"
        assert is_open(delivery)
        assert not StopProof.objects.exists()

    def test_beside_each_other_have_five_tries_together(self, monkeypatch):
        """The second phone guesses while the first one's wrong PIN is being counted."""
        delivery = requested(PIN)
        StopProof.objects.create(stop_id=first_stop(delivery).pk, wrong_pins=4)
        guess, count = partial(deliver, delivery, pin=wrong_pin_of(delivery)), proofs._count_wrong_pin
        others: list[Any] = []

        def count_while_another_guesses(stop):
            if not others:
                others.append(None)
                others[0] = begin(guess, pool)
            count(stop)

        monkeypatch.setattr(proofs, "_count_wrong_pin", count_while_another_guesses)
        with ThreadPoolExecutor(1) as pool, pytest.raises(WrongPin):
            guess()

        assert type(others[0].result()) is PinLocked
        assert wrong_pins(delivery) == 5
        assert is_open(delivery)
