"""Request and answer bodies of area A, in the names that Rota's API has."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

Text = Annotated[str, Meta(max_length=255)]
Latitude = Annotated[float, Meta(ge=-90, le=90)]
Longitude = Annotated[float, Meta(ge=-180, le=180)]
Measure = Annotated[float, Meta(gt=0)]


class Contacts(Struct):
    name: Text
    phoneNumber: Text


class Address(Struct, kw_only=True):
    street: Text = ""
    number: Text = ""
    complement: Text = ""
    district: Text = ""
    city: Text = ""
    state: Text = ""
    zipcode: Annotated[str, Meta(pattern=r"^([0-9]{5}-?[0-9]{3})?\Z")] = ""
    country: Text = ""
    latitude: Latitude
    longitude: Longitude

    def __post_init__(self) -> None:
        self.zipcode = self.zipcode.replace("-", "")


class DropoffAddress(Address, kw_only=True):
    latitude: Latitude | None = None
    longitude: Longitude | None = None


class Place(Struct):
    latitude: Latitude
    longitude: Longitude


class Pickup(Struct):
    contacts: Contacts
    address: Address


class Dropoff(Struct, kw_only=True):
    externalId: Text = ""
    contacts: Contacts | None = None
    address: DropoffAddress
    coordinates: Place | None = None

    def __post_init__(self) -> None:
        if self.coordinates:
            self.address.latitude, self.address.longitude = self.coordinates.latitude, self.coordinates.longitude
        elif self.address.latitude is None or self.address.longitude is None:
            raise ValueError("A drop-off needs coordinates")


class Package(Struct):
    description: Text = ""
    height: Measure | None = None
    width: Measure | None = None
    length: Measure | None = None
    weight: Measure | None = None
    quantity: Annotated[int, Meta(ge=1)] = 1


class DeliveryIn(Struct):
    vehicleType: Literal["MOTORCYCLE", "CAR"]
    pickup: Pickup
    dropoffs: Annotated[list[Dropoff], Meta(min_length=1, max_length=3)]
    orderPackages: Annotated[list[Package], Meta(max_length=100)] = []
    deliveryMode: Literal["DEFAULT"] = "DEFAULT"


class QuoteOut(Struct):
    shippingValue: float


class Coordinates(Struct):
    latitude: float | None
    longitude: float | None


class DriverOut(Struct):
    name: str
    phone: str
    coordinates: Coordinates


class OrderOut(Struct):
    status: str
    externalId: str
    coordinates: Coordinates
    address: Address


class OrderWithPoint(OrderOut):
    point: str


class PointOut(Struct):
    label: str
    type: str


class RouteOut(Struct):
    routeId: str
    status: str
    pointsCount: int
    fixedValue: float
    totalDistanceKm: float
    vehicleType: str
    acceptMode: str
    immutable: bool
    points: list[PointOut]


class DeliveryOut(Struct):
    deliveryId: str
    shippingValue: float
    status: str
    route: RouteOut
    driver: DriverOut
    orders: list[OrderWithPoint]


class InfoOut(Struct):
    deliveryId: str
    shippingValue: float
    driver: DriverOut
    orders: list[OrderOut]


class AccurateCoordinates(Coordinates):
    accuracyMeters: float | None


class TrackingOut(Struct):
    available: bool
    reason: str | None
    updatedAt: datetime | None
    ageSeconds: int | None
    stale: bool


class LocatedDriver(Struct):
    name: str
    coordinates: AccurateCoordinates


class LocatedOrder(Struct):
    externalId: str
    status: str


class LocationOut(Struct):
    deliveryId: str
    status: str
    tracking: TrackingOut
    driver: LocatedDriver
    orders: list[LocatedOrder]
