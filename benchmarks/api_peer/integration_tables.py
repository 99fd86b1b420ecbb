"""The peer's tables of area B: those that Rota reads and writes in the same calls."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import ForeignKey, Index, Numeric, Sequence, String, UniqueConstraint
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column, relationship
from tables import Base

tracking_number = Sequence("tracking_number", metadata=Base.metadata)


class Seller(Base):
    __tablename__ = "seller"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    is_suspended: Mapped[bool] = mapped_column(default=False)


class ApiKey(Base):
    __tablename__ = "api_key"
    id: Mapped[int] = mapped_column(primary_key=True)
    seller_id: Mapped[int] = mapped_column(ForeignKey("seller.id"))
    seller: Mapped[Seller] = relationship()
    digest: Mapped[bytes] = mapped_column(unique=True)
    hint: Mapped[str]
    revoked_at: Mapped[datetime | None]


class Company(Base):
    __tablename__ = "company"
    id: Mapped[int] = mapped_column(primary_key=True)
    seller_id: Mapped[int] = mapped_column(ForeignKey("seller.id"))
    document: Mapped[str] = mapped_column(String(14), unique=True)


class FreightRate(Base):
    __tablename__ = "freight_rate"
    id: Mapped[int] = mapped_column(primary_key=True)
    service: Mapped[str] = mapped_column(String(7))
    zone: Mapped[str] = mapped_column(String(8))
    origin_kind: Mapped[str] = mapped_column(String(8))
    destination_kind: Mapped[str] = mapped_column(String(8))
    base_centavos: Mapped[int]
    extra_kg_centavos: Mapped[int]
    deadline_days: Mapped[int]
    __table_args__ = (UniqueConstraint(service, zone, origin_kind, destination_kind),)


class FreightParameters(Base):
    """A table of one row. The defaults are those of Rota's migration."""

    __tablename__ = "freight_parameters"
    id: Mapped[int] = mapped_column(primary_key=True)
    default_weight_g: Mapped[int] = mapped_column(default=1000)
    max_weight_g: Mapped[int] = mapped_column(default=30_000)
    weight_rounding_g: Mapped[int] = mapped_column(default=1000)
    cubic_divisor_cm3_per_kg: Mapped[int] = mapped_column(default=6000)
    cubic_threshold_g: Mapped[int] = mapped_column(default=5000)
    ad_valorem_bp: Mapped[int] = mapped_column(default=100)
    ad_valorem_free_centavos: Mapped[int] = mapped_column(default=5000)
    gris_bp: Mapped[int] = mapped_column(default=0)
    minimum_charge_centavos: Mapped[int] = mapped_column(default=2290)
    handling_days: Mapped[int] = mapped_column(default=0)
    remote_states: Mapped[list[str]] = mapped_column(ARRAY(String(2)), default=["AC", "AM", "AP", "RR"])
    quote_service: Mapped[str] = mapped_column(String(7), default="economy")


class Order(Base):
    __tablename__ = "purchase"  # `order` is a word of SQL
    id: Mapped[int] = mapped_column(primary_key=True)
    seller_id: Mapped[int] = mapped_column(ForeignKey("seller.id"))
    company_id: Mapped[int] = mapped_column(ForeignKey("company.id"))
    code: Mapped[str] = mapped_column(String(255))
    tracking_code: Mapped[str] = mapped_column(String(255))
    status: Mapped[str] = mapped_column(String(16))
    service: Mapped[str] = mapped_column(String(5))
    cost: Mapped[Decimal] = mapped_column(Numeric(16, 4))
    items: Mapped[list[dict[str, Any]]]
    receiver_name: Mapped[str] = mapped_column(String(255))
    receiver_document: Mapped[str] = mapped_column(String(255))
    receiver: Mapped[dict[str, Any]]
    invoice_data: Mapped[dict[str, Any] | None]
    invoice_key: Mapped[str] = mapped_column(String(255))
    created_at: Mapped[datetime]
    created_by: Mapped[str]
    status_log: Mapped[list["StatusLog"]] = relationship(order_by="StatusLog.id")
    __table_args__ = (
        UniqueConstraint(seller_id, code),
        UniqueConstraint(seller_id, tracking_code),
        Index("order_of_receiver", seller_id, receiver_document),
        Index("order_of_invoice_key", seller_id, invoice_key),
    )


class StatusLog(Base):
    __tablename__ = "status_log"
    id: Mapped[int] = mapped_column(primary_key=True)
    order_id: Mapped[int] = mapped_column(ForeignKey("purchase.id"), index=True)
    company_id: Mapped[int] = mapped_column(ForeignKey("company.id"))
    status: Mapped[str] = mapped_column(String(16))
    via_api: Mapped[bool]
    by: Mapped[str]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class SearchCode(Base):
    """One value by which a tracking query finds an order."""

    __tablename__ = "search_code"
    id: Mapped[int] = mapped_column(primary_key=True)
    seller_id: Mapped[int] = mapped_column(ForeignKey("seller.id"))
    order_id: Mapped[int] = mapped_column(ForeignKey("purchase.id"))
    kind: Mapped[str] = mapped_column(String(14))
    value: Mapped[str] = mapped_column(String(255))
    __table_args__ = (
        UniqueConstraint(order_id, kind, value),
        Index("search_code_value", seller_id, value, order_id.desc()),
    )


class Invoice(Base):
    __tablename__ = "invoice"
    id: Mapped[int] = mapped_column(primary_key=True)
    seller_id: Mapped[int] = mapped_column(ForeignKey("seller.id"))
    access_key: Mapped[str] = mapped_column(String(44))
    number: Mapped[str] = mapped_column(String(9))
    __table_args__ = (UniqueConstraint(seller_id, access_key),)


class InvoiceReference(Base):
    """An order that an invoice names, which may be created later."""

    __tablename__ = "invoice_reference"
    id: Mapped[int] = mapped_column(primary_key=True)
    seller_id: Mapped[int] = mapped_column(ForeignKey("seller.id"))
    invoice_id: Mapped[int] = mapped_column(ForeignKey("invoice.id"))
    value: Mapped[str] = mapped_column(String(255))
    __table_args__ = (Index("invoice_reference_value", seller_id, value),)


class InvoiceLink(Base):
    __tablename__ = "invoice_link"
    id: Mapped[int] = mapped_column(primary_key=True)
    invoice_id: Mapped[int] = mapped_column(ForeignKey("invoice.id"))
    order_id: Mapped[int] = mapped_column(ForeignKey("purchase.id"), index=True)
    linked_at: Mapped[datetime]
    __table_args__ = (UniqueConstraint(invoice_id, order_id),)
