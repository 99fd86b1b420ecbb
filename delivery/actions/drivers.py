"""Who may take a route, and where drivers are."""

from datetime import datetime

from django.conf import settings

from delivery.distance import Point, metres
from delivery.errors import DriverHasOpenRoute, DriverNotEligible, InvalidPosition, NoEligibleDriver
from delivery.models import Delivery, Driver, DriverPosition, Environment


def eligible(delivery: Delivery, *, at: datetime) -> list[Driver]:
    """The drivers this route is offered to now: free, fitting, and near where a fresh position is known.

    Nearest first; those without a fresh position come last.
    """
    free = Driver.objects.free_for(vehicle_type=delivery.vehicle_type, environment=delivery.environment)
    positions = free.newest_positions()
    ranked: list[tuple[float, Driver]] = []
    for driver in free:
        position = positions.get(driver.pk)
        if position is None or _is_old(position, at=at):
            ranked.append((float("inf"), driver))
        elif not _is_too_far(position, delivery, at=at):
            ranked.append((metres(position.point, delivery.point), driver))
    return [driver for _metres, driver in sorted(ranked, key=lambda entry: entry[0])]


def claim_first_eligible(delivery: Delivery, *, at: datetime) -> Driver:
    """The nearest eligible driver, locked until the transaction ends. Raises NoEligibleDriver.

    A driver whom another acceptance is just taking is passed over instead of waited for. In the sandbox, where no
    real driver may be sent, a simulated one is made when none is free.
    """
    for driver in eligible(delivery, at=at):
        # NO KEY: a position being inserted holds a key-share lock on its driver, who is not taken by that.
        locked = Driver.objects.select_for_update(skip_locked=True, no_key=True).filter(pk=driver.pk).first()
        # Asked again under the lock: the list was read before it.
        if locked is not None and _is_free(locked):
            return locked
    if delivery.environment == Environment.SANDBOX:
        return _simulated(delivery)
    raise NoEligibleDriver(
        "No free driver is on duty with a %(vehicle)s within %(km)s km of A.",
        vehicle=delivery.vehicle_type,
        km=f"{settings.DISPATCH_RADIUS_KM:g}",
    )


def claim(driver: Driver, delivery: Delivery, *, at: datetime) -> Driver:
    """Lock this driver if the route may be theirs. Raises DriverNotEligible or DriverHasOpenRoute with the reason."""
    locked = Driver.objects.select_for_update(no_key=True).get(pk=driver.pk)
    if locked.environment != delivery.environment:
        raise DriverNotEligible(
            "A %(theirs)s driver cannot take a %(environment)s delivery.",
            theirs=locked.environment,
            environment=delivery.environment,
        )
    if not locked.active or not locked.on_duty:
        raise DriverNotEligible("%(driver)s is not on duty.", driver=locked.name)
    if locked.vehicle_type != delivery.vehicle_type:
        raise DriverNotEligible(
            "The route needs a %(needed)s; %(driver)s has a %(vehicle)s.",
            needed=delivery.vehicle_type,
            driver=locked.name,
            vehicle=locked.vehicle_type,
        )
    if not _is_free(locked):
        raise DriverHasOpenRoute("%(driver)s holds another open route and must finish it first.", driver=locked.name)
    position = locked.latest_position()
    if position is not None and _is_too_far(position, delivery, at=at):
        raise DriverNotEligible(
            "%(driver)s is farther than %(km)s km from A.", driver=locked.name, km=f"{settings.DISPATCH_RADIUS_KM:g}"
        )
    return locked


def set_position(
    *, driver: Driver, point: Point, by: str, at: datetime, accuracy_m: float | None = None
) -> DriverPosition:
    """Record where a driver is. Raises InvalidPosition for coordinates that are not on Earth."""
    if not point.is_on_earth:
        raise InvalidPosition("Latitude runs from -90 to 90, longitude from -180 to 180, in decimal degrees.")
    return DriverPosition.objects.create(
        driver=driver,
        latitude=point.latitude,
        longitude=point.longitude,
        accuracy_m=accuracy_m,
        recorded_at=at,
        recorded_by=by,
    )


def _is_free(driver: Driver) -> bool:
    free = Driver.objects.free_for(vehicle_type=driver.vehicle_type, environment=driver.environment)
    return free.filter(pk=driver.pk).exists()


def _is_old(position: DriverPosition, *, at: datetime) -> bool:
    return at - position.recorded_at > settings.POSITION_FRESH


def _is_too_far(position: DriverPosition, delivery: Delivery, *, at: datetime) -> bool:
    """Only a fresh position says that a driver is far away."""
    far = metres(position.point, delivery.point) > settings.DISPATCH_RADIUS_KM * 1000
    return far and not _is_old(position, at=at)


def _simulated(delivery: Delivery) -> Driver:
    return Driver.objects.create(
        name="Simulated driver",
        phone="+55 11 90000-0000",
        vehicle_type=delivery.vehicle_type,
        environment=Environment.SANDBOX,
        on_duty=True,
    )
