"""Four endpoints of area A: a quote, a request, the query of a delivery and its driver's location."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise
from math import asin, cos, radians, sin, sqrt
from uuid import UUID, uuid4

import asyncpg
import msgspec
from area_a_bodies import (
    AccurateCoordinates,
    Address,
    Coordinates,
    DeliveryIn,
    DeliveryOut,
    DriverOut,
    InfoOut,
    LocatedDriver,
    LocatedOrder,
    LocationOut,
    OrderOut,
    OrderWithPoint,
    Place,
    PointOut,
    QuoteOut,
    RouteOut,
    TrackingOut,
)
from database import caller, digest
from errors import answer, encode, in_area_a
from starlette.requests import Request
from starlette.responses import Response

_LABELS = "BCD"
_CLOSED = ("FINISHED", "CANCELLED", "EXPIRED")
_STALE_AFTER = timedelta(seconds=120)
_OFFER = timedelta(hours=1)
_CENT = Decimal("0.01")
_EARTH_RADIUS_KM = 6371.0088
_ROAD_FACTOR = 1.3
_POINTS_OUT = [PointOut("A", "pickup"), *(PointOut(label, "dropoff") for label in _LABELS)]
_NO_DRIVER = DriverOut("", "", Coordinates(None, None))

_CREDENTIAL = """
SELECT token.id, token.account_id, account.is_suspended
FROM token JOIN account ON account.id = token.account_id
WHERE token.digest = $1 AND token.revoked_at IS NULL AND (token.expires_at IS NULL OR token.expires_at > now())
"""
_TARIFF = """
SELECT tariff.*, ARRAY(
    SELECT ARRAY[latitude, longitude, radius_m] FROM pickup_point WHERE account_id = $1
) AS pickup_points
FROM tariff WHERE vehicle_type = $2 AND active AND (account_id = $1 OR account_id IS NULL)
ORDER BY account_id NULLS LAST LIMIT 1
"""
_CREATE = """
WITH created AS (
    INSERT INTO delivery (id, route_id, account_id, token_id, status, route_status, vehicle_type, contact_name,
        contact_phone, address, packages, shipping_value, distance_km, offer_expires_at)
    VALUES ($1, $2, $3, $4, 'PENDING', 'AVAILABLE', $5, $6, $7, $8, $9, $10, $11, now() + $12)
), stops AS (
    INSERT INTO stop (delivery_id, index, external_id, contact_name, contact_phone, address, status)
    SELECT $1, ordinality - 1, external_id, name, phone, address, 'PENDING'
    FROM unnest($13::text[], $14::text[], $15::text[], $16::jsonb[])
        WITH ORDINALITY AS sent (external_id, name, phone, address)
), transition AS (
    INSERT INTO transition (delivery_id, trigger, status, by) VALUES ($1, 'request', 'PENDING', $4::uuid::text)
), event AS (
    INSERT INTO event (id, delivery_id, name, body) VALUES ($17, $1, 'PENDING', $18)
)
INSERT INTO queue_item (event_id) VALUES ($17)
"""
# One row for each stop.
_FIND = """
SELECT delivery.shipping_value, delivery.status, delivery.route_status, driver.name, driver.phone,
    latest.latitude, latest.longitude, latest.accuracy_m, latest.recorded_at,
    stop.external_id, stop.status AS stop_status, stop.address
