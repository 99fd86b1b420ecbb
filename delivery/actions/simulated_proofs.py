"""What simulated drivers bring from stops whose request asked for proof, by the actions that phones use."""

import logging
from datetime import datetime
from uuid import NAMESPACE_OID, UUID, uuid5

from delivery import simulated_photo, simulator
from delivery.actions import proof_photos
from delivery.actions.proofs import NO_PROOF, Proof
from delivery.errors import DeliveryError
from delivery.lifecycle import RouteStatus, Status
from delivery.models import DropoffOptions, Stop

_log = logging.getLogger(__name__)


def take_photos_due(*, at: datetime) -> None:
    """Take the photos of the simulated routes that are due. Before their moves, whose transactions must be short."""
    stops = Stop.objects.filter(
        delivery__simulation__due_at__lte=at,
        delivery__route_status=RouteStatus.COLLECTED,
        status=Status.COLLECTED,
        options__needs_photo=True,
        photos=None,
    )
    for stop in stops.select_related("delivery__driver"):
        try:
            take_photo(stop, at=at)
        except DeliveryError as error:  # the move is refused, and repeated after a pause
            _log.warning("The simulated driver has no photo of a stop of delivery %s: %s", stop.delivery_id, error)


def take_photo(stop: Stop, *, at: datetime) -> None:
    """Take the photo of a stop whose route a driver holds, once. Raises what `proof_photos.add` raises."""
    driver = stop.delivery.driver
    assert driver is not None  # noqa: S101  # nosec B101  # somebody holds the route
    content = simulated_photo.jpeg("Simulated photo", stop.external_id[:40], f"{at:%Y-%m-%d %H:%M} UTC")
    proof_photos.add(
        driver=driver,
        upload=_upload(stop),
        delivery=stop.delivery_id,
        point=stop.label,
        content=content,
        taken_at=at,
        at=at,
    )


def proof(stop: Stop) -> Proof:
    """What the request asked for: the photo that was taken, a name, and the right PIN."""
    options = DropoffOptions.objects.filter(pk=stop.pk).first()
    if options is None or not (options.needs_photo or options.needs_pin):
        return NO_PROOF
    return Proof(received_by=simulator.RECEIVER_NAME, pin=options.pin, photos=(_upload(stop),))


def given(stop: Stop, *, received_by: str, pin: str, at: datetime) -> Proof:
    """What the caller says was told at the door, with the photo, which is taken if the request asked for one."""
    is_wanted = DropoffOptions.objects.filter(pk=stop.pk, needs_photo=True).exists()
    if is_wanted and stop.status == Status.COLLECTED:
        take_photo(stop, at=at)
    return Proof(received_by=received_by, pin=pin, photos=(_upload(stop),))


def _upload(stop: Stop) -> UUID:
    return uuid5(NAMESPACE_OID, f"simulated photo {stop.pk}")
