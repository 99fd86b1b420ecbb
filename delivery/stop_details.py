"""What is known of stops beside the specification's fields: what was asked for, proof, and arrival."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from delivery.models import ArrivalEstimate, ProofPhoto, Stop
from delivery.models.arrival_estimate import EXPECTED
from delivery.models.dropoff_options import MOST_WRONG_PINS


class PinState(StrEnum):
    """How far the PIN of a stop is."""

    NOT_ASKED = "not_asked"
    WAITING = "waiting"
    CONFIRMED = "confirmed"
    LOCKED = "locked"  # five wrong tries; only a dispatcher can deliver


@dataclass(frozen=True)
class StopDetails:
    """Of one stop. Texts that were not sent are empty; `pin` is empty where none was asked for."""

    instructions: str
    email: str
    needs_photo: bool
    pin: str
    received_by: str
    pin_confirmed_at: datetime | None
    wrong_pins: int
    photos: list[ProofPhoto]  # oldest first
    arrival: ArrivalEstimate | None  # None unless the stop is under way

    @property
    def pin_state(self) -> PinState:
        if not self.pin:
            return PinState.NOT_ASKED
        if self.pin_confirmed_at:
            return PinState.CONFIRMED
        return PinState.LOCKED if self.wrong_pins >= MOST_WRONG_PINS else PinState.WAITING


def read(stops: Sequence[Stop]) -> dict[int, StopDetails]:
    """The details of stops by their keys. Two queries, however many stops there are."""
    rows = Stop.objects.filter(pk__in=[stop.pk for stop in stops]).select_related("options", "proof", "arrival")
    return {row.pk: _details(row) for row in rows.prefetch_related("photos")}


def _details(stop: Stop) -> StopDetails:
    options, proof = getattr(stop, "options", None), getattr(stop, "proof", None)
    return StopDetails(
        instructions=options.instructions if options else "",
        email=options.contact_email if options else "",
        needs_photo=bool(options and options.needs_photo),
        pin=options.pin if options else "",
        received_by=proof.received_by if proof else "",
        pin_confirmed_at=proof.pin_confirmed_at if proof else None,
        wrong_pins=proof.wrong_pins if proof else 0,
        photos=list(stop.photos.all()),
        arrival=getattr(stop, "arrival", None) if stop.status in EXPECTED else None,
    )
