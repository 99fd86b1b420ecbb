"""Types of the specification's JSON objects of a delivery. `delivery.bodies` builds them.

Money in BRL, distances in kilometres, coordinates in decimal degrees. Source of every key: the specification's
"Resources and their fields".
"""

from typing import NotRequired, TypedDict


class Coordinates(TypedDict):
    latitude: float | None
    longitude: float | None


class AccurateCoordinates(Coordinates):
    accuracyMeters: float | None


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
    latitude: float
    longitude: float


class RoutePoint(TypedDict):
    label: str
    type: str


class Route(TypedDict):
    routeId: str
    status: str
    pointsCount: int
    fixedValue: float
    totalDistanceKm: float
    vehicleType: str
    acceptMode: str
    immutable: bool
    points: list[RoutePoint]


class Driver(TypedDict):
    """Empty texts and null coordinates before assignment."""

    name: str
    phone: str
    coordinates: Coordinates


class Order(TypedDict):
    status: str
    externalId: str
    coordinates: Coordinates
    address: Address


class OrderWithPoint(Order):
    point: str


class Event(TypedDict):
    """Body of a webhook."""

    deliveryId: str
    status: str
    route: Route
    driver: Driver
    orders: list[OrderWithPoint]


class Creation(Event):
    """Answer to request-delivery."""

    shippingValue: float


class Cancellation(TypedDict):
    reason: str
    fee: float
    returnToOrigin: bool


class Info(TypedDict):
    """Answer to info-delivery and cancel-delivery. `cancellation` only after a cancel that followed pickup."""

    deliveryId: str
    shippingValue: float
    driver: Driver
    orders: list[Order]
    cancellation: NotRequired[Cancellation]


class Tracking(TypedDict):
    """`reason` says why there is no position; the other values are null or false then."""

    available: bool
    reason: str | None
    updatedAt: str | None
    ageSeconds: int | None
    stale: bool


class LocatedDriver(TypedDict):
    name: str
    coordinates: AccurateCoordinates


class OrderStatus(TypedDict):
    externalId: str
    status: str


class Location(TypedDict):
    """Answer to location-delivery. Unavailable tracking is a normal answer with its reason."""

    deliveryId: str
    status: str
    tracking: Tracking
    driver: LocatedDriver
    orders: list[OrderStatus]
