"""The JSON objects of a delivery: their types, and what makes them for answers and webhooks.

Money in BRL, distances in kilometres, coordinates in decimal degrees; all are JSON numbers. Moments are ISO 8601 with
the service's offset, or null as long as they have not come. Source of the keys down to `Location`: the specification's
"Resources and their fields"; the types after it are those of `GET /api/deliveries` and `GET /api/events`.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, NotRequired, TypedDict, cast

from django.conf import settings
from django.utils import timezone
from django.utils.translation import override

from common.api.json_body import Brl, Json, Kilometres, Moment, Uuid, one_of
from common.api.rate_limit import CallLimits
from delivery import lifecycle, models, stop_details, words
from delivery.arrival_times import ArrivalTime
from delivery.lifecycle import FailureCode, Mode, OnFailure, RouteStatus, Status, Trigger
from delivery.models import Delivery, DriverPosition, Integrator, PickupPoint, Stop, WebhookEvent
from delivery.pricing import Charge
from delivery.stop_details import StopDetails

Latitude = Annotated[float, Json("decimal degrees, WGS84")]
Longitude = Annotated[float, Json("decimal degrees, WGS84")]
# A position older than this is stale in answers. Whether a driver is eligible is a rule of dispatch.
STALE_AFTER = timedelta(seconds=120)
DeliveryStatus = Annotated[str, one_of(Status)]
Label = Annotated[str, one_of("BCD", "B, C and D are the drop-offs in the order sent")]


class Coordinates(TypedDict):
    latitude: Latitude | None
    longitude: Longitude | None


class AccurateCoordinates(Coordinates):
    accuracyMeters: Annotated[float, Json("metres")] | None


class AddressTexts(TypedDict):
    city: str
    state: str
    street: str
    number: str
    zipcode: str
    district: str
    country: str
    complement: str


class Address(AddressTexts):
    """Text that was not sent is empty."""

    latitude: Latitude
    longitude: Longitude


class RoutePoint(TypedDict):
    label: Annotated[str, one_of("ABCD")]
    type: Annotated[str, one_of(("pickup", "dropoff"))]


class Route(TypedDict):
    """`status` is SCHEDULED only in the answers of `GET /api/deliveries`; in the others it is AVAILABLE then."""

    routeId: Uuid
    status: Annotated[str, one_of(RouteStatus)]
    pointsCount: Annotated[int, Json("pickup included")]
    fixedValue: Brl
    totalDistanceKm: Kilometres
    vehicleType: Annotated[str, one_of(("MOTORCYCLE", "CAR"))]
    acceptMode: Annotated[str, one_of(("WHOLE_ROUTE",))]
    immutable: bool
    points: list[RoutePoint]


class Driver(TypedDict):
    """Empty texts and null coordinates before assignment."""

    name: str
    phone: str
    coordinates: Coordinates


class Order(TypedDict):
    status: DeliveryStatus
    externalId: str
    coordinates: Coordinates
    address: Address


class OrderWithPoint(Order):
    point: Label


class Event(TypedDict):
    """Body of a webhook."""

    deliveryId: Uuid
    status: DeliveryStatus
    route: Route
    driver: Driver
    orders: list[OrderWithPoint]


class QuoteAnswer(TypedDict):
    """The price of a delivery."""

    shippingValue: Brl


class Creation(Event):
    """Answer to request-delivery."""

    shippingValue: Brl


class Cancellation(TypedDict):
    reason: str
    fee: Brl
    returnToOrigin: bool


class Info(TypedDict):
    """Answer to info-delivery and cancel-delivery. `cancellation` only after a cancel that followed pickup."""

    deliveryId: Uuid
    shippingValue: Brl
    driver: Driver
    orders: list[Order]
    cancellation: NotRequired[Cancellation]


class Tracking(TypedDict):
    """`reason` says why there is no position; the other values are null or false then."""

    available: bool
    reason: Annotated[str, one_of(("NOT_ASSIGNED", "NO_POSITION", "FINISHED"))] | None
    updatedAt: Moment | None
    ageSeconds: int | None
    stale: Annotated[bool, Json(f"older than {STALE_AFTER.seconds} seconds")]


class LocatedDriver(TypedDict):
    name: str
    coordinates: AccurateCoordinates


class LocatedOrder(TypedDict):
    externalId: str
    status: DeliveryStatus


class Location(TypedDict):
    """Answer to location-delivery. Unavailable tracking is a normal answer with its reason."""

    deliveryId: Uuid
    status: DeliveryStatus
    tracking: Tracking
    driver: LocatedDriver
    orders: list[LocatedOrder]


class Contacts(TypedDict):
    """Texts that were not sent are empty."""

    name: str
    phoneNumber: str


class Pickup(TypedDict):
    contacts: Contacts
    address: Address


class OrderSummary(TypedDict):
    point: Label
    externalId: str
    status: DeliveryStatus


class Arrival(TypedDict):
    """When the driver is expected at a stop, and between which moments almost surely."""

    at: Moment
    earliest: Moment
    latest: Moment
    late: Annotated[bool, Json("the time has passed, or the driver has not been heard of for minutes")]
    lastSignalAt: Annotated[Moment, Json("of the driver's latest position or move")]


class Photo(TypedDict):
    """A photo that the driver took. Everybody who has the address can read the JPEG, for an hour."""

    url: str
    takenAt: Moment


class Proof(TypedDict):
    """What was asked for as proof and what was brought. `pin` is null if none was asked for."""

    photoRequired: bool
    pin: str | None
    receivedBy: str | None
    pinConfirmedAt: Moment | None
    photos: list[Photo]
    left: Annotated[bool, Json("at the door, without a person")]


class OrderDetail(OrderWithPoint, TypedDict):
    """`failureCode` and `failureReason` are null unless the driver could not deliver at the point, at the last attempt.

    They stay where a second attempt delivers. An order that a cancellation failed has none. `attempts` counts failures.

    `trackingUrl` is the page for the receiver, null once it no longer works. `arrival` is null unless a driver is on
    the way. `instructions` is empty text if none were sent.
    """

    contacts: Contacts
    instructions: str
    trackingUrl: str | None
    arrival: Arrival | None
    proof: Proof
    failureCode: Annotated[str, one_of(FailureCode)] | None
    failureReason: str | None
    attempts: Annotated[int, Json("failures so far, at most 2")]
    onFailure: Annotated[str, one_of(OnFailure)]
    closedAt: Moment | None


class Fee(TypedDict):
    """What a delivery costs beside its price. `code` is stable, `name` in English."""

    code: Annotated[str, one_of(charge for charge in Charge if charge is not Charge.PRICE)]
    name: str
    amount: Brl


class CancellationDetail(Cancellation):
    """`by` is a kind of actor, see `Transition`."""

    at: Moment
    by: str


class Transition(TypedDict):
    """One change and the statuses after it. `point` and `reason` are null where the change has none.

    `by` is `integrator`, `dispatcher`, `driver` or `system`; people are not named. `madeAt` is null unless the driver
    made it earlier than `at`, when the phone had no signal.
    """

    trigger: str
    point: str | None
    reason: str | None
    status: DeliveryStatus
    routeStatus: Annotated[str, one_of(RouteStatus)]
    by: str
    at: Moment
    madeAt: Moment | None


class EventState(TypedDict):
    """A webhook event of the delivery: whether it was sent, and when it is tried next."""

    id: Uuid
    sequence: int
    status: DeliveryStatus
    state: str
    createdAt: Moment
    sentAt: Moment | None
    attempts: int
    nextAttemptAt: Moment | None


class CarriedEvent(TypedDict):
    """`body` is what the webhook carries, byte for byte. `sequence` counts within the delivery."""

    id: Uuid
    sequence: Annotated[int, Json("1, 2, 3 … within the delivery")]
    createdAt: Moment
    sentAt: Moment | None
    state: Annotated[str, one_of(models.EventState.values)]
    body: Event


class EventPage(TypedDict):
    """`nextCursor` is there also at the end: ask again with it."""

    data: list[CarriedEvent]
    nextCursor: str


class DeliverySummary(TypedDict):
    """An item of the list. `updatedAt`: when it, or what its detail tells, has changed for the last time."""

    deliveryId: Uuid
    status: DeliveryStatus
    shippingValue: Brl
    route: Route
    orders: list[OrderSummary]
    createdAt: Moment
    updatedAt: Moment
    closedAt: Moment | None


class DeliveryPage(TypedDict):
    """`nextCursor` is null on the last page."""

    data: list[DeliverySummary]
    nextCursor: str | None


class DeliveryDetail(TypedDict):
    """Everything about one delivery. `orderPackages` has the entries of the request.

    `scheduledFor` is `pickupReadyAt`, in mode REVERSE the later of it and the first drop-off's `readyAt`; null where
    the goods were ready at the request. While the route is `SCHEDULED` `offerExpiresAt` is an estimate.

    `updatedAt`: the latest change of what is told here, but for `driver`, `arrival`, `events`, and photos that are
    deleted after their time.

    `fees` is what it costs so far beside `shippingValue`, which is not owed for a delivery that was cancelled or
    expired; empty if that is nothing.
    """

    deliveryId: Uuid
    status: DeliveryStatus
    shippingValue: Brl
    deliveryMode: Annotated[str, one_of(Mode)]
    scheduledFor: Moment | None
    route: Route
    driver: Driver
    pickup: Pickup
    orders: list[OrderDetail]
    orderPackages: list[dict[str, Any]]
    createdAt: Moment
    updatedAt: Moment
    offerExpiresAt: Moment
    acceptedAt: Moment | None
    collectedAt: Moment | None
    returnedAt: Moment | None
    cancelledAt: Moment | None
    closedAt: Moment | None
    cancellation: CancellationDetail | None
    fees: list[Fee]
    transitions: list[Transition]
    events: list[EventState]


ADDRESS_TEXTS = tuple(AddressTexts.__annotations__)

# The kind of actor by the first word of `Transition.by`. Everything else is done by the service itself.
_KINDS_OF_ACTORS = {
    "token": "integrator",  # nosec B105  # no password
    "member": "integrator",
    "user": "dispatcher",
    "command": "dispatcher",
    "driver": "driver",
    "sandbox": "driver",
}


_CLOSE_STOP = (Trigger.DELIVER, Trigger.FAIL, Trigger.RECALL)
# RETURN closes only what is open: in mode REVERSE what was collected.
_CLOSE_ALL = (Trigger.CANCEL, Trigger.EXPIRE, Trigger.RETURN)


def _address(texts: Mapping[str, str], *, latitude: float, longitude: float) -> Address:
    sent = {name: texts.get(name, "") for name in ADDRESS_TEXTS}
    return cast("Address", {**sent, "latitude": latitude, "longitude": longitude})


_NIL_ID = "00000000-0000-0000-0000-000000000000"

# Body of a test webhook, with every key of a real one. No delivery has the nil UUID.
TEST_EVENT: Event = {
    "deliveryId": _NIL_ID,
    "status": "PENDING",
    "route": {
        "routeId": _NIL_ID,
        "status": "AVAILABLE",
        "pointsCount": 2,
        "fixedValue": 0.0,
        "totalDistanceKm": 0.0,
        "vehicleType": "MOTORCYCLE",
        "acceptMode": "WHOLE_ROUTE",
        "immutable": True,
        "points": [{"label": "A", "type": "pickup"}, {"label": "B", "type": "dropoff"}],
    },
    "driver": {"name": "", "phone": "", "coordinates": {"latitude": None, "longitude": None}},
    "orders": [
        {
            "status": "PENDING",
            "externalId": "test",
            "point": "B",
            "coordinates": {"latitude": -23.561414, "longitude": -46.655881},
            "address": _address({}, latitude=-23.561414, longitude=-46.655881),
        }
    ],
}


def creation(delivery: Delivery) -> Creation:
    return {
        "deliveryId": str(delivery.pk),
        "shippingValue": float(delivery.shipping_value),
        **event(delivery),
    }


def event(delivery: Delivery) -> Event:
    return {
        "deliveryId": str(delivery.pk),
        "status": delivery.status,
        "route": route(delivery),
        "driver": driver(delivery),
        "orders": [order(stop) for stop in delivery.ordered_stops],
    }


def info(delivery: Delivery) -> Info:
    body: Info = {
        "deliveryId": str(delivery.pk),
        "shippingValue": float(delivery.shipping_value),
        "driver": driver(delivery),
        "orders": [
            {
                "status": stop.status,
                "externalId": stop.external_id,
                "coordinates": _coordinates(stop),
                "address": address(stop),
            }
            for stop in delivery.ordered_stops
        ],
    }
    if delivery.was_cancelled_after_pickup:
        body["cancellation"] = _cancellation(delivery)
    return body


def location(delivery: Delivery, *, at: datetime) -> Location:
    reason, position = _tracking(delivery)
    return {
        "deliveryId": str(delivery.pk),
        "status": delivery.status,
        "tracking": {
            "available": position is not None,
            "reason": reason,
            # One that lies ahead is of a clock that has been put right, and will be corrected.
            "updatedAt": moment(min(position.recorded_at, at)) if position else None,
            "ageSeconds": position.age_seconds(at=at) if position else None,
            "stale": position is not None and at - position.recorded_at > STALE_AFTER,
        },
        "driver": {
            "name": delivery.driver.name if delivery.driver else "",
            "coordinates": {
                **_coordinates(position),
                "accuracyMeters": position.accuracy_m if position else None,
            },
        },
        "orders": [{"externalId": stop.external_id, "status": stop.status} for stop in delivery.ordered_stops],
    }


def _tracking(delivery: Delivery) -> tuple[str | None, DriverPosition | None]:
    """`tracking.reason` of a delivery without a position to show, or None and the position."""
    if delivery.is_closed:
        return "FINISHED", None
    if delivery.route_status in lifecycle.UNTAKEN:
        return "NOT_ASSIGNED", None
    position = delivery.driver_position
    return (None, position) if position else ("NO_POSITION", None)


def route(delivery: Delivery) -> Route:
    """The route, the same object in every answer and event. A scheduled one is as if it were offered."""
    stops = delivery.ordered_stops
    at_a, at_stops = ("dropoff", "pickup") if delivery.mode == Mode.REVERSE else ("pickup", "dropoff")
    return {
        "routeId": str(delivery.route_id),
        "status": RouteStatus.AVAILABLE.value if delivery.is_scheduled else delivery.route_status,
        "pointsCount": 1 + len(stops),
        "fixedValue": float(delivery.shipping_value),
        "totalDistanceKm": float(delivery.distance_km),
        "vehicleType": delivery.vehicle_type,
        "acceptMode": "WHOLE_ROUTE",
        "immutable": True,
        "points": [
            {"label": "A", "type": at_a},
            *(RoutePoint(label=stop.label, type=at_stops) for stop in stops),
        ],
    }


def _whole_route(delivery: Delivery) -> Route:
    """The route in answers that the specification does not have, which say that it is scheduled."""
    return {**route(delivery), "status": delivery.route_status}


def order(stop: Stop) -> OrderWithPoint:
    return {
        "status": stop.status,
        "externalId": stop.external_id,
        "point": stop.label,
        "coordinates": _coordinates(stop),
        "address": address(stop),
    }


def driver(delivery: Delivery) -> Driver:
    """The driver, with the latest position that the integrator may see."""
    return {
        "name": delivery.driver.name if delivery.driver else "",
        "phone": delivery.driver.phone if delivery.driver else "",
        "coordinates": _coordinates(delivery.driver_position),
    }


def _coordinates(place: Stop | DriverPosition | None) -> Coordinates:
    return {
        "latitude": place.latitude if place else None,
        "longitude": place.longitude if place else None,
    }


def address(place: Stop | Delivery) -> Address:
    """The address of a stop, or of a delivery's pickup."""
    return _address(place.address, latitude=place.latitude, longitude=place.longitude)


