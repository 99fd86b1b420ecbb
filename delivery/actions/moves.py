"""A dispatcher's moves by name: what the admin, the command line and the board all offer, in one place."""

import math
from dataclasses import dataclass
from datetime import datetime

from delivery import lifecycle
from delivery.actions import deliveries, drivers
from delivery.distance import Point
from delivery.errors import DriverNotFound, InvalidPosition, MoveRefused, NoDriverAssigned
from delivery.lifecycle import RouteStatus, Trigger
from delivery.models import Delivery, Driver, parse_id

POSITION = "position"
_LONGEST_POINT = 100  # characters
# What a person may do. EXPIRE is the clock's.
NAMES = (*(trigger.value for trigger in Trigger if trigger is not Trigger.EXPIRE), POSITION)


@dataclass(frozen=True)
class Details:
    """What a move may need: a driver's id (accept), a point (deliver, fail), a reason, a "LAT,LNG" (position)."""

    driver: str = ""
    point: str = ""
    reason: str = ""
    position: str = ""


def allowed(delivery: Delivery) -> list[str]:
    """Names of the moves that the delivery's lifecycle allows now."""
    possible: set[str] = {trigger.value for trigger in lifecycle.allowed(RouteStatus(delivery.route_status))}
    if delivery.cancelled_at is not None:
        possible.discard(Trigger.CANCEL)
    if delivery.is_held:
        possible.add(POSITION)
    return [name for name in NAMES if name in possible]


def perform(name: str, *, delivery: Delivery, details: Details, by: str, at: datetime) -> Delivery:
    """Do one move. Raises the DeliveryError that says why it is refused."""
    match name:
        case Trigger.ACCEPT:
            driver = _driver(details.driver) if details.driver else None
            return deliveries.accept(delivery=delivery, driver=driver, by=by, at=at)
        case Trigger.COLLECT:
            return deliveries.collect(delivery=delivery, by=by, at=at)
        case Trigger.DELIVER:
            return deliveries.deliver_point(delivery=delivery, point=details.point, by=by, at=at)
        case Trigger.FAIL:
            return deliveries.fail_point(delivery=delivery, point=details.point, reason=details.reason, by=by, at=at)
        case Trigger.RETURN:
            return deliveries.return_(delivery=delivery, by=by, at=at)
        case Trigger.CANCEL:
            return deliveries.cancel(delivery=delivery, reason=details.reason, by=by, at=at)
        case "position":
            return _position(delivery, details.position, by=by, at=at)
    raise MoveRefused("There is no move '%(name)s'. Possible: %(names)s.", name=name, names=", ".join(NAMES))


def parse_point(text: str) -> Point:
    """A "LAT,LNG" in decimal degrees. Raises InvalidPosition."""
    try:
        latitude, longitude = (float(part) for part in text[:_LONGEST_POINT].split(","))
    except ValueError:
        latitude = longitude = math.nan
    point = Point(latitude, longitude)
    if len(text) > _LONGEST_POINT or not point.is_on_earth:
        raise InvalidPosition(
            "'%(text)s' is not LATITUDE,LONGITUDE in decimal degrees, such as -23.56,-46.65.",
            text=text[:_LONGEST_POINT],
        )
    return point


def _driver(text: str) -> Driver:
    key = parse_id(text)
    driver = Driver.objects.filter(pk=key).first() if key else None
    if driver is None:
        raise DriverNotFound("No driver has the id '%(id)s'.", id=text)
    return driver


def _position(delivery: Delivery, text: str, *, by: str, at: datetime) -> Delivery:
    if delivery.driver is None or not delivery.is_held:
        raise NoDriverAssigned("No driver holds this route, so there is nobody to place.")
    drivers.set_position(driver=delivery.driver, point=parse_point(text), by=by, at=at)
    return delivery
