"""Suspension of accounts of both APIs: since when, by whom and why."""

from datetime import datetime

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from common.errors import DomainError

LONGEST_REASON = 255


class InvalidReason(DomainError):
    """The reason of a suspension is blank, longer than LONGEST_REASON or contains NUL. The message is translated."""

    code = "invalid_reason"

    def __init__(self) -> None:
        text = gettext("Say why, in at most %(most)s characters, none of them NUL.")
        super().__init__(text % {"most": LONGEST_REASON})


class Suspendable(models.Model):
    """Abstract model with suspension. Subclasses add the constraint `suspension_is_whole`."""

    # What pages call the state. The Portuguese word agrees with the noun.
    suspended_word = pgettext_lazy("account", "Suspended")

    suspended_at = models.DateTimeField(_("suspended at"), null=True, blank=True, editable=False)
    suspended_by = models.CharField(
        _("suspended by"), max_length=200, blank=True, default="", db_default="", editable=False
    )
    suspension_reason = models.CharField(
        _("reason of the suspension"),
        max_length=LONGEST_REASON,
        blank=True,
        default="",
        db_default="",
        editable=False,
    )

    class Meta:
        abstract = True

    @property
    def is_suspended(self) -> bool:
        return self.suspended_at is not None

    def write_suspension(self, *, reason: str, by: str, at: datetime) -> bool:
        """Suspend the row. Returns False, and changes nothing, if it is suspended already. Raises InvalidReason."""
        reason = reason.strip()
        if not reason or len(reason) > LONGEST_REASON or "\0" in reason:
            raise InvalidReason
        active = type(self)._default_manager.filter(pk=self.pk, suspended_at=None)
        return active.update(suspended_at=at, suspended_by=by, suspension_reason=reason) == 1

    def clear_suspension(self) -> bool:
        """Lift the suspension of the row. Returns False, and changes nothing, if it is not suspended."""
        suspended = type(self)._default_manager.filter(pk=self.pk, suspended_at__isnull=False)
        return suspended.update(suspended_at=None, suspended_by="", suspension_reason="") == 1


def suspension_is_whole(name: str) -> models.CheckConstraint:
    """Constraint that time, actor and reason are either all set or all empty."""
    return models.CheckConstraint(
        name=name,
        condition=Q(suspended_at=None, suspended_by="", suspension_reason="")
        | (Q(suspended_at__isnull=False) & ~Q(suspended_by="") & ~Q(suspension_reason="")),
    )
