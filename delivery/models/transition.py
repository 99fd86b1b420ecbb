from datetime import datetime

import pgtrigger
from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from common.forgetting import EMPTY, equal_to, read_only_but_forgotten
from delivery import words
from delivery.models.delivery import Delivery
from delivery.models.driver import Driver

FORGOTTEN_DRIVER = "driver"  # as `by`, when a driver was forgotten


class Transition(models.Model):
    """A trigger that was applied to a delivery: actor, time and the statuses afterwards. Append-only."""

    delivery = models.ForeignKey(
        Delivery, verbose_name=_("delivery"), on_delete=models.CASCADE, related_name="transitions"
    )
    trigger = models.CharField(_("trigger"), max_length=10)
    point = models.CharField(_("point"), max_length=1, blank=True)
    reason = models.CharField(_("reason"), max_length=255, blank=True)
    status = models.CharField(_("status"), max_length=9)
    route_status = models.CharField(_("route status"), max_length=9)
    by = models.CharField(_("by"), max_length=200)
    at = models.DateTimeField(_("at"))
    # When the driver did it, if the phone reported it later.
    made_at = models.DateTimeField(_("made at"), null=True)
    # Who held the route until it was released or reassigned.
    former_driver = models.ForeignKey(
        Driver, on_delete=models.PROTECT, related_name="+", null=True, editable=False, db_index=False
    )

    class Meta:
        verbose_name = _("transition")
        verbose_name_plural = _("transitions")
        ordering = ["id"]
        indexes = [
            models.Index(fields=["by", "-id"], name="transition_by_whom"),
            models.Index(
                fields=["former_driver"], name="transition_former_driver", condition=Q(former_driver__isnull=False)
            ),
            # Rows are inserted in order of `at`, which suits a block range index; it is far smaller than a B-tree.
            BrinIndex(fields=["at"], name="transition_age", pages_per_range=32),
        ]
        triggers = [
            pgtrigger.Protect(name="transition_append_only", operation=pgtrigger.Delete),
            pgtrigger.ReadOnly(name="transition_immutable", exclude=["reason", "by"]),
            read_only_but_forgotten("transition_forgotten", {"reason": EMPTY, "by": equal_to(FORGOTTEN_DRIVER)}),
        ]

    def __str__(self) -> str:
        return f"{words.TRIGGERS.get(self.trigger, self.trigger)} {self.point}".strip()

    @property
    def happened_at(self) -> datetime:
        """When it was done; `at` is when it was recorded."""
        return self.made_at or self.at
