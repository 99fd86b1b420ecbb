"""The tariff. Quotes read it from the database every time, so an edit is in force at once in every process."""

from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Func, Q, Subquery
from django.db.models.functions import Cast, Coalesce
from django.utils.translation import gettext_lazy as _

from common.brazil.states import Kind, Region
from common.fields import one_of
from common.measures import BASIS_POINTS, CENTAVOS, GRAMS, NUMBER, MeasuredInteger, Unit
from common.postgresql.compiled_queries import CompiledQuery, Parameter
from common.postgresql.row_history import history_of
from integration.freight.calculation import STATES, Parameters, Rate, Service, Zone

SERVICES = [(Service.ECONOMY.value, _("Economy")), (Service.EXPRESS.value, _("Express"))]
ZONES = [
    (Zone.LOCAL.value, _("Local")),
    (Zone.STATE.value, _("Within the state")),
    (Zone.REGIONAL.value, _("Regional")),
    (Zone.NEAR.value, _("Near")),
    (Zone.MID.value, _("Medium")),
    (Zone.FAR.value, _("Far")),
    (Zone.REMOTE.value, _("Remote")),
]
KINDS = [(Kind.CAPITAL.value, _("Capital")), (Kind.INTERIOR.value, _("Interior"))]


class FreightRate(models.Model):
    """One row of the tariff. Money in centavos."""

    service = models.CharField(_("service"), max_length=7, choices=SERVICES)
    zone = models.CharField(_("zone"), max_length=8, choices=ZONES)
    origin_kind = models.CharField(_("origin"), max_length=8, choices=KINDS)
    destination_kind = models.CharField(_("destination"), max_length=8, choices=KINDS)
    base_centavos = MeasuredInteger(_("up to 1 kg"), unit=CENTAVOS)
    extra_kg_centavos = MeasuredInteger(_("each extra kg"), unit=CENTAVOS)
    deadline_days = models.PositiveSmallIntegerField(_("deadline (business days)"))

    class Meta:
        verbose_name = _("freight rate")
        verbose_name_plural = _("freight table")
        ordering = ["service", "zone", "origin_kind", "destination_kind"]
        constraints = [
            models.UniqueConstraint(
                fields=["service", "zone", "origin_kind", "destination_kind"], name="one_freight_rate_per_way"
            )
        ]

    def __str__(self) -> str:
        return (
            f"{self.get_service_display()}, {self.get_zone_display()}, {self.get_origin_kind_display()} → "
            f"{self.get_destination_kind_display()}"
        )


_ONE_TONNE = 1_000_000
_ONE_MILLION_BRL = 100_000_000
_ALL_OF_IT = 10_000  # 100 % in hundredths of a percent
# Smallest and largest value. What something is divided by must not be 0.
_RANGES = {
    "default_weight_g": (1, _ONE_TONNE),
    "max_weight_g": (1, _ONE_TONNE),
    "weight_rounding_g": (1, _ONE_TONNE),
    "cubic_divisor_cm3_per_kg": (1, 1_000_000),
    "cubic_threshold_g": (0, _ONE_TONNE),
    "ad_valorem_bp": (0, _ALL_OF_IT),
    "ad_valorem_free_centavos": (0, _ONE_MILLION_BRL),
    "gris_bp": (0, _ALL_OF_IT),
    "minimum_charge_centavos": (0, _ONE_MILLION_BRL),
    "handling_days": (0, 365),
}


def _figure(name: str, label: Any, help_text: Any = "", *, unit: Unit = NUMBER) -> MeasuredInteger:
    smallest, largest = _RANGES[name]
    validators = [MinValueValidator(smallest), MaxValueValidator(largest)]
    return MeasuredInteger(label, validators=validators, help_text=help_text, unit=unit)


