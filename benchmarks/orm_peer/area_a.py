"""Three endpoints of area A: a quote, a request, and the query of a delivery."""

from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise
from math import asin, cos, radians, sin, sqrt
from typing import Any, Protocol
from uuid import UUID, uuid4

from database import Session
from fastapi import APIRouter, HTTPException, Response
from models import Delivery, Event, PickupPoint, Position, QueueItem, Stop, Tariff, Transition, WebhookEndpoint
from schemas import (
    Coordinates,
    DeliveryIn,
    DeliveryOut,
    DriverOut,
    InfoOut,
    OrderInfo,
    OrderWithPoint,
    PointOut,
    QuoteOut,
    RouteOut,
)
from security import Caller
from sqlalchemy import or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import joinedload, selectinload

router = APIRouter(prefix="/api")
_LABELS = "BCD"
_OFFER = timedelta(hours=1)
_REPEATED_WITHIN = timedelta(hours=24)
_CENT = Decimal("0.01")
_EARTH_RADIUS_KM = 6371.0088
_ROAD_FACTOR = 1.3


class Located(Protocol):
    latitude: float
    longitude: float


@router.post("/quotation-delivery")
async def quote(body: DeliveryIn, session: Session, caller: Caller) -> QuoteOut:
    value, _km = _price(await _tariff(session, caller.account_id, body), body)
    return QuoteOut(shippingValue=float(value))


@router.post("/request-delivery", status_code=201)
async def request_delivery(body: DeliveryIn, response: Response, session: Session, caller: Caller) -> DeliveryOut:
    tariff = await _tariff(session, caller.account_id, body)
    points = await session.scalars(select(PickupPoint).where(PickupPoint.account_id == caller.account_id))
    place = body.pickup.address
    if not any(1000 * _km_between(each, place) <= each.radius_m for each in points):
        raise HTTPException(404, "Pickup is not linked")
    value, km = _price(tariff, body)
    if repeated := await _repeated(session, caller.account_id, body):
        response.headers["Rota-Warnings"] = ", ".join(repeated)
    delivery = Delivery(
        id=uuid4(),
        route_id=uuid4(),
        account_id=caller.account_id,
        token_id=caller.id,
        status="PENDING",
        route_status="AVAILABLE",
        vehicle_type=body.vehicleType,
        contact_name=body.pickup.contacts.name,
        contact_phone=body.pickup.contacts.phoneNumber,
        address=place.model_dump(),
        packages=[package.model_dump() for package in body.orderPackages],
        shipping_value=value,
        distance_km=km,
        offer_expires_at=datetime.now(UTC) + _OFFER,
        stops=[
            Stop(
                index=index,
                external_id=dropoff.externalId,
                contact_name=dropoff.contacts.name if dropoff.contacts else "",
                contact_phone=dropoff.contacts.phoneNumber if dropoff.contacts else "",
                address=dropoff.address.model_dump(),
                status="PENDING",
            )
            for index, dropoff in enumerate(body.dropoffs)
        ],
        transitions=[Transition(trigger="request", status="PENDING", by=str(caller.id))],
    )
    answer = _created(delivery)
    endpoints = await session.scalars(
        select(WebhookEndpoint).where(WebhookEndpoint.account_id == caller.account_id).order_by(WebhookEndpoint.number)
    )
    told = answer.model_dump_json(exclude={"shippingValue"})
    # The first endpoint has each event, a further one those that are sent to it.
    delivery.events = [
        Event(
            name=delivery.status,
            endpoint_id=endpoint.id,
            state=state,
            body=told,
            queue_item=QueueItem() if state == "pending" else None,
        )
        for endpoint in endpoints
        if (state := endpoint.state_of(delivery.status)) == "pending" or endpoint.number == 1
    ]
    session.add(delivery)
    await session.commit()
    return answer


