"""The same endpoints of both areas on FastAPI, pydantic, SQLAlchemy and asyncpg, as a user of these would write them.

It does less than Rota: no rate limit, no warnings about unknown keys, no signed quote, no idempotency. Area B is in
`integration_api`.
"""

import hashlib
import uuid
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise
from typing import Annotated

import answers
import integration_api
from bodies import Address, DeliveryIn, DeliveryOut, InfoOut, LocationOut, QuoteOut
from database import Session
from fastapi import Depends, FastAPI, Header, HTTPException
from geographiclib.geodesic import Geodesic
from sqlalchemy import or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import joinedload, selectinload
from tables import Delivery, Event, PickupPoint, Position, QueueItem, Stop, Tariff, Token, Transition

app = FastAPI()
integration_api.add_to(app)


async def authenticate(session: Session, authorization: Annotated[str, Header()] = "") -> Token:
    scheme, _, clear_text = authorization.partition(" ")
    if scheme.lower() != "bearer":
        raise HTTPException(401)
    digest = hashlib.sha256(clear_text.encode()).digest()
    query = select(Token).options(joinedload(Token.account)).where(Token.digest == digest)
    token = (await session.execute(query)).scalar_one_or_none()
    if token is None or token.revoked_at or (token.expires_at and token.expires_at <= datetime.now(UTC)):
        raise HTTPException(401)
    if token.account.is_suspended:
        raise HTTPException(403)
    return token


Caller = Annotated[Token, Depends(authenticate)]


def metres(start: Address | PickupPoint, end: Address | PickupPoint) -> float:
    points = (start.latitude, start.longitude, end.latitude, end.longitude)
    return float(Geodesic.WGS84.Inverse(*points, outmask=Geodesic.DISTANCE)["s12"])


async def price(session: AsyncSession, token: Token, body: DeliveryIn) -> tuple[Decimal, Decimal]:
    """The price in BRL, and kilometres."""
    query = (
        select(Tariff)
        .where(Tariff.vehicle_type == body.vehicleType, Tariff.active)
        .where(or_(Tariff.account_id == token.account_id, Tariff.account_id.is_(None)))
        .order_by(Tariff.account_id.asc().nulls_last())
        .limit(1)
    )
    tariff = (await session.execute(query)).scalar_one_or_none()
    if tariff is None:
        raise HTTPException(400, "No tariff")
    points = [body.pickup.address, *(dropoff.address for dropoff in body.dropoffs)]
    km = sum(
        (
            Decimal(metres(start, end) * 1.3 / 1000).quantize(Decimal("0.01"), ROUND_HALF_UP)
            for start, end in pairwise(points)
        ),
        Decimal(0),
    )
    weight = sum((Decimal(str(package.weight)) * package.quantity for package in body.orderPackages), Decimal(0))
    if km > tariff.maximum_km or weight > tariff.maximum_kg:
        raise HTTPException(400, "Too far or too heavy")
    charged = max(km - tariff.included_km, Decimal(0))
    fare = tariff.base_fare + charged * tariff.price_per_km
    fare += (len(body.dropoffs) - 1) * tariff.price_per_extra_dropoff
    return max(fare, tariff.minimum_fare).quantize(Decimal("0.01"), ROUND_HALF_UP), km


@app.post("/api/quotation-delivery")
async def quote(body: DeliveryIn, token: Caller, session: Session) -> QuoteOut:
    value, _km = await price(session, token, body)
    return QuoteOut(shippingValue=value)


@app.post("/api/request-delivery", status_code=201)
async def request(body: DeliveryIn, token: Caller, session: Session) -> DeliveryOut:
    linked = await session.scalars(select(PickupPoint).where(PickupPoint.account_id == token.account_id))
    if not any(metres(point, body.pickup.address) <= point.radius_m for point in linked):
        raise HTTPException(404, "Pickup is not linked")
    value, km = await price(session, token, body)
    now = datetime.now(UTC)
    delivery = Delivery(
        id=uuid.uuid4(),
        route_id=uuid.uuid4(),
        account_id=token.account_id,
        token_id=token.id,
        driver=None,
        status="PENDING",
        route_status="AVAILABLE",
        vehicle_type=body.vehicleType,
        contact_name=body.pickup.contacts.name,
        contact_phone=body.pickup.contacts.phoneNumber,
        address=body.pickup.address.model_dump(),
        packages=[package.model_dump() for package in body.orderPackages],
        shipping_value=value,
        distance_km=km,
        created_at=now,
        offer_expires_at=now + timedelta(hours=1),
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
    )
    session.add(delivery)
    await session.flush()
    answer = answers.created(delivery)
    event = Event(id=uuid.uuid4(), delivery_id=delivery.id, name="PENDING", body=answer.model_dump_json())
    session.add(Transition(delivery_id=delivery.id, trigger="request", status="PENDING", by=str(token.id), at=now))
    session.add(event)
    await session.flush()
    session.add(QueueItem(event_id=event.id, due_at=now))
    await session.commit()
    return answer


@app.get("/api/info-delivery/{delivery_id}")
async def info(delivery_id: uuid.UUID, token: Caller, session: Session) -> InfoOut:
    delivery = await find(session, token, delivery_id)
    return answers.info(delivery, await latest_position(session, delivery))


@app.get("/api/location-delivery/{delivery_id}")
async def locate(delivery_id: uuid.UUID, token: Caller, session: Session) -> LocationOut:
    delivery = await find(session, token, delivery_id)
    return answers.location(delivery, await latest_position(session, delivery))


async def find(session: AsyncSession, token: Token, delivery_id: uuid.UUID) -> Delivery:
    query = (
        select(Delivery)
        .options(selectinload(Delivery.stops), joinedload(Delivery.driver))
        .where(Delivery.id == delivery_id, Delivery.account_id == token.account_id)
    )
    delivery = (await session.execute(query)).scalar_one_or_none()
    if delivery is None:
        raise HTTPException(404)
    return delivery


async def latest_position(session: AsyncSession, delivery: Delivery) -> Position | None:
    if delivery.driver_id is None:
        return None
    query = select(Position).where(Position.driver_id == delivery.driver_id).order_by(Position.recorded_at.desc())
    return (await session.execute(query.limit(1))).scalar_one_or_none()
