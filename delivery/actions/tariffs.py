"""The general tariffs that a new installation begins with. They are examples: the operator sets others in the admin."""

from decimal import Decimal
from typing import Any

import pghistory

from delivery.models import Tariff, VehicleType

_DEFAULTS: dict[VehicleType, dict[str, Any]] = {
    VehicleType.MOTORCYCLE: {
        "base_fare": Decimal("7.90"),
        "included_km": Decimal(2),
        "price_per_km": Decimal("1.80"),
        "price_per_extra_dropoff": Decimal("4.00"),
        "minimum_fare": Decimal("9.90"),
        "return_share": Decimal("0.5"),
        "maximum_km": Decimal(60),
        "maximum_kg": Decimal(20),
        "maximum_side_cm": Decimal(60),
        "maximum_litres": Decimal(120),
    },
    VehicleType.CAR: {
        "base_fare": Decimal("14.90"),
        "included_km": Decimal(2),
        "price_per_km": Decimal("2.60"),
        "price_per_extra_dropoff": Decimal("6.00"),
        "minimum_fare": Decimal("18.90"),
        "return_share": Decimal("0.5"),
        "maximum_km": Decimal(100),
        "maximum_kg": Decimal(200),
        "maximum_side_cm": Decimal(150),
        "maximum_litres": Decimal(800),
    },
}


def create_defaults(*, by: str) -> list[Tariff]:
    """Create the general tariff of each vehicle type that has none, active or not. Returns the new ones."""
    priced = set(Tariff.objects.filter(integrator=None).values_list("vehicle_type", flat=True))
    with pghistory.context(by=by):
        return [
            Tariff.objects.create(vehicle_type=vehicle_type, **terms)
            for vehicle_type, terms in _DEFAULTS.items()
            if vehicle_type not in priced
        ]
