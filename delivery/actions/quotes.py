"""The price of a delivery, for quotes and requests alike."""

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TypedDict

from django.conf import settings

from delivery import distance, pricing
from delivery.distance import Point
from delivery.errors import PriceUnavailable
from delivery.lifecycle import Mode
from delivery.models import Integrator, Tariff


class Package(TypedDict, total=False):
    """Item of `orderPackages` as it was sent. The specification names no units; weights are taken as kilograms."""

    description: str | None
    height: float | None
    width: float | None
    length: float | None
    weight: float | None
    quantity: int | None


@dataclass(frozen=True)
class Place:
    """A contact at an address. `address` holds the texts of `bodies.ADDRESS_TEXTS` by name."""

    point: Point
    address: dict[str, str]
    contact_name: str = ""
    contact_phone: str = ""
    external_id: str = ""


@dataclass(frozen=True)
class DeliveryRequest:
    """A DeliveryRequest body after validation."""

    vehicle_type: str
    pickup: Place
    dropoffs: list[Place]
    mode: Mode = Mode.DEFAULT
    packages: list[Package] = field(default_factory=list)

    @property
    def weight_kg(self) -> Decimal:
        """Weight of all packages. One without a weight counts as 0 kg, one without a quantity as a single one."""
        return sum(
            (Decimal(str(item.get("weight") or 0)) * (item.get("quantity") or 1) for item in self.packages), Decimal(0)
        )


@dataclass(frozen=True)
class Quote:
    """A price in BRL, the length of the route with its return, and the tariff applied."""

    value: Decimal
    distance_km: Decimal
    tariff: Tariff


def quote(*, integrator: Integrator, payload: DeliveryRequest) -> Quote:
    """Price of a delivery. Raises PriceUnavailable without an active tariff, or over its maximum distance or weight."""
    tariff = Tariff.objects.in_force(vehicle_type=payload.vehicle_type, integrator=integrator)
    if tariff is None:
        raise PriceUnavailable(f"No active tariff for {payload.vehicle_type}.")
    trip = _trip(payload)
    return Quote(value=pricing.price(tariff.terms, trip), distance_km=trip.total_km, tariff=tariff)


def _trip(payload: DeliveryRequest) -> pricing.Trip:
    points = [payload.pickup.point, *(dropoff.point for dropoff in payload.dropoffs)]
    returning = payload.mode is Mode.RETURN
    legs_of = distance.provider(routing_url=settings.ROUTING_URL, road_factor=settings.ROAD_FACTOR)
    legs = legs_of([*points, payload.pickup.point] if returning else points)
    return pricing.Trip(
        outbound_km=sum(legs[: len(payload.dropoffs)], Decimal(0)),
        return_km=sum(legs[len(payload.dropoffs) :], Decimal(0)),
        dropoffs=len(payload.dropoffs),
        weight_kg=payload.weight_kg,
    )
