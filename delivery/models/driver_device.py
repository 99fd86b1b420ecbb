from collections.abc import Collection
from datetime import datetime
from typing import Self
from uuid import UUID

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from common import credentials
from common.compiled_queries import CompiledQuery, Parameter
from common.credential_model import Credential
from common.fields import CiphertextField
from delivery.models.driver import Driver
from delivery.models.ids import Identified


class DriverLogInLink(models.Model):
    """A link with which a driver logs in on one phone, once and within a short time. Stored is its token's digest."""

    driver = models.ForeignKey(Driver, verbose_name=_("driver"), on_delete=models.CASCADE, related_name="log_in_links")
    digest = models.BinaryField(max_length=32, unique=True, editable=False)
    created_at = models.DateTimeField(_("created at"))
    created_by = models.CharField(_("created by"), max_length=200)
    expires_at = models.DateTimeField(_("expires at"))
    used_at = models.DateTimeField(_("used at"), null=True)

    class Meta:
        default_permissions = ()
        verbose_name = _("log-in link of a driver")
        verbose_name_plural = _("log-in links of drivers")

    def __str__(self) -> str:
        return f"{self.driver_id} {self.expires_at:%H:%M}"


class DriverDevice(Identified, Credential):
    """A phone that a driver is logged in on. Its session ends at `expires_at`, or when it is revoked.

    Of a driver's phones one reports positions: the one on which the driver went on duty last, or else the first that
    reports. Two that report from two places would look like jumps.
    """

    driver = models.ForeignKey(Driver, verbose_name=_("driver"), on_delete=models.CASCADE, related_name="devices")
    name = models.CharField(_("phone"), max_length=60, blank=True)  # browser and system
    hint = models.CharField(max_length=20, editable=False)
    language = models.CharField(max_length=10, default="pt-br")
    expires_at = models.DateTimeField(_("expires at"), editable=False)
    reports_positions = models.BooleanField(_("reports positions"), default=False)
    dropped_positions = models.PositiveIntegerField(_("dropped positions"), default=0)

    class Meta:
        default_permissions = ()
        verbose_name = _("phone of a driver")
        verbose_name_plural = _("phones of drivers")
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["driver"], name="one_reporting_phone_per_driver", condition=Q(reports_positions=True)
            ),
        ]

    def __str__(self) -> str:
        return self.name or self.hint

    def may_report(self, *, at: datetime) -> bool:
        """Whether no other phone of the driver that is logged in reports positions."""
        others = DriverDevice.objects.filter(driver=self.driver_id, reports_positions=True).exclude(pk=self.pk)
        return self.reports_positions or not others.filter(revoked_at=None, expires_at__gt=at).exists()

    @staticmethod
    def find(clear_text: str, *, at: datetime) -> "DriverDevice | None":
        """The phone with this session, not ended, of a driver who works for us, with its driver; or None."""
        return _BY_DIGEST.first(digest=credentials.digest(clear_text), at=at)


_BY_DIGEST = CompiledQuery(
    lambda: (
        DriverDevice.objects.filter(
            digest=Parameter("digest"), revoked_at=None, expires_at__gt=Parameter("at"), driver__active=True
        )
        .select_related("driver")
        .order_by()[:1]
    )
)


class PushSubscriptionQuerySet(models.QuerySet["PushSubscription"]):
    def valid(self, *, at: datetime) -> Self:
        """Those of phones that are logged in."""
        return self.filter(device__revoked_at=None, device__expires_at__gt=at)

    def of_drivers(self, drivers: Collection[UUID], *, at: datetime) -> Self:
        """The valid ones of these drivers, each with its phone."""
        return self.valid(at=at).filter(device__driver__in=drivers).select_related("device")


class PushSubscription(models.Model):
    """Where a phone receives Web Push messages. The address is a secret: whoever knows it can send to the phone."""

    device = models.OneToOneField(DriverDevice, primary_key=True, on_delete=models.CASCADE, related_name="push")
    # JSON of the browser's PushSubscription: endpoint and keys.
    ciphertext = CiphertextField()
    created_at = models.DateTimeField()
    # Since when no push was answered in time; None after one was.
    silent_since = models.DateTimeField(null=True, editable=False)

    objects = PushSubscriptionQuerySet.as_manager()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return str(self.device_id)
