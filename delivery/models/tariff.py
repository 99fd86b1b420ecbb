from collections.abc import Collection
from dataclasses import fields
from decimal import Decimal
from typing import Any, Self
from uuid import UUID

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrPromise

from common.fields import one_of
from common.measures import CENTIMETRES, KILOGRAMS, KILOMETRES, LITRES, PERCENT, REAIS, SHARE, MeasuredDecimal, Unit
from common.postgresql.compiled_queries import CompiledQuery, Parameter
from common.postgresql.row_history import history_of
from delivery.geo.distance import Point
from delivery.models.bases import cartesian
from delivery.models.delivery import Delivery
from delivery.models.dispatch_rules import DispatchRules
from delivery.models.driver import VehicleType, nearest_free_m
from delivery.models.integrator import Integrator, active_nearby, latitudes
from delivery.models.token import Requester
from delivery.pricing import Pay, Terms

_OPTIONAL: dict[str, Any] = {"null": True, "blank": True}


def _figure(label: StrPromise, help_text: StrPromise | str = "", *, unit: Unit, **options: Any) -> Any:
    """A field that is not negative, with the places of its unit."""
    validators = options.pop("validators", [MinValueValidator(Decimal(0))])
    return MeasuredDecimal(
        label, unit=unit, decimal_places=unit.places, validators=validators, help_text=help_text, **options
    )


def _reais(label: StrPromise, help_text: StrPromise | str = "", **options: Any) -> Any:
    return _figure(label, help_text, unit=REAIS, max_digits=8, **options)


def _percent(label: StrPromise, help_text: StrPromise | str = "", **options: Any) -> Any:
    """A field from 0 to 100."""
    validators = [MinValueValidator(Decimal(0)), MaxValueValidator(Decimal(100))]
    return _figure(label, help_text, unit=PERCENT, max_digits=5, validators=validators, **options)


class TariffQuerySet(models.QuerySet["Tariff"]):
    def for_vehicle(self, vehicle_type: Any, *, integrator: Any) -> Self:
        """The active tariffs for a vehicle: the integrator's own first, then the general one."""
        applying = self.filter(Q(integrator=integrator) | Q(integrator=None), active=True, vehicle_type=vehicle_type)
        return applying.order_by(F("integrator").asc(nulls_last=True))


