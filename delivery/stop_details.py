"""Reads what pages show of stops beside the specification's fields: wishes, proof, arrival, the receiver's page."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.db.models import F
from django.utils.translation import gettext
from django_stubs_ext import StrPromise

from common.fields import any_of
from common.postgresql.compiled_queries import CompiledQuery, Parameter
from delivery import arrival_times, words
from delivery.arrival_times import ArrivalTime
from delivery.lifecycle import Mode, OnFailure
from delivery.models import DropoffOptions, ProofPhoto, ReceiverNote, Stop, StopProof
from delivery.models.stop import MOST_WRONG_PINS


class PinState(StrEnum):
    """How far the PIN of a stop is."""

    NOT_ASKED = "not_asked"
    WAITING = "waiting"
    CONFIRMED = "confirmed"
    LOCKED = "locked"  # five wrong tries; only a dispatcher can deliver


@dataclass(frozen=True)
class StopDetails:
    """The details of one stop. Texts that were not sent are empty; `pin` is empty where none was asked for.

    `link` is the address of the receiver's page, None if it was not asked for or works no longer.
    """

    stop: Stop
    link: str | None
    instructions: str
    needs_photo: bool
    pin: str
    received_by: str
    pin_confirmed_at: datetime | None
    wrong_pins: int
    photos: list[ProofPhoto]  # oldest first
    arrival: ArrivalTime | None  # None unless the stop is under way
    note: ReceiverNote | None
    on_failure: str
    left_at_door: bool

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        asked = self.instructions or self.pin or self.needs_photo or self.on_failure != OnFailure.RETURN
        brought = self.received_by or self.photos or self.left_at_door
        return not (asked or brought or self.link or self.arrival or self.note)

    @property
    def note_label(self) -> str:
        """Who has written `note`."""
        return gettext("The sender says") if self._is_pickup else gettext("The receiver says")

    @property
    def page_label(self) -> str:
        """Whose page `link` leads to."""
        return gettext("Sender's page") if self._is_pickup else gettext("Receiver's page")

    @property
    def _is_pickup(self) -> bool:
        return self.stop.delivery.mode == Mode.REVERSE

    @property
    def policy_name(self) -> StrPromise:
        return words.POLICIES[self.on_failure]

    @property
    def pin_state(self) -> PinState:
        if not self.pin:
            return PinState.NOT_ASKED
        if self.pin_confirmed_at:
            return PinState.CONFIRMED
        return PinState.LOCKED if self.wrong_pins >= MOST_WRONG_PINS else PinState.WAITING


def read(stops: Sequence[Stop], *, at: datetime, addresses: Mapping[int, str] | None = None) -> dict[int, StopDetails]:
    """The details of stops by their keys, in the order of `stops`. Two queries, however many stops there are.

    `addresses`: those of receivers' pages by the key of the stop (`actions.receivers`).
    """
    keys = [stop.pk for stop in stops]
    found = {row.pk: row for row in _ROWS.all(stops=keys)}
    photos = defaultdict(list)
    for photo in _PHOTOS.all(stops=keys):
        photos[photo.stop_id].append(photo)
    return {
        stop.pk: _details(stop, found[stop.pk], photos[stop.pk], (addresses or {}).get(stop.pk), at) for stop in stops
    }


_ROWS = CompiledQuery(
    lambda: (
        Stop.objects.filter(any_of("pk", Parameter("stops")))
        .select_related("options", "proof", "arrival", "receiver_note")
        .annotate(position_at=F("delivery__driver__latest__recorded_at"))
        .order_by()
    )
)
_PHOTOS = CompiledQuery(lambda: ProofPhoto.objects.filter(any_of("stop", Parameter("stops"))))


def _details(stop: Stop, row: Any, photos: list[ProofPhoto], link: str | None, at: datetime) -> StopDetails:
    """`row`: the stop as `read` reads it."""
    options = getattr(row, "options", None) or DropoffOptions()
    proof = getattr(row, "proof", None) or StopProof()
    return StopDetails(
        stop=stop,
        link=link,
        instructions=options.instructions,
        needs_photo=options.needs_photo,
        pin=options.pin,
        received_by=proof.received_by,
        pin_confirmed_at=proof.pin_confirmed_at,
        wrong_pins=proof.wrong_pins,
        photos=photos,
        arrival=_arrival(row, at) if stop.is_expected else None,
        note=getattr(row, "receiver_note", None),
        on_failure=options.on_failure,
        left_at_door=proof.left_at_door,
    )


def _arrival(row: Any, at: datetime) -> ArrivalTime | None:
    estimate = getattr(row, "arrival", None)
    return estimate and arrival_times.told(estimate, position_at=row.position_at, at=at)
