"""Price of a route, for quotes and requests alike. `Decimal` only: BRL with two places, kilometres, kilograms."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum

from delivery import windows
from delivery.errors import PriceUnavailable

_CENT = Decimal("0.01")


class Charge(StrEnum):
    """What an account owes an amount for. `delivery.words.CHARGES` names them."""

    PRICE = "price"  # of a route that a driver made
    RETRY = "retry"  # second attempts at its stops
    RETURN = "return"  # the way back to A after a failure, where the price does not include it
    CANCEL_ACCEPTED = "cancel_accepted"  # a cancellation between acceptance and pickup
    CANCEL_COLLECTED = "cancel_collected"  # a cancellation after pickup


@dataclass(frozen=True)
class Terms:
    """Figures of a tariff, money in BRL. `return_share` (0..1) is the share of `price_per_km` for the way back."""

    base_fare: Decimal
    included_km: Decimal
    price_per_km: Decimal
    price_per_extra_dropoff: Decimal
    minimum_fare: Decimal
    return_share: Decimal
    maximum_km: Decimal
    maximum_kg: Decimal
    maximum_side_cm: Decimal | None = None  # None: any
    maximum_litres: Decimal | None = None  # None: any


@dataclass(frozen=True)
class Trip:
    """A route to be priced. `outbound_km` is from A to the last drop-off, `return_km` back to A, 0 without a return."""

    outbound_km: Decimal
    return_km: Decimal
    dropoffs: int
    weight_kg: Decimal
    longest_side_cm: Decimal = Decimal(0)
    litres: Decimal = Decimal(0)

    @property
    def total_km(self) -> Decimal:
        return self.outbound_km + self.return_km


@dataclass(frozen=True)
class Quote:
    """A price in BRL, the length of the route with its return, and what its tariff adds in percent of the price.

    `seconds_until`: A, B, C and D are reached, if a driver sets out at the moment of the request.
    """

    value: Decimal
    distance_km: Decimal
    cancel_percent_accepted: Decimal
    cancel_percent_collected: Decimal
    retry_percent: Decimal
    return_percent: Decimal
    seconds_until: tuple[int, ...]

    def moments(self, ready: Sequence[datetime | None], *, at: datetime) -> list[datetime]:
        """When a driver is expected at each place, who sets out at `at`, or as late as the first place is `ready`."""
        return windows.not_before([at + timedelta(seconds=each) for each in self.seconds_until], ready)


@dataclass(frozen=True)
class Fare:
    """How a price comes about. BRL, not rounded, and kilometres."""

    charged_km: Decimal  # of the outbound way, without the included ones
    return_km: Decimal
    base: Decimal
    outbound: Decimal
    way_back: Decimal
    extra_dropoffs: Decimal
    minimum: Decimal  # what is missing to the minimum fare

    @property
    def value(self) -> Decimal:
        """The price, rounded half up to two places."""
        parts = self.base + self.outbound + self.way_back + self.extra_dropoffs + self.minimum
        return parts.quantize(_CENT, ROUND_HALF_UP)


@dataclass(frozen=True)
class Pay:
    """What a driver earns for a route: percent of its price, reais for it, and reais for each of its kilometres."""

    percent: Decimal | None = None
    fixed: Decimal | None = None
    per_km: Decimal | None = None

    def amount(self, *, price: Decimal, km: Decimal) -> Decimal:
        """In reais, rounded half up to two places."""
        share = price * (self.percent or 0) / 100
        return (share + (self.fixed or 0) + (self.per_km or 0) * km).quantize(_CENT, ROUND_HALF_UP)


def percent_of(price: Decimal, percent: Decimal) -> Decimal:
    """A percentage of a price, rounded half up to two places."""
    return (price * percent / 100).quantize(_CENT, ROUND_HALF_UP)


def part(amount: Decimal, *, fee: Decimal, price: Decimal) -> Decimal:
    """The part of `amount` that a cancellation fee is of the price, rounded half up to two places; 0 of no price."""
    return (amount * fee / price).quantize(_CENT, ROUND_HALF_UP) if price else Decimal(0)


def fare(terms: Terms, trip: Trip) -> Fare:
    """The parts of the price of `trip`. The included kilometres apply to the outbound way only.

    Raises PriceUnavailable over one of the tariff's maximums.
    """
    _check_maximums(terms, trip)
    charged_km = max(trip.outbound_km - terms.included_km, Decimal(0))
    outbound = charged_km * terms.price_per_km
    way_back = trip.return_km * terms.return_share * terms.price_per_km
    extra_dropoffs = (trip.dropoffs - 1) * terms.price_per_extra_dropoff
    total = terms.base_fare + outbound + way_back + extra_dropoffs
    return Fare(
        charged_km=charged_km,
        return_km=trip.return_km,
        base=terms.base_fare,
        outbound=outbound,
        way_back=way_back,
        extra_dropoffs=extra_dropoffs,
        minimum=max(terms.minimum_fare - total, Decimal(0)),
    )


def _check_maximums(terms: Terms, trip: Trip) -> None:
    if trip.total_km > terms.maximum_km:
        raise PriceUnavailable(
            "The route is %(km)s km long; this tariff serves up to %(most)s km.",
            km=trip.total_km,
            most=terms.maximum_km,
        )
    if trip.weight_kg > terms.maximum_kg:
        raise PriceUnavailable(
            "The packages weigh %(kg)s kg; this tariff serves up to %(most)s kg.",
            kg=f"{trip.weight_kg:f}",
            most=terms.maximum_kg,
        )
    side, volume = terms.maximum_side_cm, terms.maximum_litres
    if side is not None and trip.longest_side_cm > side:
        raise PriceUnavailable(
            "A package is %(cm)s cm long; this tariff serves up to %(most)s cm.",
            cm=_plain(trip.longest_side_cm),
            most=_plain(side),
        )
    if volume is not None and trip.litres > volume:
        raise PriceUnavailable(
            "The packages take %(litres)s litres; this tariff serves up to %(most)s litres.",
            litres=f"{trip.litres:.1f}",
            most=_plain(volume),
        )


def _plain(number: Decimal) -> str:
    """Without exponent and trailing zeros."""
    return f"{number.normalize():f}"