FROM delivery JOIN stop ON stop.delivery_id = delivery.id LEFT JOIN driver ON driver.id = delivery.driver_id
LEFT JOIN LATERAL (
    SELECT * FROM position WHERE position.driver_id = delivery.driver_id ORDER BY recorded_at DESC LIMIT 1
) latest ON true
WHERE delivery.id = $1 AND delivery.account_id = $2
ORDER BY stop.index
"""

_decode = msgspec.json.Decoder(DeliveryIn).decode
_decode_address = msgspec.json.Decoder(Address).decode


async def quote(request: Request) -> Response:
    async with request.state.pool.acquire() as connection:
        token = await _authenticate(connection, request)
        body = await _read(request)
        tariff = await _tariff(connection, token, body)
    value, _km = _price(tariff, body)
    return answer(QuoteOut(float(value)))


async def request_delivery(request: Request) -> Response:
    async with request.state.pool.acquire() as connection:
        token = await _authenticate(connection, request)
        body = await _read(request)
        tariff = await _tariff(connection, token, body)
        pickup = body.pickup.address
        if not any(
            1000 * _km_between(Place(latitude, longitude), pickup) <= radius
            for latitude, longitude, radius in tariff["pickup_points"]
        ):
            raise in_area_a(404, "Pickup is not linked")
        value, km = _price(tariff, body)
        delivery_id, route_id = uuid4(), uuid4()
        made = encode(_created(body, str(delivery_id), str(route_id), float(value), float(km)))
        await connection.execute(
            _CREATE,
            delivery_id,
            route_id,
            token["account_id"],
            token["id"],
            body.vehicleType,
            body.pickup.contacts.name,
            body.pickup.contacts.phoneNumber,
            encode(pickup).decode(),
            encode(body.orderPackages).decode(),
            value,
            km,
            _OFFER,
            [dropoff.externalId for dropoff in body.dropoffs],
            [dropoff.contacts.name if dropoff.contacts else "" for dropoff in body.dropoffs],
            [dropoff.contacts.phoneNumber if dropoff.contacts else "" for dropoff in body.dropoffs],
            [encode(dropoff.address).decode() for dropoff in body.dropoffs],
            uuid4(),
            made.decode(),
        )
    return Response(made, 201, media_type="application/json")


async def info(request: Request) -> Response:
    delivery_id, rows = await _find(request)
    row = rows[0]
    driver = DriverOut(row["name"] or "", row["phone"] or "", Coordinates(row["latitude"], row["longitude"]))
    orders = []
    for stop in rows:
        address = _decode_address(stop["address"])
        coordinates = Coordinates(address.latitude, address.longitude)
        orders.append(OrderOut(stop["stop_status"], stop["external_id"], coordinates, address))
    return answer(InfoOut(delivery_id, float(row["shipping_value"]), driver, orders))


async def location(request: Request) -> Response:
    delivery_id, rows = await _find(request)
    row = rows[0]
    at = row["recorded_at"]
    reason = None if at else "NO_POSITION"
    if row["route_status"] in _CLOSED:
        reason = "FINISHED"
    elif row["route_status"] == "AVAILABLE":
        reason = "NOT_ASSIGNED"
    if reason is None:
        age = datetime.now(UTC) - at
        tracking = TrackingOut(True, None, at, max(int(age.total_seconds()), 0), age > _STALE_AFTER)
        coordinates = AccurateCoordinates(row["latitude"], row["longitude"], row["accuracy_m"])
    else:
        tracking = TrackingOut(False, reason, None, None, False)
        coordinates = AccurateCoordinates(None, None, None)
    driver = LocatedDriver(row["name"] or "", coordinates)
    orders = [LocatedOrder(stop["external_id"], stop["stop_status"]) for stop in rows]
    return answer(LocationOut(delivery_id, row["status"], tracking, driver, orders))


async def _authenticate(connection: asyncpg.Connection, request: Request) -> asyncpg.Record:
    token = await caller(connection, _CREDENTIAL, digest(request, "bearer"), {"detail": "Invalid token"})
    if token["is_suspended"]:
        raise in_area_a(401, "Suspended account")
    return token


async def _read(request: Request) -> DeliveryIn:
    try:
        return _decode(await request.body())
    except msgspec.DecodeError as error:
        raise in_area_a(422, str(error)) from error


async def _tariff(connection: asyncpg.Connection, token: asyncpg.Record, body: DeliveryIn) -> asyncpg.Record:
    tariff = await connection.fetchrow(_TARIFF, token["account_id"], body.vehicleType)
    if tariff is None:
        raise in_area_a(400, "No tariff")
    return tariff


def _price(tariff: asyncpg.Record, body: DeliveryIn) -> tuple[Decimal, Decimal]:
    """The price in BRL, and kilometres."""
    points = [body.pickup.address, *(dropoff.address for dropoff in body.dropoffs)]
    straight = sum(_km_between(start, end) for start, end in pairwise(points))
    km = Decimal(straight * _ROAD_FACTOR).quantize(_CENT, ROUND_HALF_UP)
    kg = sum(package.weight * package.quantity for package in body.orderPackages if package.weight)
    if km > tariff["maximum_km"] or kg > tariff["maximum_kg"]:
        raise in_area_a(400, "Too far or too heavy")
    charged = max(km - tariff["included_km"], 0)
    fare = tariff["base_fare"] + charged * tariff["price_per_km"]
    fare += (len(body.dropoffs) - 1) * tariff["price_per_extra_dropoff"]
    return max(fare, tariff["minimum_fare"]).quantize(_CENT, ROUND_HALF_UP), km


def _km_between(start: Address | Place, end: Address | Place) -> float:
    latitudes = radians(start.latitude), radians(end.latitude)
    north, east = latitudes[1] - latitudes[0], radians(end.longitude - start.longitude)
    chord = sin(north / 2) ** 2 + cos(latitudes[0]) * cos(latitudes[1]) * sin(east / 2) ** 2
    return 2 * _EARTH_RADIUS_KM * asin(sqrt(chord))


def _created(body: DeliveryIn, delivery_id: str, route_id: str, value: float, km: float) -> DeliveryOut:
    count = len(body.dropoffs) + 1
    route = RouteOut(
        route_id, "AVAILABLE", count, value, km, body.vehicleType, "WHOLE_ROUTE", True, _POINTS_OUT[:count]
    )
    orders = [
        OrderWithPoint(
            "PENDING",
            dropoff.externalId,
            Coordinates(dropoff.address.latitude, dropoff.address.longitude),
            dropoff.address,
            label,
        )
        for dropoff, label in zip(body.dropoffs, _LABELS, strict=False)
    ]
    return DeliveryOut(delivery_id, value, "PENDING", route, _NO_DRIVER, orders)


async def _find(request: Request) -> tuple[str, Sequence[asyncpg.Record]]:
    delivery_id = request.path_params["delivery_id"]
    async with request.state.pool.acquire() as connection:
        token = await _authenticate(connection, request)
        try:
            rows = await connection.fetch(_FIND, UUID(delivery_id), token["account_id"])
        except ValueError:
            rows = []
    if not rows:
        raise in_area_a(404, "Not found")
    return delivery_id, rows
