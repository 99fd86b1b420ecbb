"""What superusers have chosen for the maps of the installation, and how far the copying of streets is."""

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from common.fields import not_personal, one_of
from delivery.streets.errors import BY_CODE, MapNotCopied


class Choice(models.TextChoices):
    COPY = "copy", _("Streets are copied to this server")
    OPENSTREETMAP = "openstreetmap", _("Streets from openstreetmap.org")
    NONE = "none", _("No streets")


class CopyState(models.TextChoices):
    NEVER = ""
    WAITING = "waiting"
    COPYING = "copying"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"  # by a person


class Streets(models.Model):
    """A table of one row, whose id is 1, and of none until a superuser has chosen."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    choice = models.CharField(max_length=13, choices=Choice.choices)
    state = models.CharField(max_length=7, choices=CopyState.choices, blank=True, db_default="")
    error = not_personal(models.CharField(max_length=30, blank=True, db_default=""))
    source = not_personal(models.CharField(max_length=200, blank=True, db_default=""))
    total_bytes = models.BigIntegerField(db_default=0)
    copied_bytes = models.BigIntegerField(db_default=0)
    # Until when the worker that copies is waited for; another one goes on afterwards.
    leased_until = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()
        constraints = [
            models.CheckConstraint(name="streets_one_row", condition=Q(id=1)),
            one_of("streets_choice", "choice", Choice.values),
            one_of("streets_state", "state", CopyState.values),
            models.CheckConstraint(
                name="streets_copied_of_total",
                condition=Q(copied_bytes__gte=0, copied_bytes__lte=F("total_bytes")),
            ),
        ]

    def __str__(self) -> str:
        return self.choice

    @property
    def is_under_way(self) -> bool:
        return self.state in {CopyState.WAITING, CopyState.COPYING}

    @property
    def percent(self) -> int:
        return 100 * self.copied_bytes // self.total_bytes if self.total_bytes else 0

    @property
    def reason(self) -> type[MapNotCopied] | None:
        """Why they were not copied."""
        return BY_CODE.get(self.error)