def summary(delivery: Delivery) -> DeliverySummary:
    """An item of the list. Reads the stops, which the caller prefetches."""
    return {
        "deliveryId": str(delivery.pk),
        "status": delivery.status,
        "shippingValue": float(delivery.shipping_value),
        "route": _whole_route(delivery),
        "orders": [
            {"point": stop.label, "externalId": stop.external_id, "status": stop.status}
            for stop in delivery.ordered_stops
        ],
        "createdAt": moment(delivery.created_at),
        "updatedAt": moment(delivery.updated_at),
        "closedAt": moment_or_none(delivery.closed_at),
    }


def detail(delivery: Delivery, *, tracking: Mapping[int, str], at: datetime) -> DeliveryDetail:
    """Everything about a delivery, at this moment. Reads its history and its events, and what `creation` reads.

    `tracking`: the addresses of the receivers' pages by the key of the stop, as far as they work.
    """
    details = stop_details.read(delivery.ordered_stops, at=at, addresses=tracking)
    transitions = list(delivery.transitions.order_by("id"))
    moments = {transition.trigger: transition.at for transition in transitions}
    # In mode REVERSE there are several.
    collected = next((each.at for each in transitions if each.trigger in lifecycle.COLLECTIONS), None)
    if not delivery.is_held and not delivery.is_closed:  # a driver that accepted was released
        moments.pop(Trigger.ACCEPT, None)
    return {
        "deliveryId": str(delivery.pk),
        "status": delivery.status,
        "shippingValue": float(delivery.shipping_value),
        "deliveryMode": delivery.mode,
        "scheduledFor": moment_or_none(delivery.scheduled_for),
        "route": _whole_route(delivery),
        "driver": driver(delivery),
        "pickup": {"contacts": contacts(delivery), "address": address(delivery)},
        "orders": [_order(stop, transitions, details[stop.pk]) for stop in delivery.ordered_stops],
        "orderPackages": delivery.packages,
        "createdAt": moment(delivery.created_at),
        "updatedAt": moment(delivery.updated_at),
        "offerExpiresAt": moment(delivery.offer_expires_at),
        "acceptedAt": moment_or_none(moments.get(Trigger.ACCEPT)),
        "collectedAt": moment_or_none(collected),
        "returnedAt": moment_or_none(moments.get(Trigger.RETURN)),
        "cancelledAt": moment_or_none(delivery.cancelled_at),
        "closedAt": moment_or_none(delivery.closed_at),
        "cancellation": _cancellation_detail(delivery, transitions),
        "fees": _fees(delivery),
        "transitions": [_transition(transition) for transition in transitions],
        "events": [
            _event(event)
            for event in delivery.events.first_ones().defer("body").select_related("queue_item").order_by("sequence")
        ],
    }


