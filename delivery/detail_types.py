"""Types of the JSON objects of `GET /api/deliveries`. `delivery.detail_bodies` builds them.

Moments are ISO 8601 with the service's offset, or null as long as they have not come. Units as in `body_types`.
"""

from typing import Any, TypedDict

from delivery.body_types import Address, Cancellation, Driver, OrderWithPoint, Route


class Contacts(TypedDict):
    """Texts that were not sent are empty."""

    name: str
    phoneNumber: str


class Pickup(TypedDict):
    contacts: Contacts
    address: Address


class OrderSummary(TypedDict):
    point: str
    externalId: str
    status: str


class OrderDetail(OrderWithPoint, TypedDict):
    """`failureReason` is null unless the order failed at its point; one that a cancellation failed has none."""

    contacts: Contacts
    failureReason: str | None
    closedAt: str | None


class CancellationDetail(Cancellation):
    """`by` is a kind of actor, see `Transition`."""

    at: str
    by: str


class Transition(TypedDict):
    """One change and the statuses after it. `point` and `reason` are null where the change has none.

    `by` is `integrator`, `dispatcher`, `driver` or `system`; people are not named.
    """

    trigger: str
    point: str | None
    reason: str | None
    status: str
    routeStatus: str
    by: str
    at: str


class EventState(TypedDict):
    """A webhook event of the delivery: whether it was sent, and when it is tried next."""

    id: str
    sequence: int
    status: str
    state: str
    createdAt: str
    sentAt: str | None
    attempts: int
    nextAttemptAt: str | None


class DeliverySummary(TypedDict):
    """An item of the list."""

    deliveryId: str
    status: str
    shippingValue: float
    route: Route
    orders: list[OrderSummary]
    createdAt: str
    closedAt: str | None


class DeliveryDetail(TypedDict):
    """Everything about one delivery. `orderPackages` has the entries of the request."""

    deliveryId: str
    status: str
    shippingValue: float
    deliveryMode: str
    route: Route
    driver: Driver
    pickup: Pickup
    orders: list[OrderDetail]
    orderPackages: list[dict[str, Any]]
    createdAt: str
    offerExpiresAt: str
    acceptedAt: str | None
    collectedAt: str | None
    returnedAt: str | None
    cancelledAt: str | None
    closedAt: str | None
    cancellation: CancellationDetail | None
    transitions: list[Transition]
    events: list[EventState]
