"""Price and deadline of a shipment. Pure and integer-only: centavos, grams, centimetres, business days."""

from dataclasses import dataclass
from enum import StrEnum

from integration.errors import NoCoverage, TooHeavy
from integration.postcodes import Kind, Region, rows


class Service(StrEnum):
    """Which rows of the tariff. The quote names none; the parameter `quote_service` does."""

    ECONOMY = "economy"
    EXPRESS = "express"


class Zone(StrEnum):
    """How far apart two regions are, for the tariff."""

    LOCAL = "local"  # within one capital
    STATE = "state"
    REGIONAL = "regional"
    NEAR = "near"
    MID = "mid"
    FAR = "far"
    REMOTE = "remote"


@dataclass(frozen=True)
class Terms:
    """The tariff's parameters. `_g` grams, `_bp` hundredths of a percent, `_centavos` BRL / 100."""

    default_weight_g: int = 1000
    max_weight_g: int = 30_000
    weight_rounding_g: int = 1000
    cubic_divisor_cm3_per_kg: int = 6000
    cubic_threshold_g: int = 5000
    ad_valorem_bp: int = 100
    ad_valorem_free_centavos: int = 5000
    gris_bp: int = 0
    minimum_charge_centavos: int = 2290
    remote_ufs: frozenset[str] = frozenset({"AC", "AP", "AM", "RR"})
    handling_days: int = 0
    quote_service: Service = Service.ECONOMY


@dataclass(frozen=True)
class Rate:
    """One row of the tariff: price up to the first step of weight, price of each further step, deadline."""

    base_centavos: int
    extra_kg_centavos: int
    deadline_days: int


@dataclass(frozen=True)
class Package:
    """What is sent. None: not said. Without all three sides there is no cubed weight."""

    weight_g: int | None = None
    width_cm: int | None = None
    height_cm: int | None = None
    length_cm: int | None = None
    declared_centavos: int = 0


@dataclass(frozen=True)
class Price:
    """Centavos and business days."""

    amount: int
    deadline: int


_MACRO_REGION = {row["uf"]: row["macro_region"] for row in rows("states.csv")}
STATES = frozenset(_MACRO_REGION)
_ZONES = {
    (row["origin_macro_region"], row["dest_macro_region"]): Zone(row["zone_if_different_uf"])
    for row in rows("zones.csv")
}
_BASIS_POINTS = 10_000
_KILOGRAM = 1000


def zone(origin: Region, destination: Region, *, remote: frozenset[str]) -> Zone:
    """Zone of a way. `remote` names the states that are far from every other one."""
    if origin.state == destination.state:
        return Zone.LOCAL if origin.kind is destination.kind is Kind.CAPITAL else Zone.STATE
    if remote & {origin.state, destination.state}:
        return Zone.REMOTE
    return _ZONES[_MACRO_REGION[origin.state], _MACRO_REGION[destination.state]]


def price(package: Package, rate: Rate | None, terms: Terms) -> Price:
    """Price of `package` by a row of the tariff. Raises NoCoverage without a row, TooHeavy over the largest weight."""
    if rate is None:
        raise NoCoverage("Região sem cobertura: não há tarifa para este trecho")
    steps = _steps(package, terms)
    freight = rate.base_centavos + (steps - 1) * rate.extra_kg_centavos
    insured = max(package.declared_centavos - terms.ad_valorem_free_centavos, 0)
    insurance = _up(insured * terms.ad_valorem_bp, _BASIS_POINTS)
    risk = _up(package.declared_centavos * terms.gris_bp, _BASIS_POINTS)
    amount = max(freight, terms.minimum_charge_centavos) + insurance + risk
    return Price(amount=amount, deadline=rate.deadline_days + terms.handling_days)


def _steps(package: Package, terms: Terms) -> int:
    """Steps of weight to be charged, one at least: the larger of real and cubed weight, rounded up."""
    weight = terms.default_weight_g if package.weight_g is None else package.weight_g
    if weight > terms.max_weight_g:
        raise TooHeavy(f"Peso acima do limite de {terms.max_weight_g / _KILOGRAM:g} kg: sem cobertura")
    cubed = _cubed_weight(package, terms)
    charged = max(weight, cubed) if cubed > terms.cubic_threshold_g else weight
    return max(_up(charged, terms.weight_rounding_g), 1)


def _cubed_weight(package: Package, terms: Terms) -> int:
    if package.width_cm is None or package.height_cm is None or package.length_cm is None:
        return 0
    volume = package.width_cm * package.height_cm * package.length_cm
    return _up(volume * _KILOGRAM, terms.cubic_divisor_cm3_per_kg)


def _up(number: int, divisor: int) -> int:
    """Division of whole numbers, rounded up."""
    return -(-number // divisor)
