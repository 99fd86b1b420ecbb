"""Area A's answers from the rows of a delivery."""

from datetime import UTC, datetime, timedelta

from bodies import (
    AccurateCoordinates,
    Address,
    Coordinates,
    DeliveryOut,
    DriverOut,
    InfoOut,
    LocatedDriver,
    LocatedOrder,
    LocationOut,
    OrderOut,
    OrderWithPoint,
    PointOut,
    RouteOut,
    TrackingOut,
)
from tables import Delivery, Position, Stop

LABELS = "BCD"
CLOSED = ("FINISHED", "CANCELLED", "EXPIRED")
STALE_AFTER = timedelta(seconds=120)


def created(delivery: Delivery) -> DeliveryOut:
    labels = LABELS[: len(delivery.stops)]
    return DeliveryOut(
        deliveryId=delivery.id,
        shippingValue=delivery.shipping_value,
        status=delivery.status,
        route=RouteOut(
            routeId=delivery.route_id,
            status=delivery.route_status,
            pointsCount=len(delivery.stops) + 1,
            fixedValue=delivery.shipping_value,
            totalDistanceKm=delivery.distance_km,
            vehicleType=delivery.vehicle_type,
            acceptMode="WHOLE_ROUTE",
            immutable=True,
            points=[PointOut(label="A", type="pickup"), *(PointOut(label=label, type="dropoff") for label in labels)],
        ),
        driver=_driver(delivery, None),
        orders=[OrderWithPoint(**_order(stop), point=LABELS[stop.index]) for stop in delivery.stops],
    )


def info(delivery: Delivery, position: Position | None) -> InfoOut:
    return InfoOut(
        deliveryId=delivery.id,
        shippingValue=delivery.shipping_value,
        driver=_driver(delivery, position),
        orders=[OrderOut(**_order(stop)) for stop in delivery.stops],
    )


def location(delivery: Delivery, position: Position | None) -> LocationOut:
    reason = None if position else "NO_POSITION"
    if delivery.route_status in CLOSED:
        reason, position = "FINISHED", None
    elif delivery.route_status == "AVAILABLE":
        reason, position = "NOT_ASSIGNED", None
    age = datetime.now(UTC) - position.recorded_at if position else None
    return LocationOut(
        deliveryId=delivery.id,
        status=delivery.status,
        tracking=TrackingOut(
            available=position is not None,
            reason=reason,
            updatedAt=position.recorded_at if position else None,
            ageSeconds=max(int(age.total_seconds()), 0) if age else None,
            stale=age is not None and age > STALE_AFTER,
        ),
        driver=LocatedDriver(
            name=delivery.driver.name if delivery.driver else "",
            coordinates=AccurateCoordinates(
                latitude=position.latitude if position else None,
                longitude=position.longitude if position else None,
                accuracyMeters=position.accuracy_m if position else None,
            ),
        ),
        orders=[LocatedOrder(externalId=stop.external_id, status=stop.status) for stop in delivery.stops],
    )


def _driver(delivery: Delivery, position: Position | None) -> DriverOut:
    return DriverOut(
        name=delivery.driver.name if delivery.driver else "",
        phone=delivery.driver.phone if delivery.driver else "",
        coordinates=Coordinates(
            latitude=position.latitude if position else None,
            longitude=position.longitude if position else None,
        ),
    )


def _order(stop: Stop) -> dict[str, object]:
    return {
        "status": stop.status,
        "externalId": stop.external_id,
        "coordinates": Coordinates(latitude=stop.address["latitude"], longitude=stop.address["longitude"]),
        "address": Address(**stop.address),
    }
