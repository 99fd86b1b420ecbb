"""Types of the specification's JSON objects of a delivery. `delivery.bodies` builds them.

Money in BRL, distances in kilometres, coordinates in decimal degrees. Source of every key: the specification's
"Resources and their fields".
"""

from datetime import timedelta
from typing import Annotated, NotRequired, TypedDict

from common.json_types import Brl, Json, Kilometres, Moment, Uuid, one_of
from delivery.lifecycle import RouteStatus, Status

Latitude = Annotated[float, Json("decimal degrees, WGS84")]
Longitude = Annotated[float, Json("decimal degrees, WGS84")]
# A position older than this is stale in answers. Whether a driver is eligible depends on the setting POSITION_FRESH.
STALE_AFTER = timedelta(seconds=120)
DeliveryStatus = Annotated[str, one_of(Status)]
Label = Annotated[str, one_of("BCD", "B, C and D are the drop-offs in the order sent")]


class Coordinates(TypedDict):
    latitude: Latitude | None
    longitude: Longitude | None


class AccurateCoordinates(Coordinates):
    accuracyMeters: Annotated[float, Json("metres")] | None


class Address(TypedDict):
    """Text that was not sent is empty."""

    city: str
    state: str
    street: str
    number: str
    zipcode: str
    district: str
    country: str
    complement: str
    latitude: Latitude
    longitude: Longitude


class RoutePoint(TypedDict):
    label: Annotated[str, one_of("ABCD")]
    type: Annotated[str, one_of(("pickup", "dropoff"))]


class Route(TypedDict):
    routeId: Uuid
    status: Annotated[str, one_of(RouteStatus)]
    pointsCount: Annotated[int, Json("pickup included")]
    fixedValue: Brl
    totalDistanceKm: Kilometres
    vehicleType: Annotated[str, one_of(("MOTORCYCLE", "CAR"))]
    acceptMode: Annotated[str, one_of(("WHOLE_ROUTE",))]
    immutable: bool
    points: list[RoutePoint]


class Driver(TypedDict):
    """Empty texts and null coordinates before assignment."""

    name: str
    phone: str
    coordinates: Coordinates


class Order(TypedDict):
    status: DeliveryStatus
    externalId: str
    coordinates: Coordinates
    address: Address


class OrderWithPoint(Order):
    point: Label


class Event(TypedDict):
    """Body of a webhook."""

    deliveryId: Uuid
    status: DeliveryStatus
    route: Route
    driver: Driver
    orders: list[OrderWithPoint]


class Creation(Event):
    """Answer to request-delivery."""

    shippingValue: Brl


class Cancellation(TypedDict):
    reason: str
    fee: Brl
    returnToOrigin: bool


class Info(TypedDict):
    """Answer to info-delivery and cancel-delivery. `cancellation` only after a cancel that followed pickup."""

    deliveryId: Uuid
    shippingValue: Brl
    driver: Driver
    orders: list[Order]
    cancellation: NotRequired[Cancellation]


class Tracking(TypedDict):
    """`reason` says why there is no position; the other values are null or false then."""

    available: bool
    reason: Annotated[str, one_of(("NOT_ASSIGNED", "NO_POSITION", "FINISHED"))] | None
    updatedAt: Moment | None
    ageSeconds: int | None
    stale: Annotated[bool, Json(f"older than {STALE_AFTER.seconds} seconds")]


class LocatedDriver(TypedDict):
    name: str
    coordinates: AccurateCoordinates


class LocatedOrder(TypedDict):
    externalId: str
    status: DeliveryStatus


class Location(TypedDict):
    """Answer to location-delivery. Unavailable tracking is a normal answer with its reason."""

    deliveryId: Uuid
    status: DeliveryStatus
    tracking: Tracking
    driver: LocatedDriver
    orders: list[LocatedOrder]