def _fees(delivery: Delivery) -> list[Fee]:
    with override("en"):  # as all texts of area A
        return [
            {"code": charge.value, "name": str(words.CHARGES[charge]), "amount": float(amount)}
            for charge, amount in delivery.fees.items()
        ]


def _order(stop: Stop, transitions: Sequence[models.Transition], details: StopDetails) -> OrderDetail:
    return {
        **order(stop),
        "contacts": contacts(stop),
        "instructions": details.instructions,
        "trackingUrl": details.link,
        "arrival": arrival(details.arrival) if details.arrival else None,
        "proof": _proof(details),
        "failureCode": stop.failure_code or None,
        "failureReason": _failure_reason(stop, transitions),
        "attempts": len(_failures(stop, transitions)),
        "onFailure": details.on_failure,
        "closedAt": moment_or_none(_closed_at(stop, transitions)),
    }


def _proof(details: StopDetails) -> Proof:
    return {
        "photoRequired": details.needs_photo,
        "pin": details.pin or None,
        "receivedBy": details.received_by or None,
        "pinConfirmedAt": moment_or_none(details.pin_confirmed_at),
        "photos": [
            {"url": f"{settings.SITE_URL}{photo.path}", "takenAt": moment(photo.taken_at)} for photo in details.photos
        ],
        "left": details.left_at_door,
    }


