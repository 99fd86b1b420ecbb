"""Types of the JSON objects of `GET /api/deliveries`. `delivery.detail_bodies` builds them.

Moments are ISO 8601 with the service's offset, or null as long as they have not come. Units as in `body_types`.
"""

from typing import Annotated, Any, TypedDict

from common.json_types import Brl, Moment, Uuid, one_of
from delivery.body_types import Address, Cancellation, DeliveryStatus, Driver, Label, OrderWithPoint, Route
from delivery.lifecycle import Mode, RouteStatus


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
