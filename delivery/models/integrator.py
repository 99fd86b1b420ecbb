from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from common.limited_calls import LimitedAccount
from common.names import validate_name
from common.suspension import Suspendable, suspension_is_whole
from delivery.errors import AccountSuspended
from delivery.models.ids import Identified


class Environment(models.TextChoices):
    """Deliveries, drivers and tokens of one environment are not visible in the other."""

    LIVE = "live", _("Live")
    SANDBOX = "sandbox", _("Sandbox")


class Integrator(Identified, Suspendable, LimitedAccount):
    """An account that requests deliveries, such as a shop or a marketplace."""

    name = models.CharField(_("name"), max_length=120)
    allow_any_pickup = models.BooleanField(
        _("pick up anywhere"),
        default=False,
        help_text=_("Requests may start anywhere, not only near one of the account's pickup points."),
    )
    members = models.ManyToManyField(
        settings.AUTH_USER_MODEL,
        verbose_name=_("members"),
        related_name="integrators",
        through="IntegratorMembership",
        blank=True,
        help_text=_("People who see this account, and no other, in the panel."),
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("integrator")
        verbose_name_plural = _("integrators")
        ordering = ["name"]
        constraints = [suspension_is_whole("integrator_suspension_has_who_and_why")]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        super().clean()
        validate_name(self.name)

    def check_active(self) -> None:
        """Raise AccountSuspended while the account is suspended."""
        if self.is_suspended:
            raise AccountSuspended("The account is suspended. Ask whoever runs this service to lift the suspension.")
