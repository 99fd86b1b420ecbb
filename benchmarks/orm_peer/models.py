"""The tables of `benchmarks/api_peer/schema.sql` and `schema.sql` that the calls read and write."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import BigInteger, DateTime, ForeignKey, Numeric, Sequence, String, func
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

TRACKING_NUMBER = Sequence("tracking_number")


class Base(DeclarativeBase):
    type_annotation_map = {
        datetime: DateTime(timezone=True),
        dict[str, Any]: JSONB,
        list[dict[str, Any]]: JSONB,
        list[str]: ARRAY(String),
    }


class Account(Base):
    __tablename__ = "account"
    id: Mapped[int] = mapped_column(primary_key=True)
    is_suspended: Mapped[bool]


class Token(Base):
    __tablename__ = "token"
    id: Mapped[UUID] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id"))
    digest: Mapped[bytes]
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    account: Mapped[Account] = relationship()


class PickupPoint(Base):
    __tablename__ = "pickup_point"
    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id"))
    latitude: Mapped[float]
    longitude: Mapped[float]
    radius_m: Mapped[int]


class Tariff(Base):
    __tablename__ = "tariff"
    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int | None] = mapped_column(ForeignKey("account.id"))
    vehicle_type: Mapped[str]
    active: Mapped[bool]
    base_fare: Mapped[Decimal] = mapped_column(Numeric(8, 2))
    included_km: Mapped[Decimal] = mapped_column(Numeric(6, 2))
    price_per_km: Mapped[Decimal] = mapped_column(Numeric(8, 2))
    price_per_extra_dropoff: Mapped[Decimal] = mapped_column(Numeric(8, 2))
    minimum_fare: Mapped[Decimal] = mapped_column(Numeric(8, 2))
    maximum_km: Mapped[Decimal] = mapped_column(Numeric(6, 2))
    maximum_kg: Mapped[Decimal] = mapped_column(Numeric(8, 3))


class Driver(Base):
    __tablename__ = "driver"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    phone: Mapped[str]


class Position(Base):
    __tablename__ = "position"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    driver_id: Mapped[int] = mapped_column(ForeignKey("driver.id"))
    latitude: Mapped[float]
    longitude: Mapped[float]
    recorded_at: Mapped[datetime]


class Delivery(Base):
    __tablename__ = "delivery"
    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    route_id: Mapped[UUID] = mapped_column(default=uuid4)
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id"))
    token_id: Mapped[UUID] = mapped_column(ForeignKey("token.id"))
    driver_id: Mapped[int | None] = mapped_column(ForeignKey("driver.id"))
    status: Mapped[str]
    route_status: Mapped[str]
    vehicle_type: Mapped[str]
    contact_name: Mapped[str]
    contact_phone: Mapped[str]
    address: Mapped[dict[str, Any]]
    packages: Mapped[list[dict[str, Any]]]
    shipping_value: Mapped[Decimal] = mapped_column(Numeric(10, 2))
    distance_km: Mapped[Decimal] = mapped_column(Numeric(8, 2))
    created_at: Mapped[datetime] = mapped_column(default=lambda: datetime.now(UTC))
    offer_expires_at: Mapped[datetime]
    driver: Mapped[Driver | None] = relationship()
    stops: Mapped[list["Stop"]] = relationship(order_by="Stop.index")
    transitions: Mapped[list["Transition"]] = relationship()
    events: Mapped[list["Event"]] = relationship()


class Stop(Base):
    __tablename__ = "stop"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    delivery_id: Mapped[UUID] = mapped_column(ForeignKey("delivery.id"))
    index: Mapped[int]
    external_id: Mapped[str]
    contact_name: Mapped[str]
    contact_phone: Mapped[str]
    address: Mapped[dict[str, Any]]
    status: Mapped[str]


class Transition(Base):
    __tablename__ = "transition"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    delivery_id: Mapped[UUID] = mapped_column(ForeignKey("delivery.id"))
    trigger: Mapped[str]
    status: Mapped[str]
    by: Mapped[str]


class WebhookEndpoint(Base):
    __tablename__ = "webhook_endpoint"
    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id"))
    number: Mapped[int]
    url: Mapped[str]
    statuses: Mapped[list[str]]

    def state_of(self, status: str) -> str:
        """That of a new event."""
        if not self.url:
            return "unaddressed"
        return "pending" if not self.statuses or status in self.statuses else "filtered"


class Event(Base):
    __tablename__ = "event"
    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid4)
    delivery_id: Mapped[UUID] = mapped_column(ForeignKey("delivery.id"))
    name: Mapped[str]
    endpoint_id: Mapped[int] = mapped_column(ForeignKey("webhook_endpoint.id"))
    state: Mapped[str]
    body: Mapped[str]
    queue_item: Mapped["QueueItem | None"] = relationship()


class QueueItem(Base):
    __tablename__ = "queue_item"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    event_id: Mapped[UUID] = mapped_column(ForeignKey("event.id"))


class Seller(Base):
    __tablename__ = "seller"
    id: Mapped[int] = mapped_column(primary_key=True)
    is_suspended: Mapped[bool]


class ApiKey(Base):
    __tablename__ = "api_key"
    id: Mapped[int] = mapped_column(primary_key=True)
    seller_id: Mapped[int] = mapped_column(ForeignKey("seller.id"))
    digest: Mapped[bytes]
    hint: Mapped[str]
    revoked_at: Mapped[datetime | None]
    seller: Mapped[Seller] = relationship()


class Company(Base):
    __tablename__ = "company"
    id: Mapped[int] = mapped_column(primary_key=True)
    seller_id: Mapped[int] = mapped_column(ForeignKey("seller.id"))
    document: Mapped[str]


class SellerEndpoint(Base):
    __tablename__ = "seller_endpoint"
    id: Mapped[int] = mapped_column(primary_key=True)
    seller_id: Mapped[int] = mapped_column(ForeignKey("seller.id"))
    number: Mapped[int]
    url: Mapped[str]


class Carrier(Base):
    __tablename__ = "carrier"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    active: Mapped[bool]


class CarrierRule(Base):
    __tablename__ = "carrier_rule"
    id: Mapped[int] = mapped_column(primary_key=True)
    carrier_id: Mapped[int] = mapped_column(ForeignKey("carrier.id"))
    state: Mapped[str]
    service: Mapped[str]


class Purchase(Base):
    __tablename__ = "purchase"
    id: Mapped[int] = mapped_column(primary_key=True)
    seller_id: Mapped[int] = mapped_column(ForeignKey("seller.id"))
    company_id: Mapped[int] = mapped_column(ForeignKey("company.id"))
    code: Mapped[str]
    tracking_code: Mapped[str]
    status: Mapped[str]
    service: Mapped[str]
    cost: Mapped[Decimal] = mapped_column(Numeric(16, 4))
    items: Mapped[list[dict[str, Any]]]
    receiver_name: Mapped[str]
    receiver_document: Mapped[str]
    receiver: Mapped[dict[str, Any]]
    invoice_data: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    invoice_key: Mapped[str]
    created_by: Mapped[str]
    carrier_id: Mapped[int | None] = mapped_column(ForeignKey("carrier.id"))
    unrecorded_at: Mapped[datetime | None]


class StatusLog(Base):
    __tablename__ = "status_log"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    order_id: Mapped[int] = mapped_column(ForeignKey("purchase.id"))
    company_id: Mapped[int] = mapped_column(ForeignKey("company.id"))
    status: Mapped[str]
    via_api: Mapped[bool]
    by: Mapped[str]
    updated_at: Mapped[datetime] = mapped_column(server_default=func.now())


class SearchCode(Base):
    __tablename__ = "search_code"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    seller_id: Mapped[int] = mapped_column(ForeignKey("seller.id"))
    order_id: Mapped[int] = mapped_column(ForeignKey("purchase.id"))
    kind: Mapped[str]
    value: Mapped[str]


class Invoice(Base):
    __tablename__ = "invoice"
    id: Mapped[int] = mapped_column(primary_key=True)
    seller_id: Mapped[int] = mapped_column(ForeignKey("seller.id"))
    access_key: Mapped[str]
    number: Mapped[str]
    is_void: Mapped[bool]


class InvoiceReference(Base):
    __tablename__ = "invoice_reference"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    seller_id: Mapped[int] = mapped_column(ForeignKey("seller.id"))
    invoice_id: Mapped[int] = mapped_column(ForeignKey("invoice.id"))
    value: Mapped[str]


class InvoiceLink(Base):
    __tablename__ = "invoice_link"
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    invoice_id: Mapped[int] = mapped_column(ForeignKey("invoice.id"))
    order_id: Mapped[int] = mapped_column(ForeignKey("purchase.id"))
