"""The peer's tables of area A: those that Rota reads and writes in the same calls."""

import uuid
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import ForeignKey, Index, Numeric, String, Text, func
from sqlalchemy.dialects.postgresql import JSONB, TIMESTAMP
from sqlalchemy.ext.asyncio import AsyncAttrs
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship


class Base(AsyncAttrs, DeclarativeBase):
    type_annotation_map = {datetime: TIMESTAMP(timezone=True), dict[str, Any]: JSONB, list[dict[str, Any]]: JSONB}


class Account(Base):
    __tablename__ = "account"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    is_suspended: Mapped[bool] = mapped_column(default=False)
    pickup_points: Mapped[list["PickupPoint"]] = relationship()


class Token(Base):
    __tablename__ = "token"
    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id"))
    account: Mapped[Account] = relationship()
    digest: Mapped[bytes] = mapped_column(unique=True)
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class PickupPoint(Base):
    __tablename__ = "pickup_point"
    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id"), index=True)
    latitude: Mapped[float]
    longitude: Mapped[float]
    radius_m: Mapped[int]


class Tariff(Base):
    __tablename__ = "tariff"
    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int | None] = mapped_column(ForeignKey("account.id"))
    vehicle_type: Mapped[str] = mapped_column(String(10))
    active: Mapped[bool]
    base_fare: Mapped[Decimal] = mapped_column(Numeric(8, 2))
    included_km: Mapped[Decimal] = mapped_column(Numeric(6, 2))
    price_per_km: Mapped[Decimal] = mapped_column(Numeric(8, 2))
    price_per_extra_dropoff: Mapped[Decimal] = mapped_column(Numeric(8, 2))
    minimum_fare: Mapped[Decimal] = mapped_column(Numeric(8, 2))
    return_share: Mapped[Decimal] = mapped_column(Numeric(4, 3))
    maximum_km: Mapped[Decimal] = mapped_column(Numeric(6, 2))
    maximum_kg: Mapped[Decimal] = mapped_column(Numeric(8, 3))


class Driver(Base):
    __tablename__ = "driver"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    phone: Mapped[str]


class Position(Base):
    __tablename__ = "position"
    id: Mapped[int] = mapped_column(primary_key=True)
    driver_id: Mapped[int] = mapped_column(ForeignKey("driver.id"))
    driver: Mapped[Driver] = relationship()
    latitude: Mapped[float]
    longitude: Mapped[float]
    accuracy_m: Mapped[float | None]
    recorded_at: Mapped[datetime] = mapped_column()
    __table_args__ = (Index("latest_position", driver_id, recorded_at.desc()),)


class Delivery(Base):
    __tablename__ = "delivery"
    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    route_id: Mapped[uuid.UUID] = mapped_column(unique=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id"), index=True)
    token_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("token.id"))
    driver_id: Mapped[int | None] = mapped_column(ForeignKey("driver.id"))
    driver: Mapped[Driver | None] = relationship()
    status: Mapped[str] = mapped_column(String(9))
    route_status: Mapped[str] = mapped_column(String(9))
    vehicle_type: Mapped[str] = mapped_column(String(10))
    contact_name: Mapped[str]
    contact_phone: Mapped[str]
    address: Mapped[dict[str, Any]]
    packages: Mapped[list[dict[str, Any]]]
    shipping_value: Mapped[Decimal] = mapped_column(Numeric(10, 2))
    distance_km: Mapped[Decimal] = mapped_column(Numeric(8, 2))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    offer_expires_at: Mapped[datetime]
    stops: Mapped[list["Stop"]] = relationship(order_by="Stop.index")


class Stop(Base):
    __tablename__ = "stop"
    id: Mapped[int] = mapped_column(primary_key=True)
    delivery_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("delivery.id"), index=True)
    index: Mapped[int]
    external_id: Mapped[str]
    contact_name: Mapped[str]
    contact_phone: Mapped[str]
    address: Mapped[dict[str, Any]]
    status: Mapped[str] = mapped_column(String(9))


class Transition(Base):
    __tablename__ = "transition"
    id: Mapped[int] = mapped_column(primary_key=True)
    delivery_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("delivery.id"), index=True)
    trigger: Mapped[str]
    status: Mapped[str] = mapped_column(String(9))
    by: Mapped[str]
    at: Mapped[datetime]


class Event(Base):
    __tablename__ = "event"
    id: Mapped[uuid.UUID] = mapped_column(primary_key=True)
    delivery_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("delivery.id"), index=True)
    name: Mapped[str] = mapped_column(String(9))
    body: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class QueueItem(Base):
    __tablename__ = "queue_item"
    id: Mapped[int] = mapped_column(primary_key=True)
    event_id: Mapped[uuid.UUID] = mapped_column(ForeignKey("event.id"), unique=True)
    due_at: Mapped[datetime] = mapped_column(index=True)
