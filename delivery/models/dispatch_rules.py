"""The rules of dispatch of the installation: distances, times, lateness, the drivers' share, the ground of maps."""

from dataclasses import dataclass, fields
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from common.cached import Cached
from common.measures import KILOMETRES, PERCENT, MeasuredDecimal, MeasuredInteger, Unit
from common.postgresql.compiled_queries import CompiledQuery
from common.postgresql.row_history import history_of

# A process reads the row at most once in so many seconds.
CACHED_SECONDS = 5.0
_CENTIMAL = Decimal("0.01")
_YEAR_OF_MINUTES = 525_600
_HALF_EQUATOR_KM = 20_040
# Smallest and largest value of each figure.
RANGES: dict[str, tuple[Any, Any]] = {
    "road_factor": (1, 10),
    "routing_time_factor_motorcycle": (Decimal("0.5"), 5),
    "routing_time_factor_car": (Decimal("0.5"), 5),
    "speed_kmh_motorcycle": (1, 200),
    "speed_kmh_car": (1, 200),
    "service_minutes_pickup": (0, 240),
    "service_minutes_stop": (0, 240),
    "dispatch_radius_km": (_CENTIMAL, _HALF_EQUATOR_KM),
    "position_fresh_seconds": (1, 86_400),
    "late_without_driver_minutes": (_CENTIMAL, _YEAR_OF_MINUTES),
    "late_pickup_minutes": (_CENTIMAL, _YEAR_OF_MINUTES),
    "late_minutes_per_km": (0, _YEAR_OF_MINUTES),
    "driver_share_percent": (0, 100),
}
_FACTOR = Unit(places=3)
_KMH = Unit(places=2, suffix="km/h")
_MINUTES = Unit(places=2, suffix="min")
_SECONDS = Unit(places=0, suffix="s")


@dataclass(frozen=True)
class Rules:
    """The values in force, with those of a new installation as defaults."""

    road_factor: float = 1.3
    routing_time_factor_motorcycle: float = 1.4
    routing_time_factor_car: float = 1.7
    speed_kmh_motorcycle: float = 25.0
    speed_kmh_car: float = 20.0
    service_minutes_pickup: float = 4.0
    service_minutes_stop: float = 3.0
    dispatch_radius_km: float = 15.0
    position_fresh_seconds: int = 120
    late_without_driver_minutes: float = 10.0
    late_pickup_minutes: float = 30.0
    late_minutes_per_km: float = 4.0
    driver_share_percent: Decimal = Decimal(0)
    streets_from_openstreetmap: bool = False

    @property
    def routing_time_factor(self) -> dict[str, float]:
        """By vehicle type."""
        return {"MOTORCYCLE": self.routing_time_factor_motorcycle, "CAR": self.routing_time_factor_car}

    @property
    def speed_kmh(self) -> dict[str, float]:
        """By vehicle type."""
        return {"MOTORCYCLE": self.speed_kmh_motorcycle, "CAR": self.speed_kmh_car}

    @property
    def dispatch_radius_m(self) -> float:
        return self.dispatch_radius_km * 1000

    @property
    def position_fresh(self) -> timedelta:
        return timedelta(seconds=self.position_fresh_seconds)

    @property
    def late_without_driver(self) -> timedelta:
        return timedelta(minutes=self.late_without_driver_minutes)

    @property
    def late_pickup(self) -> timedelta:
        return timedelta(minutes=self.late_pickup_minutes)

    @property
    def late_per_km(self) -> timedelta:
        return timedelta(minutes=self.late_minutes_per_km)


def _figure(name: str, label: Any, help_text: Any, *, unit: Unit) -> Any:
    smallest, largest = RANGES[name]
    default = getattr(Rules, name)
    options = {
        "validators": [MinValueValidator(smallest), MaxValueValidator(largest)], "help_text": help_text, "unit": unit
    }  # fmt: skip  # options
    if isinstance(default, int):
        return MeasuredInteger(label, default=default, **options)
    digits = len(str(int(largest))) + unit.places
    return MeasuredDecimal(
        label, default=Decimal(str(default)), max_digits=digits, decimal_places=unit.places, **options
    )


