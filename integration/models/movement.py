"""Who has an order to carry, and the events that carriers and people have reported."""

import pgtrigger
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from common.fields import not_personal, personal
from common.postgresql.row_history import NOTHING
from integration import lifecycle
from integration.models.carrier import Carrier
from integration.models.order import Order

LONGEST_EVENT_ID = 100


class Assignment(models.Model):
    """A change of an order's carrier. Append-only."""

    order = models.ForeignKey(Order, verbose_name=_("order"), on_delete=models.PROTECT, related_name="assignments")
    # None: it was taken from its carrier.
    carrier = models.ForeignKey(
        Carrier, verbose_name=_("carrier"), on_delete=models.PROTECT, null=True, related_name="+"
    )
    assigned_at = models.DateTimeField(_("assigned at"))
    assigned_by = personal(models.CharField(_("assigned by"), max_length=200))

    class Meta:
        verbose_name = _("assignment")
        verbose_name_plural = _("assignments")
        ordering = ["id"]
        triggers = [pgtrigger.Protect(name="assignment_append_only", operation=pgtrigger.Update | pgtrigger.Delete)]

    def __str__(self) -> str:
        return f"{self.order} → {self.carrier or NOTHING}"


class MovementRecord(models.Model):
    """An event that was recorded, so that the same one sent again is answered and has no further effect.

    Kept for `integration.carriers.movements.KEPT`.
    """

    # A carrier or a person, see `Carrier.source`.
    source = not_personal(models.CharField(max_length=40))
    event_id = not_personal(models.CharField(max_length=LONGEST_EVENT_ID))
    order = models.ForeignKey(Order, on_delete=models.CASCADE, related_name="+", db_index=False)
    status = not_personal(models.CharField(max_length=16))
    # Whether the order had the status already, so that its log has no entry of this event.
    was_already = models.BooleanField()
    recorded_at = models.DateTimeField()
    # A digest of what a carrier sent under the id; empty where that is not compared.
    content = not_personal(models.BinaryField(max_length=32, default=b"", db_default=b""))

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["source", "event_id"], name="one_movement_per_event"),
            models.CheckConstraint(
                name="movement_record_status", condition=Q(status__in=[s.value for s in lifecycle.BY_CARRIER])
            ),
        ]
        indexes = [models.Index(fields=["recorded_at"], name="movement_record_oldest")]

    def __str__(self) -> str:
        return f"{self.source} {self.event_id}: {self.status}"
