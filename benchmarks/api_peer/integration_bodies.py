"""Request and answer bodies of area B, in the names that Rota's API has."""

from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=255)]
OptionalText = Annotated[str, StringConstraints(strip_whitespace=True, max_length=255)] | None
Postcode = Annotated[str, Field(pattern=r"^[0-9]{8}$")]
Side = Annotated[str, Field(pattern=r"^[0-9]{1,3}$")]
Dimensions = Annotated[str, Field(pattern=r"^[0-9]{1,6}x[0-9]{1,6}x[0-9]{1,6},[0-9]{1,6}(\.[0-9]{1,6})?$")]
Amount = Annotated[Decimal, Field(ge=0, max_digits=16, decimal_places=4)]


class QuoteIn(BaseModel):
    origin: Postcode
    destination: Postcode
    width: Side | None = None
    height: Side | None = None
    length: Side | None = None
    weight: Annotated[Decimal, Field(gt=0, le=10**9)] | None = None
    declared_amount: Annotated[int, Field(ge=0, lt=2**63)] | None = None


class Item(BaseModel):
    description: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]
    dimensions: Dimensions
    quantity: Annotated[int, Field(ge=1, lt=2**63)]
    price: Amount


class ReceiverAddress(BaseModel):
    state: Text
    city: Text
    zipCode: Text
    street: Text
    streetNumber: Text
    neighborhood: Text
    complement: OptionalText = None


class Receiver(BaseModel):
    name: Text
    phone: OptionalText = None
    cellphone: OptionalText = None
    email: OptionalText = None
    document: OptionalText = None
    address: ReceiverAddress


class InvoiceIn(BaseModel):
    series: OptionalText | int = None
    number: OptionalText | int = None
    issueDate: datetime | None = None
    value: Amount | None = None
    key: OptionalText = None


class OrderIn(BaseModel):
    company_document: Text
    orderId: Text
    orderCost: Amount
    trackingCode: OptionalText = None
    service: Literal["base", "next", "turbo"]
    items: Annotated[list[Item], Field(min_length=1, max_length=1000)]
    receiver: Receiver
    invoice: InvoiceIn | None = None


class QuoteData(BaseModel):
    from_: Annotated[str, Field(serialization_alias="from")]
    to: str
    amount: int
    deadline: int


class QuoteOut(BaseModel):
    success: Literal[True] = True
    data: QuoteData


class OrderOut(BaseModel):
    success: Literal[True] = True
    tracking_code: str


class StatusEntry(BaseModel, from_attributes=True):
    order_id: int
    status: str
    company_id: int
    via_api: bool
    created_at: datetime
    updated_at: datetime


class TrackingRecord(BaseModel, from_attributes=True):
    tracking_code: str
    status_log: list[StatusEntry]


class OrdersFound(BaseModel):
    success: Literal[True] = True
    data: list[TrackingRecord]


class NothingFound(BaseModel):
    success: Literal[False] = False
    message: str
