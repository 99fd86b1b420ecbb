"""Price of a route. Pure: `Decimal` in and out, BRL with two places, kilometres and kilograms.

Quote and request both come here, so the same payload at the same moment has the same price.
"""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from delivery.errors import PriceUnavailable

_CENT = Decimal("0.01")


@dataclass(frozen=True)
class Terms:
    """A tariff's figures. Money in BRL; `return_share` is the share of the distance price for the way back (0..1)."""

    base_fare: Decimal
    included_km: Decimal
    price_per_km: Decimal
    price_per_extra_dropoff: Decimal
    minimum_fare: Decimal
    return_share: Decimal
    maximum_km: Decimal
    maximum_kg: Decimal


@dataclass(frozen=True)
class Trip:
    """What is priced. `outbound_km` is A to the last drop-off, `return_km` the leg back to A (0 when there is none)."""

    outbound_km: Decimal
    return_km: Decimal
    dropoffs: int
    weight_kg: Decimal

    @property
    def total_km(self) -> Decimal:
        return self.outbound_km + self.return_km


def price(terms: Terms, trip: Trip) -> Decimal:
    """Price of `trip` in BRL, two places. Raises PriceUnavailable over the tariff's distance or weight."""
    if trip.total_km > terms.maximum_km:
        raise PriceUnavailable(f"The route is {trip.total_km} km long; this tariff serves up to {terms.maximum_km} km.")
    if trip.weight_kg > terms.maximum_kg:
        raise PriceUnavailable(
            f"The packages weigh {trip.weight_kg:f} kg; this tariff serves up to {terms.maximum_kg} kg."
        )
    charged_km = max(trip.outbound_km - terms.included_km, Decimal(0)) + trip.return_km * terms.return_share
    fare = terms.base_fare + charged_km * terms.price_per_km + (trip.dropoffs - 1) * terms.price_per_extra_dropoff
    return max(fare, terms.minimum_fare).quantize(_CENT, ROUND_HALF_UP)