@router.get("/info-delivery/{delivery_id}")
async def info(delivery_id: UUID, session: Session, caller: Caller) -> InfoOut:
    delivery = await session.scalar(
        select(Delivery)
        .options(joinedload(Delivery.driver), selectinload(Delivery.stops))
        .where(Delivery.id == delivery_id, Delivery.account_id == caller.account_id)
    )
    if delivery is None:
        raise HTTPException(404, "Not found")
    driver = DriverOut()
    if delivery.driver:
        latest = await session.scalar(
            select(Position)
            .where(Position.driver_id == delivery.driver.id)
            .order_by(Position.recorded_at.desc())
            .limit(1)
        )
        coordinates = Coordinates(latitude=latest.latitude, longitude=latest.longitude) if latest else Coordinates()
        driver = DriverOut(name=delivery.driver.name, phone=delivery.driver.phone, coordinates=coordinates)
    return InfoOut(
        deliveryId=str(delivery.id),
        shippingValue=float(delivery.shipping_value),
        driver=driver,
        orders=[OrderInfo(**_order(stop)) for stop in delivery.stops],
    )


def _order(stop: Stop) -> dict[str, Any]:
    coordinates = Coordinates(latitude=stop.address["latitude"], longitude=stop.address["longitude"])
    return {
        "status": stop.status,
        "externalId": stop.external_id,
        "coordinates": coordinates,
        "address": stop.address,
    }


def _created(delivery: Delivery) -> DeliveryOut:
    labels = "A" + _LABELS[: len(delivery.stops)]
    return DeliveryOut(
        deliveryId=str(delivery.id),
        shippingValue=float(delivery.shipping_value),
        status=delivery.status,
        route=RouteOut(
            routeId=str(delivery.route_id),
            status=delivery.route_status,
            pointsCount=len(labels),
            fixedValue=float(delivery.shipping_value),
            totalDistanceKm=float(delivery.distance_km),
            vehicleType=delivery.vehicle_type,
            points=[PointOut(label=label, type="pickup" if label == "A" else "dropoff") for label in labels],
        ),
        driver=DriverOut(),
        orders=[
            OrderWithPoint(**_order(stop), point=label) for stop, label in zip(delivery.stops, _LABELS, strict=False)
        ],
    )


async def _tariff(session: AsyncSession, account_id: int, body: DeliveryIn) -> Tariff:
    found = await session.scalar(
        select(Tariff)
        .where(Tariff.vehicle_type == body.vehicleType, Tariff.active)
        .where(or_(Tariff.account_id == account_id, Tariff.account_id.is_(None)))
        .order_by(Tariff.account_id.nulls_last())
        .limit(1)
    )
    if found is None:
        raise HTTPException(400, "No tariff")
    return found


async def _repeated(session: AsyncSession, account_id: int, body: DeliveryIn) -> list[str]:
    """The externalIds that an order of the account had less than 24 hours ago, unless it has failed."""
    sent = [dropoff.externalId for dropoff in body.dropoffs if dropoff.externalId]
    found = await session.scalars(
        select(Stop.external_id)
        .join(Delivery)
        .where(Stop.external_id.in_(sent), Stop.status != "FAILED")
        .where(Delivery.account_id == account_id, Delivery.created_at > datetime.now(UTC) - _REPEATED_WITHIN)
        .distinct()
    )
    return list(found)


def _price(tariff: Tariff, body: DeliveryIn) -> tuple[Decimal, Decimal]:
    """The price in BRL, and kilometres."""
    points = [body.pickup.address, *(dropoff.address for dropoff in body.dropoffs)]
    straight = sum(_km_between(start, end) for start, end in pairwise(points))
    km = Decimal(straight * _ROAD_FACTOR).quantize(_CENT, ROUND_HALF_UP)
    kg = sum(package.weight * package.quantity for package in body.orderPackages if package.weight)
    if km > tariff.maximum_km or kg > tariff.maximum_kg:
        raise HTTPException(400, "Too far or too heavy")
    fare = tariff.base_fare + max(km - tariff.included_km, Decimal(0)) * tariff.price_per_km
    fare += (len(body.dropoffs) - 1) * tariff.price_per_extra_dropoff
    return max(fare, tariff.minimum_fare).quantize(_CENT, ROUND_HALF_UP), km


def _km_between(start: Located, end: Located) -> float:
    latitudes = radians(start.latitude), radians(end.latitude)
    north, east = latitudes[1] - latitudes[0], radians(end.longitude - start.longitude)
    chord = sin(north / 2) ** 2 + cos(latitudes[0]) * cos(latitudes[1]) * sin(east / 2) ** 2
    return 2 * _EARTH_RADIUS_KM * asin(sqrt(chord))
