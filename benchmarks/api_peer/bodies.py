"""Request and answer bodies of area A, in the names that Rota's API has."""

import uuid
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field

Text = Annotated[str, Field(max_length=255)]


class Contacts(BaseModel):
    name: Text
    phoneNumber: Text


class Address(BaseModel):
    street: Text = ""
    number: Text = ""
    complement: Text = ""
    district: Text = ""
    city: Text = ""
    state: Text = ""
    zipcode: Text = ""
    country: Text = ""
    latitude: Annotated[float, Field(ge=-90, le=90)]
    longitude: Annotated[float, Field(ge=-180, le=180)]


class Pickup(BaseModel):
    contacts: Contacts
    address: Address


class Dropoff(BaseModel):
    externalId: Text = ""
    contacts: Contacts | None = None
    address: Address


class Package(BaseModel):
    description: Text = ""
    height: Annotated[float, Field(ge=0)] = 0
    width: Annotated[float, Field(ge=0)] = 0
    length: Annotated[float, Field(ge=0)] = 0
    weight: Annotated[float, Field(ge=0)] = 0
    quantity: Annotated[int, Field(ge=1)] = 1


class DeliveryIn(BaseModel):
    vehicleType: Literal["MOTORCYCLE", "CAR"]
    pickup: Pickup
    dropoffs: Annotated[list[Dropoff], Field(min_length=1, max_length=3)]
    orderPackages: Annotated[list[Package], Field(max_length=100)] = []


class QuoteOut(BaseModel):
    shippingValue: float


class Coordinates(BaseModel):
    latitude: float | None
    longitude: float | None


class DriverOut(BaseModel):
    name: str
    phone: str
    coordinates: Coordinates


class OrderOut(BaseModel):
    status: str
    externalId: str
    coordinates: Coordinates
    address: Address


class OrderWithPoint(OrderOut):
    point: str


class PointOut(BaseModel):
    label: str
    type: str


class RouteOut(BaseModel):
    routeId: uuid.UUID
    status: str
    pointsCount: int
    fixedValue: float
    totalDistanceKm: float
    vehicleType: str
    acceptMode: str
    immutable: bool
    points: list[PointOut]


class DeliveryOut(BaseModel):
    deliveryId: uuid.UUID
    shippingValue: float
    status: str
    route: RouteOut
    driver: DriverOut
    orders: list[OrderWithPoint]


class InfoOut(BaseModel):
    deliveryId: uuid.UUID
    shippingValue: float
    driver: DriverOut
    orders: list[OrderOut]


class AccurateCoordinates(Coordinates):
    accuracyMeters: float | None


class TrackingOut(BaseModel):
    available: bool
    reason: str | None
    updatedAt: datetime | None
    ageSeconds: int | None
    stale: bool


class LocatedDriver(BaseModel):
    name: str
    coordinates: AccurateCoordinates


class LocatedOrder(BaseModel):
    externalId: str
    status: str


class LocationOut(BaseModel):
    deliveryId: uuid.UUID
    status: str
    tracking: TrackingOut
    driver: LocatedDriver
    orders: list[LocatedOrder]