def _failure_reason(stop: Stop, transitions: Sequence[models.Transition]) -> str | None:
    """As the latest one was recorded, in the language of who recorded it."""
    failures = _failures(stop, transitions)
    return (failures[-1].reason or None) if failures else None


def _failures(stop: Stop, transitions: Sequence[models.Transition]) -> list[models.Transition]:
    """Those that a driver has reported at the stop, in their sequence."""
    triggers = (Trigger.ATTEMPT, Trigger.FAIL)
    return [each for each in transitions if each.trigger in triggers and each.point == stop.label]


def _closed_at(stop: Stop, transitions: Sequence[models.Transition]) -> datetime | None:
    """When the stop was delivered or failed, or when a cancellation or an expiry failed it."""
    if stop.status in lifecycle.OPEN:
        return None
    of_stop = [each.at for each in transitions if each.point == stop.label and each.trigger in _CLOSE_STOP]
    of_all = [transition.at for transition in transitions if transition.trigger in _CLOSE_ALL]
    return next(iter(of_stop + of_all), None)


def _cancellation(delivery: Delivery) -> Cancellation:
    return {
        "reason": delivery.cancel_reason,
        "fee": float(delivery.cancel_fee or 0),
        "returnToOrigin": delivery.was_cancelled_after_pickup,
    }