class Tariff(models.Model):
    """Prices of one vehicle type, for one integrator or for all. Money in BRL."""

    vehicle_type = models.CharField(_("vehicle type"), max_length=10, choices=VehicleType)
    integrator = models.ForeignKey(
        Integrator,
        verbose_name=_("account"),
        on_delete=models.CASCADE,
        related_name="tariffs",
        null=True,
        blank=True,
        help_text=_("Empty: everybody without a tariff of their own."),
    )
    active = models.BooleanField(_("active"), default=True)
    # Set by `in_force`.
    circles: list[list[float]]
    driver_m: float | None
    base_fare = _reais(_("base fare"))
    included_km = _figure(_("included distance"), unit=KILOMETRES, max_digits=6, default=0)
    price_per_km = _reais(_("price per km"))
    price_per_extra_dropoff = _reais(_("price per extra drop-off"), default=0)
    minimum_fare = _reais(_("minimum fare"), default=0)
    return_share = MeasuredDecimal(
        _("return share"),
        unit=SHARE,
        max_digits=4,
        decimal_places=3,
        default=1,
        validators=[MinValueValidator(Decimal(0)), MaxValueValidator(Decimal(1))],
        help_text=_("Share of the price per km that the way back to A costs, 0 to 1."),
    )
    maximum_km = _figure(_("maximum distance"), unit=KILOMETRES, max_digits=6)
    maximum_kg = _figure(_("maximum weight"), unit=KILOGRAMS, max_digits=6)
    maximum_side_cm = _figure(
        _("longest side"), _("Of each package. Empty: any."), unit=CENTIMETRES, max_digits=6, **_OPTIONAL
    )
    maximum_litres = _figure(
        _("maximum volume"), _("Of all packages together. Empty: any."), unit=LITRES, max_digits=8, **_OPTIONAL
    )
    cancel_percent_accepted = _percent(_("cancellation fee after acceptance"), default=30)
    cancel_percent_collected = _percent(_("cancellation fee after pickup"), default=100)
    retry_percent = _percent(
        _("second attempt"), _("Of the price, for each second attempt at a point."), default=0, db_default=0
    )
    return_percent = _percent(
        _("way back after a failure"),
        _(
            "Of the price, if the driver brings goods back to A because a point failed. Not where the price includes "
            "the way back, and not if the cancellation itself turned the driver back."
        ),
        default=0,
        db_default=0,
    )

    driver_percent = _percent(
        _("drivers' share"),
        _("Of the price. Empty, like the next two: the share of the rules of dispatch."),
        **_OPTIONAL,
    )
    driver_fixed = _reais(_("drivers' fixed amount"), _("For each route."), **_OPTIONAL)
    driver_per_km = _reais(_("drivers' amount per km"), _("For each kilometre of the route."), **_OPTIONAL)

    objects = TariffQuerySet.as_manager()

    class Meta:
        verbose_name = _("delivery tariff")
        verbose_name_plural = _("delivery tariffs")
        ordering = ["vehicle_type", "id"]
        constraints = [
            one_of("tariff_vehicle_type", "vehicle_type", VehicleType.values),
            models.UniqueConstraint(
                fields=["vehicle_type", "integrator"],
                name="one_active_tariff",
                condition=Q(active=True),
                nulls_distinct=False,
                violation_error_message=_("There is an active tariff for this vehicle and account already."),
            ),
            models.CheckConstraint(
                name="tariff_not_negative",
                condition=Q(
                    base_fare__gte=0,
                    included_km__gte=0,
                    price_per_km__gte=0,
                    price_per_extra_dropoff__gte=0,
                    minimum_fare__gte=0,
                    maximum_km__gte=0,
                    maximum_kg__gte=0,
                ),
            ),
            models.CheckConstraint(
                name="tariff_package_not_negative", condition=Q(maximum_side_cm__gte=0, maximum_litres__gte=0)
            ),
            models.CheckConstraint(
                name="tariff_shares",
                condition=Q(
                    return_share__range=(0, 1),
                    cancel_percent_accepted__range=(0, 100),
                    cancel_percent_collected__range=(0, 100),
                ),
            ),
            models.CheckConstraint(
                name="tariff_shares_of_failures",
                condition=Q(retry_percent__range=(0, 100), return_percent__range=(0, 100)),
            ),
            models.CheckConstraint(
                name="tariff_driver_pay",
                condition=Q(driver_percent__range=(0, 100), driver_fixed__gte=0, driver_per_km__gte=0),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_vehicle_type_display()}, {self.integrator or _('all accounts')}"

    @property
    def terms(self) -> Terms:
        return Terms(**{each.name: getattr(self, each.name) for each in fields(Terms)})

    @property
    def pay(self) -> Pay | None:
        """What drivers earn; None where the tariff does not say it."""
        pay = Pay(self.driver_percent, self.driver_fixed, self.driver_per_km)
        return None if pay == Pay() else pay

    @staticmethod
    def driver_amounts(deliveries: Collection[Delivery]) -> dict[UUID, Decimal]:
        """What a driver who accepts each of these deliveries now earns, in reais, by their ids; 0 without a rule.

        The account's own tariff says it, else the general one, else the rules of dispatch. One query.
        """
        accounts = {delivery.integrator_id for delivery in deliveries}
        tariffs = Tariff.objects.filter(Q(integrator__in=accounts) | Q(integrator=None), active=True)
        pays: dict[tuple[UUID | None, str], Pay | None] = {
            (tariff.integrator_id, tariff.vehicle_type): tariff.pay for tariff in tariffs
        }
        share = Pay(DispatchRules.current().driver_share_percent)
        amounts = {}
        for delivery in deliveries:
            own, general = (pays.get((key, delivery.vehicle_type)) for key in (delivery.integrator_id, None))
            pay = own or general or share
            amounts[delivery.pk] = pay.amount(price=delivery.shipping_value, km=delivery.distance_km)
        return amounts

    @staticmethod
    def pays_drivers() -> bool:
        """Whether drivers see amounts: the rules of dispatch or an active tariff say what they earn."""
        named = Q(driver_percent__gt=0) | Q(driver_fixed__gt=0) | Q(driver_per_km__gt=0)
        by_share = DispatchRules.current().driver_share_percent > 0
        return by_share or Tariff.objects.filter(named, active=True).exists()

    @staticmethod
    def in_force(*, vehicle_type: str, token: Requester, pickup: Point, start: Point) -> "Tariff | None":
        """The active tariff of the token's account for this vehicle, else the general one, else None.

        Its `circles` are what `integrator.active_nearby` reads about `pickup`, and its `driver_m` what
        `driver.nearest_free_m` does about `start`, in the same statement.
        """
        south, north = latitudes(pickup)
        x, y, z = cartesian(start)
        return _IN_FORCE.first(
            vehicle_type=vehicle_type,
            integrator=token.integrator_id,
            environment=token.environment,
            south=south,
            north=north,
            x=x,
            y=y,
            z=z,
            radius_m=DispatchRules.current().dispatch_radius_m,
        )


_IN_FORCE: CompiledQuery[Tariff] = CompiledQuery(
    lambda: Tariff.objects.for_vehicle(Parameter("vehicle_type"), integrator=Parameter("integrator")).annotate(
        circles=active_nearby(),  # type: ignore[no-redef]  # declared for its type
        driver_m=nearest_free_m(),
    )[:1]
)


TariffChange: Any = history_of(
    Tariff,
    "TariffChange",
    verbose_name=_("change of delivery prices"),
    verbose_name_plural=_("changes of delivery prices"),
)
