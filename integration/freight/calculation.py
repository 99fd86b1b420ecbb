"""Price and deadline of a shipment. Pure, and in integers only: centavos, grams, centimetres, business days."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any

from common.brazil import states
from common.brazil.states import Kind, Region
from integration.errors import NoCoverage, TooHeavy


class Service(StrEnum):
    """Speed of a shipment. Each has rates of its own."""

    ECONOMY = "economy"
    EXPRESS = "express"


# The name by which an order takes each of them. An order can also be sent by `turbo`, which has no rates.
ORDER_SERVICES = {Service.ECONOMY: "base", Service.EXPRESS: "next"}


class Zone(StrEnum):
    """Distance class of a pair of regions. Each has rates of its own."""

    LOCAL = "local"  # within one state capital
    STATE = "state"  # within one state
    REGIONAL = "regional"  # between states: regional, near, mid and far as `data/zones.csv` says
    NEAR = "near"
    MID = "mid"
    FAR = "far"
    REMOTE = "remote"  # from or to one of `Parameters.remote_states`, from another state


@dataclass(frozen=True)
class Parameters:
    """Figures that hold for all rates, with their defaults.

    The end of a name is the unit: `_g` grams, `_bp` hundredths of a percent, `_centavos` BRL / 100, `_days` business
    days.
    """

    default_weight_g: int = 1000
    max_weight_g: int = 30_000
    weight_rounding_g: int = 1000
    cubic_divisor_cm3_per_kg: int = 6000
    cubic_threshold_g: int = 5000
    ad_valorem_bp: int = 100
    ad_valorem_free_centavos: int = 5000
    gris_bp: int = 0
    minimum_charge_centavos: int = 2290
    handling_days: int = 0
    remote_states: frozenset[str] = frozenset({"AC", "AP", "AM", "RR"})
    quote_service: Service = Service.ECONOMY


@dataclass(frozen=True)
class Rate:
    """One row of the tariff: price of the first weight step, price of each further step, deadline."""

    base_centavos: int
    extra_kg_centavos: int
    deadline_days: int


@dataclass(frozen=True)
class Package:
    """What is sent. None: not stated. The cubed weight needs all three sides."""

    weight_g: int | None = None
    width_cm: int | None = None
    height_cm: int | None = None
    length_cm: int | None = None
    declared_centavos: int = 0


@dataclass(frozen=True)
class Price:
    """`amount` in centavos, `deadline` in business days."""

    amount: int
    deadline: int

    @property
    def reais(self) -> Decimal:
        return Decimal(self.amount) / 100


@dataclass(frozen=True)
class Charges:
    """How a price comes about: the weights in grams, the parts of the amount in centavos, the deadline's in days."""

    real_g: int  # the assumed weight, if none was stated
    cubed_g: int
    charged_g: int  # rounded up to whole steps
    base: int
    further_steps: int  # for all steps beyond the first
    minimum: int  # what is missing from the freight to the minimum charge
    ad_valorem: int
    gris: int
    rate_days: int
    handling_days: int

    @property
    def price(self) -> Price:
        amount = self.base + self.further_steps + self.minimum + self.ad_valorem + self.gris
        return Price(amount=amount, deadline=self.rate_days + self.handling_days)


STATES = frozenset(states.STATES)
_ZONES = {
    (row["origin_macro_region"], row["dest_macro_region"]): Zone(row["zone_if_different_uf"])
    for row in states.rows(Path(__file__).parent / "data" / "zones.csv")
}
_BASIS_POINTS = 10_000
_KILOGRAM = 1000


def zone(origin: Region, destination: Region, *, remote_states: frozenset[str]) -> Zone:
    """Zone of a shipment. Between different states, one of `remote_states` at either end makes it REMOTE."""
    if origin.state == destination.state:
        return Zone.LOCAL if origin.kind is destination.kind is Kind.CAPITAL else Zone.STATE
    if remote_states & {origin.state, destination.state}:
        return Zone.REMOTE
    return _ZONES[states.STATES[origin.state].macro_region, states.STATES[destination.state].macro_region]


def charges(package: Package, rate: Rate | None, parameters: Parameters) -> Charges:
    """The parts of the price of `package` at `rate`.

    The minimum charge applies to the freight before insurance (ad valorem) and risk management (GRIS) are added.

    Raises NoCoverage if `rate` is None, TooHeavy over the maximum weight.
    """
    if rate is None:
        raise NoCoverage("Região sem cobertura: não há tarifa para este trecho")
    real, cubed, steps = _weights(package, parameters)
    further = (steps - 1) * rate.extra_kg_centavos
    insured = max(package.declared_centavos - parameters.ad_valorem_free_centavos, 0)
    return Charges(
        real_g=real,
        cubed_g=cubed,
        charged_g=steps * parameters.weight_rounding_g,
        base=rate.base_centavos,
        further_steps=further,
        minimum=max(parameters.minimum_charge_centavos - rate.base_centavos - further, 0),
        ad_valorem=_divide_up(insured * parameters.ad_valorem_bp, _BASIS_POINTS),
        gris=_divide_up(package.declared_centavos * parameters.gris_bp, _BASIS_POINTS),
        rate_days=rate.deadline_days,
        handling_days=parameters.handling_days,
    )


def package_of(items: Iterable[Mapping[str, Any]], *, declared: Decimal, volumes: int) -> Package:
    """One of the equal volumes that the freight of an order is for.

    It has the sides of the largest item, and its part of the weight of all and of the value in reais. Each item has
    `dimensions`, three sides in centimetres and a weight in kilograms such as `10x20x30,1.5`, and a `quantity`.
    """
    boxes, weight = [], Decimal(0)
    for item in items:
        sides, _comma, kilograms = item["dimensions"].partition(",")
        boxes.append([int(side) for side in sides.split("x")])
        weight += Decimal(kilograms) * item["quantity"]
    width, height, length = max(boxes, key=math.prod)
    return Package(
        weight_g=math.ceil(weight * _KILOGRAM / volumes),
        width_cm=width,
        height_cm=height,
        length_cm=length,
        declared_centavos=math.ceil(declared * 100 / volumes),
    )


def _weights(package: Package, parameters: Parameters) -> tuple[int, int, int]:
    """Real and cubed weight, and the weight steps to charge, at least one.

    They are those of the real weight, or of the cubed one if that is larger and over the threshold.
    """
    weight = parameters.default_weight_g if package.weight_g is None else package.weight_g
    if weight > parameters.max_weight_g:
        limit, sent = parameters.max_weight_g / _KILOGRAM, weight / _KILOGRAM
        raise TooHeavy(f"Peso acima do limite de {limit:g} kg: foram informados {sent:.15g} kg")
    cubed = _cubed_weight(package, parameters)
    charged = max(weight, cubed) if cubed > parameters.cubic_threshold_g else weight
    return weight, cubed, max(_divide_up(charged, parameters.weight_rounding_g), 1)


def _cubed_weight(package: Package, parameters: Parameters) -> int:
    """Grams that the volume counts as, 0 unless all three sides are stated."""
    if package.width_cm is None or package.height_cm is None or package.length_cm is None:
        return 0
    volume = package.width_cm * package.height_cm * package.length_cm
    return _divide_up(volume * _KILOGRAM, parameters.cubic_divisor_cm3_per_kg)


def _divide_up(number: int, divisor: int) -> int:
    """Integer division, rounded up."""
    return -(-number // divisor)
