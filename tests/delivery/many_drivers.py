"""Many drivers at once, for tests of what is read of them."""

from datetime import timedelta

from django.utils import timezone

from delivery.models import Driver, DriverPosition, VehicleType
from tests.factories import BY, PICKUP


def create_many(count):
    """On duty with motorcycles, each 11 m farther north of `PICKUP` than the one before, all seen 10 s ago."""
    made = Driver.objects.bulk_create(
        Driver(name=f"Driver {number:05}", vehicle_type=VehicleType.MOTORCYCLE, on_duty=True) for number in range(count)
    )
    at = timezone.now() - timedelta(seconds=10)
    DriverPosition.objects.bulk_create(
        DriverPosition(
            driver=driver,
            latitude=PICKUP.latitude + number / 10_000,
            longitude=PICKUP.longitude,
            recorded_at=at,
            recorded_by=BY,
        )
        for number, driver in enumerate(made)
    )
    return made
