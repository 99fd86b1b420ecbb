from datetime import UTC, timedelta
from uuid import NAMESPACE_OID, UUID, uuid5

from django.core import signing
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from delivery.models.driver import Driver
from delivery.models.ids import Identified
from delivery.models.stop import Stop

_signer = signing.TimestampSigner(salt="delivery.ProofPhoto")
_LONGEST_SIGNED = 150
# How long a signed address works.
ADDRESS_WORKS_FOR = timedelta(hours=1)


class ProofPhoto(Identified):
    """A photo that a driver took at a stop, encoded anew as JPEG.

    `upload` is the phone's own id of the photo, by which a repeated upload is found. The photos of simulated drivers
    have ids of their own, and are all the same picture, which is no file of the storage.
    """

    stop = models.ForeignKey(Stop, on_delete=models.CASCADE, related_name="photos")
    driver = models.ForeignKey(
        Driver,
        on_delete=models.PROTECT,
        related_name="photos",
        db_index=False,  # the unique index begins with it
    )
    upload = models.UUIDField()
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    size = models.PositiveIntegerField()  # bytes
    taken_at = models.DateTimeField(_("taken at"))
    received_at = models.DateTimeField(_("received at"), db_index=True)

    class Meta:
        default_permissions = ()
        verbose_name = _("photo of a delivery")
        verbose_name_plural = _("photos of deliveries")
        ordering = ["taken_at", "id"]
        constraints = [models.UniqueConstraint(fields=["driver", "upload"], name="proof_photo_once")]

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """Its name in the storage of proofs: a folder for each day (UTC), so that days can be deleted."""
        return f"{self.received_at.astimezone(UTC):%Y-%m-%d}/{self.pk}.jpg"

    @staticmethod
    def simulated_upload(stop_id: int) -> UUID:
        """The id of the photo that a simulated driver takes at a stop."""
        return uuid5(NAMESPACE_OID, f"simulated photo {stop_id}")

    @property
    def is_simulated(self) -> bool:
        return self.upload == self.simulated_upload(self.stop_id)

    @property
    def path(self) -> str:
        """The path at which everybody can read it for an hour from now."""
        return reverse("proof-photo", args=[_signer.sign(self.pk.hex)])

    @staticmethod
    def find(signed: str) -> "ProofPhoto | None":
        """The photo of a signed path that works still, or None."""
        if len(signed) > _LONGEST_SIGNED:
            return None
        try:
            key = _signer.unsign(signed, max_age=ADDRESS_WORKS_FOR)
        except signing.BadSignature:
            return None
        return ProofPhoto.objects.filter(pk=key).first()