class DispatchRules(models.Model):
    """A table of exactly one row, whose id is 1. It is changed by `delivery.actions.dispatch_rules` alone."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    road_factor = _figure(
        "road_factor",
        _("road factor"),
        _("Road kilometres per kilometre of the straight line, for prices and arrival times without a routing engine."),
        unit=_FACTOR,
    )
    routing_time_factor_motorcycle = _figure(
        "routing_time_factor_motorcycle",
        _("travel time factor of a motorcycle"),
        _("The routing engine's travel times are multiplied by it. 1: the engine has data of traffic."),
        unit=_FACTOR,
    )
    routing_time_factor_car = _figure(
        "routing_time_factor_car",
        _("travel time factor of a car"),
        _("The routing engine's travel times are multiplied by it. 1: the engine has data of traffic."),
        unit=_FACTOR,
    )
    speed_kmh_motorcycle = _figure(
        "speed_kmh_motorcycle",
        _("speed of a motorcycle"),
        _("Average on the road, for arrival times without a routing engine."),
        unit=_KMH,
    )
    speed_kmh_car = _figure(
        "speed_kmh_car",
        _("speed of a car"),
        _("Average on the road, for arrival times without a routing engine."),
        unit=_KMH,
    )
    service_minutes_pickup = _figure(
        "service_minutes_pickup",
        _("time at pickup"),
        _("What a driver spends at A before leaving with the goods, for arrival times."),
        unit=_MINUTES,
    )
    service_minutes_stop = _figure(
        "service_minutes_stop",
        _("time at each drop-off"),
        _("What a driver spends at each drop-off, for arrival times."),
        unit=_MINUTES,
    )
    dispatch_radius_km = _figure(
        "dispatch_radius_km",
        _("dispatch radius"),
        _("Drivers with a fresh position that is farther from A are not eligible."),
        unit=KILOMETRES,
    )
    position_fresh_seconds = _figure(
        "position_fresh_seconds",
        _("positions are fresh for"),
        _("An older position does not exclude a driver from a route."),
        unit=_SECONDS,
    )
    late_without_driver_minutes = _figure(
        "late_without_driver_minutes",
        _("late without a driver after"),
        _("Counted from the request."),
        unit=_MINUTES,
    )
    late_pickup_minutes = _figure(
        "late_pickup_minutes",
        _("late for pickup after"),
        _("Counted from the request."),
        unit=_MINUTES,
    )
    late_minutes_per_km = _figure(
        "late_minutes_per_km",
        _("time per kilometre"),
        _("A collected route is late after the time for pickup and so much for each kilometre of the route."),
        unit=Unit(places=2, suffix="min/km"),
    )
    driver_share_percent = _figure(
        "driver_share_percent",
        _("drivers' share"),
        _("Share of a delivery's price that drivers see with offers and in their day. 0: they see no amounts."),
        unit=PERCENT,
    )

    streets_from_openstreetmap = models.BooleanField(
        _("streets from openstreetmap.org"),
        default=False,
        db_default=False,
        help_text=_(
            "Where this server has no map of its own, browsers load the pictures of maps from openstreetmap.org, which "
            "learns the area that is looked at."
        ),
    )

    class Meta:
        verbose_name = _("rules of dispatch")
        verbose_name_plural = _("rules of dispatch")
        default_permissions = ("view", "change")
        constraints = [
            models.CheckConstraint(name="dispatch_rules_one_row", condition=Q(id=1)),
            *(
                models.CheckConstraint(name=f"dispatch_{name}_range", condition=Q(**{f"{name}__range": limits}))
                for name, limits in RANGES.items()
            ),
        ]

    def __str__(self) -> str:
        return str(_("Rules of dispatch"))

    @property
    def rules(self) -> Rules:
        return Rules(**{each.name: type(getattr(Rules, each.name))(getattr(self, each.name)) for each in fields(Rules)})

    @staticmethod
    def current() -> Rules:
        """The rules in force, at most five seconds old. Those of a new installation if the table is empty."""
        return _CACHED.get()

    @staticmethod
    def known() -> Rules | None:
        """The rules that this process has read last, without a query. None before it reads them."""
        return _CACHED.latest

    @staticmethod
    def forget_current() -> None:
        """Have the next `current` of this process read the row."""
        _CACHED.forget()


_CURRENT = CompiledQuery(lambda: DispatchRules.objects.order_by()[:1])


def _read() -> Rules:
    row = _CURRENT.first()
    return row.rules if row else Rules()


_CACHED = Cached(_read, seconds=CACHED_SECONDS)


DispatchRulesChange: Any = history_of(
    DispatchRules,
    "DispatchRulesChange",
    verbose_name=_("change of the rules of dispatch"),
    verbose_name_plural=_("changes of the rules of dispatch"),
)
