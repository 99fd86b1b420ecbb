from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from common.constraints import one_of
from common.fields import CiphertextField


class Kind(models.TextChoices):
    """What was asked for."""

    FORGET = "forget", _("Forget")
    EXPORT = "export", _("Export")


class PersonRequest(models.Model):
    """Who had the data of one person forgotten or exported, and when. The log of both.

    The number of the person is kept, encrypted, until everything is forgotten; afterwards only its last digits are.
    """

    kind = models.CharField(_("request"), max_length=6, choices=Kind)
    # JSON of a `Person`; empty once the request is finished.
    ciphertext = CiphertextField(blank=True)
    hint = models.CharField(_("number"), max_length=20, help_text=_("Its last digits."))
    requested_by = models.CharField(_("by"), max_length=200)
    requested_at = models.DateTimeField(_("requested at"))
    finished_at = models.DateTimeField(_("finished at"), null=True)
    stops = models.PositiveIntegerField(_("drop-offs"), default=0)
    pickups = models.PositiveIntegerField(_("pickups"), default=0)
    orders = models.PositiveIntegerField(_("orders"), default=0)
    drivers = models.PositiveIntegerField(_("drivers"), default=0)
    # Of those that a driver has held, the last one that is anonymised; None before and after the driver.
    last_delivery = models.UUIDField(null=True, editable=False)

    class Meta:
        verbose_name = _("request about personal data")
        verbose_name_plural = _("requests about personal data")
        ordering = ["-id"]
        default_permissions = ("view", "add")
        constraints = [
            one_of("person_request_kind", "kind", Kind.values),
            models.CheckConstraint(
                name="person_request_ended_has_no_number",
                condition=Q(finished_at=None) | Q(ciphertext=""),
            ),
        ]
        indexes = [models.Index(fields=["id"], name="person_request_open", condition=Q(finished_at=None))]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.hint}"
