"""What a phone shows, as JSON: duty, offers, the route and what can be done next."""

from collections.abc import Iterable, Mapping
from datetime import datetime, tzinfo
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import OuterRef, Subquery, prefetch_related_objects

from common.brazil import phones
from common.postgresql.compiled_queries import CompiledQuery, Parameter
from delivery import bodies, lifecycle
from delivery.bodies import moment, moment_or_none
from delivery.drivers.positions import version
from delivery.lifecycle import FailureCode, OnFailure, RouteStatus, Status, Trigger
from delivery.models import (
    Delivery,
    DispatchRules,
    Driver,
    DriverDevice,
    GoodsInHand,
    LatestPosition,
    Stop,
    StopChange,
    Tariff,
)
from delivery.models.delivery import ON_TIME
from delivery.models.driver import FROM_PHONES

_MOST_OFFERS = 20
# Failures of which the driver takes a photo, where the setting asks for it.
PHOTO_FOR = (FailureCode.CLOSED, FailureCode.ADDRESS_NOT_FOUND)
_SIDES = ("length", "width", "height")


def state(device: DriverDevice, *, shown: UUID | None = None, at: datetime) -> dict[str, Any]:
    """Everything that the phone shows now. `shown` is the delivery whose route it has shown until now."""
    driver: Any = _DRIVER.first(driver=device.driver_id)
    held = _held(driver)
    offers = [] if held or not driver.on_duty else _offers(driver, at)
    seen_at = _old_position(driver, at)
    amounts = Tariff.driver_amounts(offers) if offers else {}
    ended = shown if shown and (held is None or held.pk != shown) else None
    return {
        "now": moment(at),
        "driver": {
            "id": str(driver.pk),
            "name": driver.name,
            "vehicle": driver.vehicle_type,
            "onDuty": driver.on_duty,
            "reportsHere": (driver.on_duty or held is not None) and device.may_send(at=at),
        },
        "zone": str(zone(driver, held)),
        "offers": [_offer(each, amount=amounts[each.pk], seen_at=seen_at) for each in offers],
        "route": _route(held) if held else None,
        "goods": _goods(driver),
        "gone": _gone(driver, ended) if ended else None,
        "finished": _finished(driver, ended) if ended else None,
    }


def _held(driver: Driver) -> Delivery | None:
    """The delivery whose route the driver holds, with its stops and when its places are due."""
    rules = DispatchRules.current()
    held = _HELD.first(driver=driver.pk, late_pickup=rules.late_pickup, late_per_km=rules.late_per_km)
    if held is not None:
        held.ordered_stops = _STOPS.all(delivery=held.pk)
    return held


_DRIVER = CompiledQuery(lambda: Driver.objects.filter(pk=Parameter("driver")).select_related("latest").order_by()[:1])
_HELD = CompiledQuery(
    lambda: (
        Delivery.objects.held_by(Parameter("driver"))
        .with_due_at_places(late_pickup=Parameter("late_pickup"), late_per_km=Parameter("late_per_km"))
        .order_by()[:1]
    )
)
_STOPS: CompiledQuery[Any] = CompiledQuery(
    lambda: (
        Stop.objects.filter(delivery=Parameter("delivery"))
        .select_related("options", "receiver_note")
        .annotate(changed_at=Subquery(StopChange.objects.filter(stop=OuterRef("pk")).order_by("-id").values("at")[:1]))
        .order_by("index")
    )
)


def zone(driver: Driver, held: Delivery | None = None) -> tzinfo:
    """The time zone of the route, else of where the driver was last."""
    return held.zone if held else driver.zone


def _goods(driver: Driver) -> list[dict[str, Any]]:
    """The goods that the driver has to bring back although their routes are not the driver's any more."""
    rows = _GOODS.all(driver=driver.pk)
    prefetch_related_objects([row.delivery for row in rows], "stops")
    return [
        {
            "deliveryId": str(row.delivery_id),
            "shop": row.delivery.integrator.name,
            "orders": row.delivery.order_names(),
            "mode": row.delivery.mode,
            **_place(row.delivery),
        }
        for row in rows
    ]


