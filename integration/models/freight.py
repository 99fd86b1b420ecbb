"""The tariff: figures that staff edit. Read anew for every quote, so an edit is in force at once on every worker."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from integration.freight import STATES, Rate, Service, Terms, Zone
from integration.postcodes import Kind, Region

_NAMES = list(Terms.__dataclass_fields__)
_INTEGER = r"^[0-9]{1,9}$"
_STATE_LIST = r"^([A-Z]{2}( [A-Z]{2})*)?$"
# What divides or steps must not be nothing.
_AT_LEAST_ONE = ("weight_rounding_g", "cubic_divisor_cm3_per_kg", "default_weight_g", "max_weight_g")


class FreightRateQuerySet(models.QuerySet["FreightRate"]):
    def between(self, origin: Region, destination: Region, *, zone: Zone, service: Service) -> "FreightRate | None":
        return self.filter(
            service=service, zone=zone, origin_kind=origin.kind, destination_kind=destination.kind
        ).first()


class FreightRate(models.Model):
    """One row of the tariff. Money in centavos."""

    service = models.CharField(_("service"), max_length=7, choices=[(s.value, s.value) for s in Service])
    zone = models.CharField(_("zone"), max_length=8, choices=[(z.value, z.value) for z in Zone])
    origin_kind = models.CharField(_("origin"), max_length=8, choices=[(k.value, k.value) for k in Kind])
    destination_kind = models.CharField(_("destination"), max_length=8, choices=[(k.value, k.value) for k in Kind])
    base_centavos = models.PositiveIntegerField(_("up to 1 kg (centavos)"))
    extra_kg_centavos = models.PositiveIntegerField(_("each further kg (centavos)"))
    deadline_days = models.PositiveSmallIntegerField(_("business days"))

    objects = FreightRateQuerySet.as_manager()

    class Meta:
        verbose_name = _("freight rate")
        verbose_name_plural = _("freight rates")
        ordering = ["service", "zone", "origin_kind", "destination_kind"]
        constraints = [
            models.UniqueConstraint(
                fields=["service", "zone", "origin_kind", "destination_kind"], name="one_freight_rate_per_way"
            )
        ]

    def __str__(self) -> str:
        return f"{self.service}, {self.zone}, {self.origin_kind} → {self.destination_kind}"

    @property
    def rate(self) -> Rate:
        return Rate(self.base_centavos, self.extra_kg_centavos, self.deadline_days)


class FreightParameterQuerySet(models.QuerySet["FreightParameter"]):
    def terms(self) -> Terms:
        """All parameters; one without a row has the default of `freight.Terms`."""
        values: dict[str, Any] = {parameter.name: parameter.parsed for parameter in self}
        return Terms(**values)


class FreightParameter(models.Model):
    """One figure that holds for the whole tariff."""

    name = models.CharField(_("parameter"), max_length=40, unique=True, choices=[(name, name) for name in _NAMES])
    value = models.CharField(_("value"), max_length=120, blank=True)
    unit = models.CharField(_("unit"), max_length=20, blank=True)
    basis = models.CharField(_("basis"), max_length=255, blank=True)

    objects = FreightParameterQuerySet.as_manager()

    class Meta:
        verbose_name = _("freight parameter")
        verbose_name_plural = _("freight parameters")
        ordering = ["name"]
        constraints = [
            # The quote reads these with `int`, which must never fail on a row that somebody wrote by other ways.
            models.CheckConstraint(
                name="freight_parameter_readable",
                condition=Q(name__in=_NAMES)
                & (
                    Q(name="remote_ufs", value__regex=_STATE_LIST)
                    | Q(name="quote_service", value__in=[s.value for s in Service])
                    | Q(~Q(name__in=["remote_ufs", "quote_service", *_AT_LEAST_ONE]), value__regex=_INTEGER)
                    | Q(name__in=_AT_LEAST_ONE, value__regex=r"^0*[1-9][0-9]{0,8}$")
                ),
                violation_error_message=_("Not a value of this parameter."),
            )
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        if self.name == "remote_ufs" and (unknown := set(self.value.split()) - STATES):
            raise ValidationError({"value": _("No such state: %s") % ", ".join(sorted(unknown))})

    @property
    def parsed(self) -> int | frozenset[str] | Service:
        if self.name == "remote_ufs":
            return frozenset(self.value.split())
        return Service(self.value) if self.name == "quote_service" else int(self.value)
