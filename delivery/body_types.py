"""Types of the JSON objects of a delivery. `delivery.bodies` builds them.

Money in BRL, distances in kilometres, coordinates in decimal degrees. Moments are ISO 8601 with the service's offset,
or null as long as they have not come. Source of the keys down to `Location`: the specification's "Resources and their
fields"; the types after it are those of `GET /api/deliveries`.
"""

from datetime import timedelta
from typing import Annotated, Any, NotRequired, TypedDict

from common.json_types import Brl, Json, Kilometres, Moment, Uuid, one_of
from delivery.lifecycle import Mode, RouteStatus, Status

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


class Address(TypedDict):
    """Text that was not sent is empty."""

    city: str
    state: str
    street: str
    number: str
    zipcode: str
    district: str
    country: str
    complement: str
    latitude: Latitude
    longitude: Longitude


class RoutePoint(TypedDict):
    label: Annotated[str, one_of("ABCD")]
    type: Annotated[str, one_of(("pickup", "dropoff"))]


class Route(TypedDict):
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


class OrderDetail(OrderWithPoint, TypedDict):
    """`failureReason` is null unless the order failed at its point; one that a cancellation failed has none.

    `trackingUrl` is the page for the receiver, null once it no longer works. `arrival` is null unless a driver is on
    the way. `instructions` is empty text if none were sent.
    """

    contacts: Contacts
    instructions: str
    trackingUrl: str | None
    arrival: Arrival | None
    proof: Proof
    failureReason: str | None
    closedAt: Moment | None


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


class DeliverySummary(TypedDict):
    """An item of the list."""

    deliveryId: Uuid
    status: DeliveryStatus
    shippingValue: Brl
    route: Route
    orders: list[OrderSummary]
    createdAt: Moment
    closedAt: Moment | None


class DeliveryPage(TypedDict):
    """`nextCursor` is null on the last page."""

    data: list[DeliverySummary]
    nextCursor: str | None


class DeliveryDetail(TypedDict):
    """Everything about one delivery. `orderPackages` has the entries of the request."""

    deliveryId: Uuid
    status: DeliveryStatus
    shippingValue: Brl
    deliveryMode: Annotated[str, one_of(Mode)]
    route: Route
    driver: Driver
    pickup: Pickup
    orders: list[OrderDetail]
    orderPackages: list[dict[str, Any]]
    createdAt: Moment
    offerExpiresAt: Moment
    acceptedAt: Moment | None
    collectedAt: Moment | None
    returnedAt: Moment | None
    cancelledAt: Moment | None
    closedAt: Moment | None
    cancellation: CancellationDetail | None
    transitions: list[Transition]
    events: list[EventState]
