"""What simulated drivers bring from stops whose request asked for proof, by the actions that phones use."""

from datetime import datetime

from delivery.actions import proofs
from delivery.actions.proofs import NO_PROOF, Proof
from delivery.lifecycle import Status
from delivery.models import DropoffOptions, ProofPhoto, Stop
from delivery.simulation import steps


def take_photo(stop: Stop, *, at: datetime) -> None:
    """Take the photo of an open stop, once, if the request asked for it. Raises the errors of `proofs.add`."""
    is_wanted = DropoffOptions.objects.filter(pk=stop.pk, needs_photo=True).exists()
    if is_wanted and stop.status == Status.COLLECTED:
        proofs.add_simulated(stop, at=at)


def proof(stop: Stop) -> Proof:
    """What the request asked for: the photo that was taken, a name, and the right PIN."""
    options = DropoffOptions.objects.filter(pk=stop.pk).first()
    if options is None or not (options.needs_photo or options.needs_pin):
        return NO_PROOF
    return given(stop, received_by=steps.RECEIVER_NAME, pin=options.pin)


def given(stop: Stop, *, received_by: str, pin: str) -> Proof:
    """The photo that was taken, with what the caller says was told at the door."""
    return Proof(received_by=received_by, pin=pin, photos=(ProofPhoto.simulated_upload(stop.pk),))