_GOODS = CompiledQuery(
    lambda: GoodsInHand.objects.of_driver(Parameter("driver")).select_related("delivery__integrator")[:_MOST_OFFERS]
)


def _gone(driver: Driver, shown: UUID) -> dict[str, str] | None:
    """Why the driver does not hold the route any more, unless it was finished: it was cancelled, or taken away."""
    status = Delivery.objects.filter(pk=shown, driver=driver).values_list("route_status", flat=True).first()
    if status == RouteStatus.FINISHED:
        return None
    return {"deliveryId": str(shown), "why": "cancelled" if status == RouteStatus.CANCELLED else "taken"}


def _finished(driver: Driver, shown: UUID) -> dict[str, Any] | None:
    """What the driver has done on the route that was shown until it was finished."""
    found = Delivery.objects.filter(pk=shown, driver=driver, route_status=RouteStatus.FINISHED)
    judged = found.with_due().with_due_at_places().annotate(on_time=ON_TIME)
    delivery = judged.prefetch_related("stops", "transitions").first()
    if delivery is None or delivery.closed_at is None:
        return None
    taken = [each.at for each in delivery.transitions.all() if each.trigger in (Trigger.ACCEPT, Trigger.REASSIGN)]
    collected = _collected(delivery)
    done = [stop.status == Status.DELIVERED or stop.label in collected for stop in delivery.ordered_stops]
    return {
        "deliveryId": str(delivery.pk),
        "share": _shown(delivery.driver_amount),
        "distanceKm": float(delivery.distance_km),
        "mode": delivery.mode,
        "delivered": done.count(True),
        "failed": done.count(False),
        "minutes": round((delivery.closed_at - max(taken)).total_seconds() / 60) if taken else None,
        "onTime": delivery.on_time,  # type: ignore[attr-defined]  # annotated
        "late": [] if delivery.on_time else _late(delivery, delivery.closed_at),  # type: ignore[attr-defined]
    }


def _late(delivery: Delivery, ended_at: datetime) -> list[dict[str, str]]:
    """Which stops the driver was at after their deadlines, and when; of a route without deadlines its end.

    `point` is empty for the end. See `ON_TIME`.
    """
    if delivery.deadline_at is None:
        due_at: datetime = delivery.end_due_at  # type: ignore[attr-defined]  # annotated
        return [{"point": "", "dueAt": moment(due_at), "at": moment(ended_at)}]
    visits: dict[str, datetime] = {}
    for each in delivery.transitions.all():
        visits.setdefault(each.point, each.made_at or each.at)
    return [
        {"point": stop.label, "dueAt": moment(stop.deadline_at), "at": moment(visits[stop.label])}
        for stop in delivery.ordered_stops
        if stop.deadline_at and visits.get(stop.label, stop.deadline_at) > stop.deadline_at
    ]


def _offers(driver: Driver, at: datetime) -> list[Delivery]:
    rules = DispatchRules.current()
    since = at - rules.position_fresh
    offers = Delivery.objects.offered_to(driver, at=at, since=since, radius_m=rules.dispatch_radius_m)
    return list(offers.with_due_at_places().select_related("integrator").prefetch_related("stops")[:_MOST_OFFERS])


def _old_position(driver: Driver, at: datetime) -> datetime | None:
    """When the driver was where distances are counted from, if that position is not fresh."""
    latest: LatestPosition | None = getattr(driver, "latest", None)
    if latest is None or latest.is_fresh(at=at):
        return None
    return latest.recorded_at


def _offer(delivery: Delivery, *, amount: Decimal, seen_at: datetime | None) -> dict[str, Any]:
    """Without contacts: they are for the driver who holds the route. `shop` is the account's name."""
    metres: float | None = delivery.distance_m  # type: ignore[attr-defined]  # annotated by `offered_to`
    due = delivery.due_at_places()
    return {
        "deliveryId": str(delivery.pk),
        "expiresAt": moment(delivery.offer_expires_at),
        "distanceKm": float(delivery.distance_km),
        "toPickupKm": None if metres is None else round(metres / 1000, 1),
        "seenAt": moment_or_none(seen_at),
        "share": _shown(amount),
        "shop": delivery.integrator.name,
        "mode": delivery.mode,
        "points": [_place(place) | {"dueAt": moment_or_none(due.get(place.label))} for place in delivery.places],
        "parcels": _parcels(delivery.packages),
    }


