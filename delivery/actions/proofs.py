"""Deliveries that a driver proves: with photos, the receiver's PIN, and the name of who received.

The file of a photo is written before its row, and both are deleted after PROOF_PHOTOS_KEPT.
"""

import logging
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import Storage, storages
from django.db import transaction
from django.utils.crypto import constant_time_compare

from common.postgresql import batches
from common.postgresql.batches import each
from delivery import photos
from delivery.actions import deliveries, transitions
from delivery.errors import (
    LeavingNotAllowed,
    NotYourRoute,
    PhotoRequired,
    PhotosBusy,
    PhotoTooLate,
    PinLocked,
    PinRequired,
    TooManyPhotos,
    WrongPin,
)
from delivery.lifecycle import OnFailure
from delivery.models import Delivery, Driver, DropoffOptions, ProofPhoto, Stop, StopProof
from delivery.models.stop import MOST_WRONG_PINS

LONGEST_NAME = 120
_log = logging.getLogger(__name__)
MOST_PHOTOS = 10  # of a stop, and again of a second attempt
_SIMULATED = Path(photos.__file__).parent / "simulated_photo.jpg"
_SIMULATED_SIZE = (800, 600)
# A phone may have been without signal at the end of the route.
_TAKEN_AFTER_END = timedelta(hours=24)
# A file without a row that is older than this belongs to no upload that is still under way.
_UPLOAD_LASTS = timedelta(hours=1)
# Days in whose folders files without rows are looked for, today included.
_LOOKED_AT = 3


@dataclass(frozen=True)
class Proof:
    """What a driver brings from a stop. `photos`: ids that the phone has given to photos it has uploaded.

    `left`: the goods were left at the door, so nobody told a name or a PIN.
    """

    received_by: str = ""
    pin: str = ""
    photos: tuple[UUID, ...] = ()
    left: bool = False


NO_PROOF = Proof()


def deliver(
    *, delivery: Delivery, point: str, proof: Proof, by: str, at: datetime, made_at: datetime | None = None
) -> Delivery:
    """Record that the driver has delivered the order at `point`, with what proves it.

    Raises LeavingNotAllowed, PhotoRequired, PinRequired, WrongPin, PinLocked, and the errors of
    `deliveries.deliver`. A wrong PIN is counted although it is refused: the caller must not roll back.
    """
    wrong_pin = None
    with transaction.atomic():
        # Held until a wrong PIN is counted, so that two phones that guess at once have no try more.
        transitions.lock(delivery)
        try:
            with transaction.atomic():
                moved = deliveries.deliver(delivery=delivery, point=point, by=by, at=at, made_at=made_at)
                _check(deliveries.stop_at(moved, point), proof, at=made_at or at)
        except WrongPin as error:
            _count_wrong_pin(deliveries.stop_at(delivery, point))
            wrong_pin = error
    if wrong_pin is not None:
        raise wrong_pin
    return moved


def _check(stop: Stop, proof: Proof, *, at: datetime) -> None:
    """Compare the proof with what the request asked for, and write it. The photo first, so that it costs no try."""
    options = DropoffOptions.of(stop)
    taken = ProofPhoto.objects.filter(stop=stop, driver=stop.delivery.driver, upload__in=proof.photos)
    if proof.left and options.on_failure != OnFailure.LEAVE:
        raise LeavingNotAllowed("This order may not be left at the door. It needs somebody who receives it.")
    if (proof.left or options.needs_photo) and not taken.exists():
        raise PhotoRequired("This delivery needs a photo. Take one and deliver again.")
    if proof.left:
        StopProof.objects.update_or_create(stop=stop, defaults={"left_at_door": True})
        return
    confirmed_at = None
    if options.needs_pin:
        _check_pin(stop, options.pin, proof.pin)
        confirmed_at = at
    if proof.received_by or confirmed_at:
        StopProof.objects.update_or_create(
            stop=stop, defaults={"received_by": proof.received_by, "pin_confirmed_at": confirmed_at}
        )


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


def add(
    *, driver: Driver, upload: UUID, delivery: UUID, point: str, content: bytes, taken_at: datetime, at: datetime
) -> tuple[ProofPhoto, bool]:
    """Keep a photo that a driver took at a stop, and say whether it is new: a repeated `upload` is not kept twice.

    Raises NotYourRoute, StopNotFound, PhotoTooLate, TooManyPhotos, what `photos.encode` raises, and PhotosBusy while
    the storage of photos cannot be written to. Must not be called within a transaction: encoding takes time, and the
    storage may be reached by HTTP.
    """
    before = ProofPhoto.objects.filter(driver=driver, upload=upload).first()
    if before is not None:
        return before, False
    stop = _stop(driver, delivery, point, at=at)
    photo = photos.encode(content)
    row = ProofPhoto(
        stop=stop,
        driver=driver,
        upload=upload,
        width=photo.width,
        height=photo.height,
        size=len(photo.jpeg),
        taken_at=max(min(taken_at, at), min(stop.delivery.created_at, at)),
        received_at=at,
    )
    _save(row.name, photo.jpeg)
    kept = None
    try:
        kept = _insert(row, at=at)
    finally:
        if kept is not row:
            files().delete(row.name)
    return kept, kept is row


