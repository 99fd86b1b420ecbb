"""Request and answer bodies of area B, in the names that Rota's API has."""

from datetime import datetime
from typing import Annotated, Literal

from msgspec import Meta, Struct

Text = Annotated[str, Meta(min_length=1, max_length=255)]
OptionalText = Annotated[str, Meta(max_length=255)] | None
Postcode = Annotated[str, Meta(pattern=r"^[0-9]{8}\Z")]
Side = Annotated[str, Meta(pattern=r"^[0-9]{1,3}\Z")]
Dimensions = Annotated[str, Meta(pattern=r"^[0-9]{1,6}x[0-9]{1,6}x[0-9]{1,6},[0-9]{1,6}(\.[0-9]{1,6})?\Z")]
Amount = Annotated[float, Meta(ge=0, lt=10**12)]


class QuoteIn(Struct):
    origin: Postcode
    destination: Postcode
    width: Side | None = None
    height: Side | None = None
    length: Side | None = None
    weight: Annotated[float, Meta(gt=0, le=10**9)] | None = None
    declared_amount: Annotated[int, Meta(ge=0)] | None = None


class Item(Struct):
    description: Annotated[str, Meta(min_length=1, max_length=1000)]
    dimensions: Dimensions
    quantity: Annotated[int, Meta(ge=1)]
    price: Amount


class ReceiverAddress(Struct, omit_defaults=True):
    state: Text
    city: Text
    zipCode: Text
    street: Text
    streetNumber: Text
    neighborhood: Text
    complement: OptionalText = None


class Receiver(Struct, omit_defaults=True, kw_only=True):
    name: Text
    phone: OptionalText = None
    cellphone: OptionalText = None
    email: OptionalText = None
    document: OptionalText = None
    address: ReceiverAddress


class InvoiceIn(Struct, omit_defaults=True):
    series: OptionalText | int = None
    number: OptionalText | int = None
    issueDate: Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\Z")] | None = None
    value: Amount | None = None
    key: OptionalText = None


class OrderIn(Struct, kw_only=True):
    company_document: Text
    orderId: Text
    orderCost: Amount
    trackingCode: OptionalText = None
    service: Literal["base", "next", "turbo"]
    items: Annotated[list[Item], Meta(min_length=1, max_length=1000)]
    receiver: Receiver
    invoice: InvoiceIn | None = None


class QuoteData(Struct, rename={"origin": "from"}):
    origin: str
    to: str
    amount: int
    deadline: int


class QuoteOut(Struct):
    data: QuoteData
    success: bool = True


class OrderOut(Struct):
    tracking_code: str
    success: bool = True


class StatusEntry(Struct):
    order_id: int
    status: str
    company_id: int
    via_api: bool
    created_at: datetime
    updated_at: datetime


class TrackingRecord(Struct):
    tracking_code: str
    status_log: list[StatusEntry]


class OrdersFound(Struct):
    data: list[TrackingRecord]
    success: bool = True