def _cancellation_detail(delivery: Delivery, transitions: Sequence[models.Transition]) -> CancellationDetail | None:
    cancel = next((transition for transition in transitions if transition.trigger == Trigger.CANCEL), None)
    if cancel is None:
        return None
    return {**_cancellation(delivery), "at": moment(cancel.at), "by": _kind_of_actor(cancel.by)}


def _transition(transition: models.Transition) -> Transition:
    return {
        "trigger": transition.trigger,
        "point": transition.point or None,
        "reason": transition.reason or None,
        "status": transition.status,
        "routeStatus": transition.route_status,
        "by": _kind_of_actor(transition.by),
        "at": moment(transition.at),
        "madeAt": moment_or_none(transition.made_at),
    }


def _event(event: WebhookEvent) -> EventState:
    return {
        "id": str(event.pk),
        "sequence": event.sequence,
        "status": event.name,
        "state": event.state,
        "createdAt": moment(event.created_at),
        "sentAt": moment_or_none(event.sent_at),
        "attempts": event.attempts_made,
        "nextAttemptAt": moment_or_none(event.next_attempt_at),
    }


def arrival(time: ArrivalTime) -> Arrival:
    return {
        "at": moment(time.estimate.arrives_at),
        "earliest": moment(time.estimate.earliest),
        "latest": moment(time.estimate.latest),
        "late": time.is_late,
        "lastSignalAt": moment(time.last_signal_at),
    }