def add_simulated(stop: Stop, *, at: datetime) -> ProofPhoto:
    """The photo that the simulated driver who holds the route takes at a stop, kept once. Raises the errors of `add`.

    Only its row is new: files of test deliveries would fill the disk, and encoding them would delay real photos.
    """
    driver = stop.delivery.driver
    assert driver is not None  # noqa: S101  # nosec B101  # somebody holds the route
    width, height = _SIMULATED_SIZE
    row = ProofPhoto(
        stop=stop,
        driver=driver,
        upload=ProofPhoto.simulated_upload(stop.pk),
        width=width,
        height=height,
        size=_SIMULATED.stat().st_size,
        taken_at=at,
        received_at=at,
    )
    return _insert(row, at=at)


def read(photo: ProofPhoto) -> bytes | None:
    """The JPEG, or None when it was deleted."""
    if photo.is_simulated:
        return _SIMULATED.read_bytes()
    try:
        with files().open(photo.name) as file:
            content: bytes = file.read()
    except FileNotFoundError:
        return None
    return content


def files() -> Storage:
    """The storage of photos."""
    return storages["proofs"]


def prune(*, at: datetime) -> None:
    """Delete the photos of days before the last PROOF_PHOTOS_KEPT, and files that an interrupted upload has left.

    The files first: while the row exists, a deletion that was interrupted is repeated.
    """
    today = at.astimezone(UTC).date()
    oldest = today - settings.PROOF_PHOTOS_KEPT
    storage = files()
    old = [folder for folder in _folders(storage) if folder < oldest.isoformat()]
    each(old, partial(_delete_folder, storage), doing="delete the photos of")
    batches.prune(ProofPhoto, "received_at", before=datetime(oldest.year, oldest.month, oldest.day, tzinfo=UTC))
    for days in range(_LOOKED_AT):
        _delete_orphans(storage, today - timedelta(days=days), at=at)


def _save(name: str, jpeg: bytes) -> None:
    try:
        files().save(name, ContentFile(jpeg))
    except Exception as error:  # of a folder mostly no space, and it leaves nothing behind; of a bucket anything
        # Each phone tries again until its photo is kept. What is not an OSError may be a fault of code: with traceback.
        _log.error("A photo cannot be kept: %s", error, exc_info=not isinstance(error, OSError))
        raise PhotosBusy("The service cannot keep photos at the moment. Send it again later.") from error


def _stop(driver: Driver, delivery_id: UUID, point: str, *, at: datetime) -> Stop:
    """The stop that this driver may add a photo to."""
    delivery = Delivery.objects.filter(pk=delivery_id, driver=driver).prefetch_related("stops").first()
    if delivery is None:
        raise NotYourRoute("You do not hold this route; the dispatcher may have given it to somebody else.")
    if delivery.closed_at is not None and delivery.closed_at + _TAKEN_AFTER_END < at:
        raise PhotoTooLate("The route ended more than a day ago, so it takes no more photos.")
    stop = deliveries.stop_at(delivery, point)
    if stop.forgotten_at is not None:
        raise PhotoTooLate("The data of this point were deleted, so it takes no more photos.")
    taken = ProofPhoto.objects.filter(stop=stop)
    if stop.tried_at is not None:
        taken = taken.filter(received_at__gte=stop.tried_at)
    if taken.count() >= MOST_PHOTOS:
        raise TooManyPhotos("This point has %(most)s photos already.", most=MOST_PHOTOS)
    return stop


@transaction.atomic
def _insert(row: ProofPhoto, *, at: datetime) -> ProofPhoto:
    """The row, or the one of the same upload that was written meanwhile."""
    # Serialises photos of a stop, to count them. The photo changes the delivery, so its lock comes first, as in moves.
    Stop.objects.select_for_update(of=("delivery",), no_key=True).select_related("delivery").get(pk=row.stop_id)
    before = ProofPhoto.objects.filter(driver_id=row.driver_id, upload=row.upload).first()
    if before is not None:
        return before
    _stop(row.driver, row.stop.delivery_id, row.stop.label, at=at)
    row.save(force_insert=True)
    return row


def _folders(storage: Storage) -> list[str]:
    try:
        return storage.listdir("")[0]
    except FileNotFoundError:  # nothing was written yet
        return []


def _delete_orphans(storage: Storage, day: date, *, at: datetime) -> None:
    """Delete the files of a day that have no row."""
    try:
        names = storage.listdir(day.isoformat())[1]
    except FileNotFoundError:
        return
    begins = datetime(day.year, day.month, day.day, tzinfo=UTC)
    rows = ProofPhoto.objects.filter(received_at__gte=begins, received_at__lt=begins + timedelta(days=1))
    known = {f"{key}.jpg" for key in rows.values_list("pk", flat=True)}
    unknown = [name for name in names if name not in known]
    old = [name for name in unknown if storage.get_modified_time(f"{day}/{name}") < at - _UPLOAD_LASTS]
    _delete_all(storage, day.isoformat(), old)


def _delete_folder(storage: Storage, folder: str) -> None:
    _delete_all(storage, folder, storage.listdir(folder)[1])
    storage.delete(folder)  # a bucket has no folders, and ignores it


def _delete_all(storage: Storage, folder: str, names: list[str]) -> None:
    each([f"{folder}/{name}" for name in names], storage.delete, doing="delete the photo")
