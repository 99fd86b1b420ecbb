"""Request and answer bodies, in the names that Rota's API has."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, field_validator, model_validator

Text = Annotated[str, Field(max_length=255)]
Latitude = Annotated[float, Field(ge=-90, le=90)]
Longitude = Annotated[float, Field(ge=-180, le=180)]
Measure = Annotated[float, Field(gt=0)]
FilledText = Annotated[str, Field(min_length=1, max_length=255)]
Dimensions = Annotated[str, Field(pattern=r"^[0-9]{1,6}x[0-9]{1,6}x[0-9]{1,6},[0-9]{1,6}(\.[0-9]{1,6})?$")]
Amount = Annotated[float, Field(ge=0, lt=10**12)]


class Contacts(BaseModel):
    name: Text
    phoneNumber: Text


class Place(BaseModel):
    latitude: Latitude
    longitude: Longitude


class _Address(BaseModel):
    street: Text = ""
    number: Text = ""
    complement: Text = ""
    district: Text = ""
    city: Text = ""
    state: Text = ""
    zipcode: Annotated[str, Field(pattern=r"^([0-9]{5}-?[0-9]{3})?$")] = ""
    country: Text = ""

    @field_validator("zipcode")
    @classmethod
    def without_hyphen(cls, value: str) -> str:
        return value.replace("-", "")


class Address(_Address):
    latitude: Latitude
    longitude: Longitude


class DropoffAddress(_Address):
    latitude: Latitude | None = None
    longitude: Longitude | None = None


class Pickup(BaseModel):
    contacts: Contacts
    address: Address


class Dropoff(BaseModel):
    externalId: Text = ""
    contacts: Contacts | None = None
    address: DropoffAddress
    coordinates: Place | None = None

    @model_validator(mode="after")
    def has_a_place(self) -> Self:
        if self.coordinates:
            self.address.latitude, self.address.longitude = self.coordinates.latitude, self.coordinates.longitude
        elif self.address.latitude is None or self.address.longitude is None:
            raise ValueError("A drop-off needs coordinates")
        return self


class Package(BaseModel):
    description: Text = ""
    height: Measure | None = None
    width: Measure | None = None
    length: Measure | None = None
    weight: Measure | None = None
    quantity: Annotated[int, Field(ge=1)] = 1


class DeliveryIn(BaseModel):
    vehicleType: Literal["MOTORCYCLE", "CAR"]
    pickup: Pickup
    dropoffs: Annotated[list[Dropoff], Field(min_length=1, max_length=3)]
    orderPackages: Annotated[list[Package], Field(max_length=100)] = []
    deliveryMode: Literal["DEFAULT"] = "DEFAULT"


class QuoteOut(BaseModel):
    shippingValue: float


class Coordinates(BaseModel):
    latitude: float | None = None
    longitude: float | None = None


class DriverOut(BaseModel):
    name: str = ""
    phone: str = ""
    coordinates: Coordinates = Coordinates()


class AddressOut(BaseModel):
    street: str
    number: str
    complement: str
    district: str
    city: str
    state: str
    zipcode: str
    country: str
    latitude: float
    longitude: float


class OrderInfo(BaseModel):
    status: str
    externalId: str
    coordinates: Coordinates
    address: AddressOut


class OrderWithPoint(OrderInfo):
    point: str


class InfoOut(BaseModel):
    deliveryId: str
    shippingValue: float
    driver: DriverOut
    orders: list[OrderInfo]


class PointOut(BaseModel):
    label: str
    type: str


class RouteOut(BaseModel):
    routeId: str
    status: str
    pointsCount: int
    fixedValue: float
    totalDistanceKm: float
    vehicleType: str
    acceptMode: str = "WHOLE_ROUTE"
    immutable: bool = True
    points: list[PointOut]


class DeliveryOut(BaseModel):
    deliveryId: str
    shippingValue: float
    status: str
    route: RouteOut
    driver: DriverOut
    orders: list[OrderWithPoint]


class Item(BaseModel):
    description: Annotated[str, Field(min_length=1, max_length=1000)]
    dimensions: Dimensions
    quantity: Annotated[int, Field(ge=1)]
    price: Amount


class ReceiverAddress(BaseModel):
    state: FilledText
    city: FilledText
    zipCode: FilledText
    street: FilledText
    streetNumber: FilledText
    neighborhood: FilledText
    complement: Text | None = None


class Receiver(BaseModel):
    name: FilledText
    phone: Text | None = None
    cellphone: Text | None = None
    email: Text | None = None
    document: Text | None = None
    address: ReceiverAddress


class InvoiceIn(BaseModel):
    series: Text | int | None = None
    number: Text | int | None = None
    issueDate: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$")] | None = None
    value: Amount | None = None
    key: Text | None = None


class OrderIn(BaseModel):
    company_document: FilledText
    orderId: FilledText
    orderCost: Amount
    trackingCode: Text | None = None
    service: Literal["base", "next", "turbo"]
    items: Annotated[list[Item], Field(min_length=1, max_length=1000)]
    receiver: Receiver
    invoice: InvoiceIn | None = None


class OrderOut(BaseModel):
    success: bool = True
    tracking_code: str
    warnings: list[str] | None = None