def _parcels(packages: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
    """How many there are, the sides of the largest in centimetres, and what all weigh; None where nothing is known."""
    packages = list(packages)
    if not packages:
        return None
    largest = max(sorted(float(each[name] or 0) for name in _SIDES if name in each)[::-1] for each in packages)
    weights = [float(each["weight"]) * (each.get("quantity") or 1) for each in packages if each.get("weight")]
    return {
        "count": sum(each.get("quantity") or 1 for each in packages),
        "largestCm": [side for side in largest if side],
        "kg": round(sum(weights), 1) if weights else None,
    }


def _route(delivery: Delivery) -> dict[str, Any]:
    collected, due = _collected(delivery), delivery.due_at_places()
    notes = (getattr(stop, "receiver_note", None) for stop in delivery.ordered_stops)
    noted = [note.written_at for note in notes if note]
    allowed = lifecycle.allowed(RouteStatus(delivery.route_status), lifecycle.Mode(delivery.mode))
    return {
        "deliveryId": str(delivery.pk),
        "status": delivery.route_status,
        "version": version(delivery.updated_at, max(noted, default=None)),
        "mode": delivery.mode,
        # This and the types of the points are for a page of the version before, which is still open.
        "returnsToA": delivery.mode == lifecycle.Mode.RETURN,
        "ahead": [stop.label for stop in delivery.stops_ahead],
        "photoFor": [code.value for code in PHOTO_FOR] if settings.FAILURE_PHOTOS else [],
        "cancelled": delivery.cancelled_at is not None,
        "distanceKm": float(delivery.distance_km),
        "share": _shown(delivery.driver_amount),
        "next": [trigger.value for trigger in FROM_PHONES if trigger in allowed],
        "points": [
            point | {"dueAt": moment_or_none(due.get(point["label"]))}
            for point in (
                _place(delivery) | {"type": "pickup", **_contact(delivery), "status": None},
                *(_stop(stop, collected) for stop in delivery.ordered_stops),
            )
        ],
    }


def _collected(delivery: Delivery) -> set[str]:
    """The points at which goods were collected on a route that was cancelled, whose statuses do not tell it."""
    if delivery.mode != lifecycle.Mode.REVERSE or delivery.cancelled_at is None:
        return set()
    return {change.point for change in delivery.transitions.all() if change.trigger in lifecycle.COLLECTIONS}


def _stop(stop: Stop, collected: set[str]) -> dict[str, Any]:
    options = getattr(stop, "options", None)
    note = getattr(stop, "receiver_note", None)
    return {
        **_place(stop),
        "type": "dropoff",
        **_contact(stop),
        "externalId": stop.external_id,
        "status": stop.status,
        "instructions": options.instructions if options else "",
        "receiver": note.text if note else "",
        "onFailure": options.on_failure if options else OnFailure.RETURN.value,
        "wasTried": stop.tried_at is not None,
        "wasCollected": stop.label in collected,
        "changedAt": moment_or_none(stop.changed_at),  # type: ignore[attr-defined]  # annotated by `_STOPS`
        "needsPhoto": bool(options and options.needs_photo),
        "needsPin": bool(options and options.pin_ciphertext),
    }


def _contact(place: Stop | Delivery) -> dict[str, Any]:
    """Who is there, and the number as it is shown, with the addresses that call it and open a chat."""
    return {"contacts": bodies.contacts(place), "phone": phones.read(place.contact_phone)._asdict()}


def _place(place: Stop | Delivery) -> dict[str, Any]:
    return {
        "label": place.label,
        "address": bodies.address(place),
        "coordinates": {"latitude": place.latitude, "longitude": place.longitude},
        "readyAt": moment_or_none(place.window.ready_at),
        "deadlineAt": moment_or_none(place.window.deadline_at),
    }


def _shown(amount: Decimal | None) -> float | None:
    """What the driver earns, in reais. None where drivers see no amounts."""
    return float(amount) if amount else None