def contacts(place: Stop | Delivery) -> Contacts:
    return {"name": place.contact_name, "phoneNumber": place.contact_phone}


def _kind_of_actor(by: str) -> str:
    """`integrator`, `dispatcher`, `driver` or `system`. Names of people and of tokens stay with us."""
    return _KINDS_OF_ACTORS.get(by.partition(" ")[0], "system")


def moment(at: datetime) -> str:
    """ISO 8601 with the service's offset, as in every answer of area A."""
    return timezone.localtime(at).isoformat()


def moment_or_none(at: datetime | None) -> str | None:
    return None if at is None else moment(at)


class AccountPickupPoint(TypedDict):
    """A place near which a request's pickup must lie, unless the account may pick up anywhere."""

    pickupPointId: Uuid
    name: str
    latitude: Latitude
    longitude: Longitude
    radiusMeters: Annotated[int, Json("metres")]
    active: bool


class NamedAccount(TypedDict):
    accountId: Uuid
    name: str


class AccountShown(TypedDict):
    """`environment`: `live` or `sandbox`. `anyPickupAllowed`: whether requests may start anywhere.

    `pickupPoints`: by name, at most 1,000.
    """

    account: NamedAccount
    environment: str
    anyPickupAllowed: bool
    pickupPoints: list[AccountPickupPoint]
    limits: CallLimits


def account_shown(account: Integrator, environment: str, points: Iterable[PickupPoint]) -> AccountShown:
    return {
        "account": {"accountId": str(account.pk), "name": account.name},
        "environment": environment,
        "anyPickupAllowed": account.allow_any_pickup,
        "pickupPoints": [
            {
                "pickupPointId": str(point.pk),
                "name": point.name,
                "latitude": point.latitude,
                "longitude": point.longitude,
                "radiusMeters": point.radius_m,
                "active": point.active,
            }
            for point in points
        ],
        "limits": account.rate_limits.shown(),
    }
