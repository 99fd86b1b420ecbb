"""What a phone shows, as JSON: duty, offers, the route and what can be done next."""

from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from uuid import UUID

from delivery import bodies, lifecycle
from delivery.bodies import moment, moment_or_none
from delivery.lifecycle import RouteStatus
from delivery.models import Delivery, DispatchRules, Driver, DriverDevice, LatestPosition, Stop
from delivery.models.driver import REPORTED

_MOST_OFFERS = 20
_CENT = Decimal("0.01")


def state(device: DriverDevice, *, shown: UUID | None = None, at: datetime) -> dict[str, Any]:
    """Everything that the phone shows now. `shown` is the delivery whose route it has shown until now."""
    driver = Driver.objects.select_related("latest").get(pk=device.driver_id)
    held = Delivery.objects.held_by(driver).with_parts().prefetch_related("stops__options").first()
    offers = [] if held or not driver.on_duty else _offers(driver, at)
    seen_at = _old_position(driver, at)
    return {
        "now": moment(at),
        "driver": {
            "id": str(driver.pk),
            "name": driver.name,
            "vehicle": driver.vehicle_type,
            "onDuty": driver.on_duty,
            "reportsHere": (driver.on_duty or held is not None) and device.may_report(at=at),
        },
        "offers": [_offer(delivery, seen_at=seen_at) for delivery in offers],
        "route": _route(held) if held else None,
        "gone": _gone(driver, shown) if shown and (held is None or held.pk != shown) else None,
    }


def _gone(driver: Driver, shown: UUID) -> dict[str, str] | None:
    """Why the driver does not hold the route any more, unless it was finished: it was cancelled, or taken away."""
    status = Delivery.objects.filter(pk=shown, driver=driver).values_list("route_status", flat=True).first()
    if status == RouteStatus.FINISHED:
        return None
    return {"deliveryId": str(shown), "why": "cancelled" if status == RouteStatus.CANCELLED else "taken"}


def _offers(driver: Driver, at: datetime) -> list[Delivery]:
    rules = DispatchRules.current()
    since = at - rules.position_fresh
    offers = Delivery.objects.offered_to(driver, at=at, since=since, radius_m=rules.dispatch_radius_m)
    return list(offers.prefetch_related("stops")[:_MOST_OFFERS])


def _old_position(driver: Driver, at: datetime) -> datetime | None:
    """When the driver was where distances are counted from, if that position is not fresh."""
    latest: LatestPosition | None = getattr(driver, "latest", None)
    if latest is None or latest.recorded_at >= at - DispatchRules.current().position_fresh:
        return None
    return latest.recorded_at


def _offer(delivery: Delivery, *, seen_at: datetime | None) -> dict[str, Any]:
    """Without contacts: they are for the driver who holds the route."""
    metres: float | None = delivery.distance_m  # type: ignore[attr-defined]  # annotated by `offered_to`
    return {
        "deliveryId": str(delivery.pk),
        "expiresAt": moment(delivery.offer_expires_at),
        "distanceKm": float(delivery.distance_km),
        "toPickupKm": None if metres is None else round(metres / 1000, 1),
        "seenAt": moment_or_none(seen_at),
        "share": share(delivery),
        "points": [_place("A", delivery), *(_place(stop.label, stop) for stop in delivery.ordered_stops)],
        "packages": len(delivery.packages),
    }


def _route(delivery: Delivery) -> dict[str, Any]:
    allowed = lifecycle.allowed(RouteStatus(delivery.route_status))
    return {
        "deliveryId": str(delivery.pk),
        "status": delivery.route_status,
        "returnsToA": delivery.mode == lifecycle.Mode.RETURN,
        "cancelled": delivery.cancelled_at is not None,
        "distanceKm": float(delivery.distance_km),
        "share": share(delivery),
        "next": [trigger.value for trigger in REPORTED if trigger in allowed],
        "points": [
            _place("A", delivery) | {"type": "pickup", "contacts": bodies.contacts(delivery), "status": None},
            *(_stop(stop) for stop in delivery.ordered_stops),
        ],
    }


def _stop(stop: Stop) -> dict[str, Any]:
    options = getattr(stop, "options", None)
    return {
        **_place(stop.label, stop),
        "type": "dropoff",
        "contacts": bodies.contacts(stop),
        "externalId": stop.external_id,
        "status": stop.status,
        "instructions": options.instructions if options else "",
        "needsPhoto": bool(options and options.needs_photo),
        "needsPin": bool(options and options.pin_ciphertext),
    }


def _place(label: str, place: Stop | Delivery) -> dict[str, Any]:
    return {
        "label": label,
        "address": bodies.address(place),
        "coordinates": {"latitude": place.latitude, "longitude": place.longitude},
    }


def share(delivery: Delivery) -> float | None:
    """The driver's share of the price, in reais. None where no share is set."""
    percent = DispatchRules.current().driver_share_percent
    if not percent:
        return None
    part = delivery.shipping_value * percent / 100
    return float(part.quantize(_CENT, ROUND_HALF_UP))