class FreightParameters(models.Model):
    """The figures that hold for all rates: a table of exactly one row, whose id is 1."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    default_weight_g = _figure(
        "default_weight_g", _("assumed weight"), _("Charged when a quote states no weight."), unit=GRAMS
    )
    max_weight_g = _figure(
        "max_weight_g", _("maximum weight"), _("A heavier shipment is refused. Correios: 30 kg."), unit=GRAMS
    )
    weight_rounding_g = _figure(
        "weight_rounding_g", _("weight step"), _("Weights are rounded up to whole steps of this size."), unit=GRAMS
    )
    cubic_divisor_cm3_per_kg = _figure(
        "cubic_divisor_cm3_per_kg",
        _("cubic divisor"),
        _("Volume that counts as 1 kg. Correios: 6,000; road carriers: 3,333."),
        unit=Unit(places=0, suffix="cm³/kg"),
    )
    cubic_threshold_g = _figure(
        "cubic_threshold_g",
        _("cubic threshold"),
        _("A cubed weight up to this is ignored. 0: the larger weight is always charged."),
        unit=GRAMS,
    )
    ad_valorem_bp = _figure(
        "ad_valorem_bp",
        _("ad valorem"),
        _("Share of the declared value beyond the free amount."),
        unit=BASIS_POINTS,
    )
    ad_valorem_free_centavos = _figure(
        "ad_valorem_free_centavos",
        _("ad valorem: free amount"),
        _("Declared value that is insured without charge."),
        unit=CENTAVOS,
    )
    gris_bp = _figure(
        "gris_bp", "GRIS", _("Share of the whole declared value. Road carriers: about 0.3%."), unit=BASIS_POINTS
    )
    minimum_charge_centavos = _figure(
        "minimum_charge_centavos",
        _("minimum charge"),
        _("Least freight of a shipment. Ad valorem and GRIS are added to it."),
        unit=CENTAVOS,
    )
    handling_days = _figure(
        "handling_days", _("handling time (business days)"), _("Added to the deadline of every rate.")
    )
    remote_states = ArrayField(
        models.CharField(max_length=2, choices=[(state, state) for state in sorted(STATES)]),
        verbose_name=_("remote states"),
        blank=True,
        help_text=_("Shipments between one of them and another state are in the zone remote."),
    )
    quote_service = models.CharField(
        _("service of quotes"),
        max_length=7,
        choices=SERVICES,
        help_text=_("The quote API has one price and names no service: that of this one is given."),
    )

    class Meta:
        verbose_name = _("freight parameters")
        verbose_name_plural = _("freight parameters")
        constraints = [
            models.CheckConstraint(name="freight_parameters_one_row", condition=Q(id=1)),
            *(
                models.CheckConstraint(name=f"freight_{name}_range", condition=Q(**{f"{name}__range": limits}))
                for name, limits in _RANGES.items()
            ),
            models.CheckConstraint(
                name="freight_default_weight_within_maximum",
                condition=Q(default_weight_g__lte=F("max_weight_g")),
                violation_error_message=_("The assumed weight is over the maximum weight."),
            ),
            models.CheckConstraint(
                name="freight_remote_states_exist", condition=Q(remote_states__contained_by=sorted(STATES))
            ),
            one_of("freight_quote_service", "quote_service", [s.value for s in Service]),
        ]

    def __str__(self) -> str:
        return str(_("Freight parameters"))

    @staticmethod
    def heaviest_g() -> Coalesce:
        """The maximum weight in force, in a statement that reads something else."""
        row = FreightParameters.objects.order_by().values("max_weight_g")[:1]
        return Coalesce(Subquery(row), Parameters.max_weight_g)

    @staticmethod
    def current() -> Parameters:
        """The parameters in force: those of the row, or the defaults of `Parameters` if the table is empty."""
        row = _CURRENT.first()
        return row.parameters if row else Parameters()

    @staticmethod
    def current_with_rates(origin: Region, destination: Region) -> tuple[Parameters, dict[tuple[Zone, Service], Rate]]:
        """The parameters in force, and the rates from and to these kinds of regions, read by one statement."""
        kinds = {"origin": origin.kind.value, "destination": destination.kind.value}
        row = _CURRENT_WITH_RATES.first(**kinds)
        rows = row.rates if row else [rate.texts for rate in _RATES.all(**kinds)]
        rates = {(Zone(zone), Service(service)): Rate(*map(int, figures)) for zone, service, *figures in rows}
        return row.parameters if row else Parameters(), rates

    @property
    def parameters(self) -> Parameters:
        return Parameters(
            **{name: getattr(self, name) for name in _RANGES},
            remote_states=frozenset(self.remote_states),
            quote_service=Service(self.quote_service),
        )


def _rates() -> "models.QuerySet[Any]":
    """The rates between two kinds of regions, each with its `texts`: zone, service and the figures of a `Rate`."""
    figures = [Cast(name, models.TextField()) for name in ("base_centavos", "extra_kg_centavos", "deadline_days")]
    texts: Func = Func(
        "zone", "service", *figures, template="ARRAY[%(expressions)s]", output_field=ArrayField(models.TextField())
    )
    rates = FreightRate.objects.filter(origin_kind=Parameter("origin"), destination_kind=Parameter("destination"))
    return rates.annotate(texts=texts).order_by()


_CURRENT = CompiledQuery(lambda: FreightParameters.objects.order_by()[:1])
_RATES: CompiledQuery[Any] = CompiledQuery(_rates)
_CURRENT_WITH_RATES: CompiledQuery[Any] = CompiledQuery(
    lambda: FreightParameters.objects.annotate(rates=ArraySubquery(_rates().values("texts"))).order_by()[:1]
)


FreightPriceChange: Any = history_of(
    FreightRate,
    "FreightPriceChange",
    verbose_name=_("change of freight prices"),
    verbose_name_plural=_("changes of freight prices"),
)
FreightParametersChange: Any = history_of(
    FreightParameters,
    "FreightParametersChange",
    verbose_name=_("change of freight parameters"),
    verbose_name_plural=_("changes of freight parameters"),
)
