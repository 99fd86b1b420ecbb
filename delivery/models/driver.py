from datetime import datetime
from typing import TYPE_CHECKING, Self

from django.db import models
from django.db.models import OuterRef, Q, Subquery
from django.utils.translation import gettext_lazy as _

from common.constraints import one_of
from delivery import lifecycle
from delivery.models.ids import Identified, Located, on_earth
from delivery.models.integrator import Environment

if TYPE_CHECKING:
    from uuid import UUID


class VehicleType(models.TextChoices):
    MOTORCYCLE = "MOTORCYCLE", _("Motorcycle")
    CAR = "CAR", _("Car")


class DriverQuerySet(models.QuerySet["Driver"]):
    def free_for(self, *, vehicle_type: str, environment: str) -> Self:
        """On duty in this vehicle and environment, and holding no open route. Distance is not looked at."""
        return self.filter(active=True, on_duty=True, vehicle_type=vehicle_type, environment=environment).exclude(
            deliveries__route_status__in=lifecycle.HELD
        )

    def newest_positions(self) -> "dict[UUID, DriverPosition]":
        """The newest position of each of these drivers that has one, by the driver's id. Two queries for any number."""
        newest = DriverPosition.objects.filter(driver=OuterRef("pk")).order_by("-recorded_at").values("pk")[:1]
        newest_of = dict(self.values_list("pk", Subquery(newest)))
        positions = DriverPosition.objects.in_bulk([key for key in newest_of.values() if key is not None])
        return {driver: positions[key] for driver, key in newest_of.items() if key in positions}


class Driver(Identified):
    """Somebody who takes routes. A sandbox driver is simulated and never meets a live delivery."""

    name = models.CharField(_("name"), max_length=120)
    phone = models.CharField(_("phone"), max_length=40, blank=True)
    vehicle_type = models.CharField(_("vehicle type"), max_length=10, choices=VehicleType)
    environment = models.CharField(_("environment"), max_length=7, choices=Environment, default=Environment.LIVE)
    active = models.BooleanField(_("active"), default=True, help_text=_("Works with us at all."))
    on_duty = models.BooleanField(_("on duty"), default=False, help_text=_("Takes offers now."))

    objects = DriverQuerySet.as_manager()

    class Meta:
        verbose_name = _("driver")
        verbose_name_plural = _("drivers")
        ordering = ["name"]
        constraints = [
            one_of("driver_vehicle_type", "vehicle_type", VehicleType.values),
            one_of("driver_environment", "environment", Environment.values),
        ]
        indexes = [
            models.Index(
                fields=["environment", "vehicle_type"],
                name="driver_on_duty",
                condition=Q(active=True, on_duty=True),
            )
        ]

    def __str__(self) -> str:
        return self.name

    def latest_position(self) -> "DriverPosition | None":
        return self.positions.order_by("-recorded_at").first()


class DriverPosition(Located):
    """Where a driver was at a moment."""

    driver = models.ForeignKey(Driver, verbose_name=_("driver"), on_delete=models.CASCADE, related_name="positions")
    accuracy_m = models.FloatField(_("accuracy (m)"), null=True, blank=True)
    recorded_at = models.DateTimeField(_("recorded at"))
    recorded_by = models.CharField(_("recorded by"), max_length=200)

    class Meta:
        verbose_name = _("position")
        verbose_name_plural = _("positions")
        ordering = ["-recorded_at"]
        constraints = [
            on_earth("driver_position_on_earth"),
            models.CheckConstraint(
                name="driver_position_accuracy", condition=Q(accuracy_m=None) | Q(accuracy_m__gte=0)
            ),
        ]
        indexes = [models.Index(fields=["driver", "-recorded_at"], name="driver_position_latest")]

    def __str__(self) -> str:
        return f"{self.latitude:.5f}, {self.longitude:.5f}"

    def age_seconds(self, *, at: datetime) -> int:
        return max(int((at - self.recorded_at).total_seconds()), 0)
