import pgtrigger
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from common import credentials
from common.fields import CiphertextField
from delivery.models.stop import Stop

MOST_WRONG_PINS = 5


class DropoffOptions(models.Model):
    """What a request asked for at a drop-off with the optional keys. Immutable; without these keys there is no row."""

    stop = models.OneToOneField(Stop, primary_key=True, on_delete=models.CASCADE, related_name="options")
    instructions = models.CharField(_("instructions"), max_length=500, blank=True)
    contact_email = models.EmailField(_("email"), blank=True)
    needs_photo = models.BooleanField(_("needs a photo"), default=False)
    # Of four digits. Empty: none is asked for.
    pin_ciphertext = CiphertextField(blank=True)

    class Meta:
        default_permissions = ()
        verbose_name = _("options of a drop-off")
        verbose_name_plural = _("options of drop-offs")
        triggers = [pgtrigger.ReadOnly(name="dropoff_options_immutable", exclude=["pin_ciphertext"])]

    def __str__(self) -> str:
        return str(self.stop_id)

    @property
    def pin(self) -> str:
        """The PIN that the receiver tells the driver, or an empty string."""
        return credentials.decrypt(self.pin_ciphertext) if self.pin_ciphertext else ""

    @property
    def needs_pin(self) -> bool:
        return bool(self.pin_ciphertext)


class StopProof(models.Model):
    """What proves that a stop was delivered, beside its photos. `wrong_pins`: refused tries so far."""

    stop = models.OneToOneField(Stop, primary_key=True, on_delete=models.CASCADE, related_name="proof")
    received_by = models.CharField(_("received by"), max_length=120, blank=True)
    pin_confirmed_at = models.DateTimeField(_("PIN confirmed at"), null=True)
    wrong_pins = models.PositiveSmallIntegerField(_("wrong PINs"), default=0)

    class Meta:
        default_permissions = ()
        verbose_name = _("proof of delivery")
        verbose_name_plural = _("proofs of delivery")
        constraints = [models.CheckConstraint(name="proof_wrong_pins", condition=Q(wrong_pins__lte=MOST_WRONG_PINS))]

    def __str__(self) -> str:
        return self.received_by
