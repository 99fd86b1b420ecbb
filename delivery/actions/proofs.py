"""Deliveries that a driver proves: with photos, the receiver's PIN, and the name of who received."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils.crypto import constant_time_compare

from delivery.actions import deliveries, transitions
from delivery.driver_errors import PhotoRequired, PinLocked, PinRequired, WrongPin
from delivery.models import Delivery, DropoffOptions, ProofPhoto, Stop, StopProof
from delivery.models.dropoff_options import MOST_WRONG_PINS

LONGEST_NAME = 120


@dataclass(frozen=True)
class Proof:
    """What a driver brings from a stop. `photos`: ids that the phone has given to photos it has uploaded."""

    received_by: str = ""
    pin: str = ""
    photos: tuple[UUID, ...] = ()


NO_PROOF = Proof()


def deliver(
    *, delivery: Delivery, point: str, proof: Proof, by: str, at: datetime, made_at: datetime | None = None
) -> Delivery:
    """Record that the driver has delivered the order at `point`, with what proves it.

    Raises PhotoRequired, PinRequired, WrongPin, PinLocked, and what `deliveries.deliver_point` raises. A wrong PIN is
    counted although it is refused: the caller must not roll back.
    """
    wrong_pin = None
    with transaction.atomic():
        # Held until a wrong PIN is counted, so that two phones that guess at once have no try more.
        transitions.lock(delivery)
        try:
            with transaction.atomic():
                moved = deliveries.deliver_point(delivery=delivery, point=point, by=by, at=at, made_at=made_at)
                _check(deliveries.stop_at(moved, point), proof, at=made_at or at)
        except WrongPin as error:
            _count_wrong_pin(deliveries.stop_at(delivery, point))
            wrong_pin = error
    if wrong_pin is not None:
        raise wrong_pin
    return moved


def _check(stop: Stop, proof: Proof, *, at: datetime) -> None:
    """Compare the proof with what the request asked for, and write it. The photo first, so that it costs no try."""
    options = DropoffOptions.objects.filter(pk=stop.pk).first()
    if options and options.needs_photo and not _has_photo(stop, proof):
        raise PhotoRequired("This delivery needs a photo. Take one and deliver again.")
    needs_pin = options is not None and options.needs_pin
    if options and needs_pin:
        _check_pin(stop, options.pin, proof.pin)
    if proof.received_by or needs_pin:
        StopProof.objects.update_or_create(
            stop=stop, defaults={"received_by": proof.received_by, "pin_confirmed_at": at if needs_pin else None}
        )


def _has_photo(stop: Stop, proof: Proof) -> bool:
    taken = ProofPhoto.objects.filter(stop=stop, driver=stop.delivery.driver, upload__in=proof.photos)
    return bool(proof.photos) and taken.exists()


def _check_pin(stop: Stop, pin: str, told: str) -> None:
    wrong = _wrong_pins(stop)
    if wrong >= MOST_WRONG_PINS:
        raise PinLocked("There were five wrong PINs. Only your dispatcher can deliver this one now.")
    if not told:
        raise PinRequired("Ask the receiver for the PIN of four digits.")
    if constant_time_compare(told, pin):
        return
    left = MOST_WRONG_PINS - wrong - 1
    if not left:
        raise WrongPin("This is not the receiver's PIN. Only your dispatcher can deliver this one now.")
    raise WrongPin("This is not the receiver's PIN. Tries left: %(left)s.", left=left)


def _wrong_pins(stop: Stop) -> int:
    return StopProof.objects.filter(pk=stop.pk).values_list("wrong_pins", flat=True).first() or 0


def _count_wrong_pin(stop: Stop) -> None:
    StopProof.objects.update_or_create(stop=stop, defaults={"wrong_pins": _wrong_pins(stop) + 1})
