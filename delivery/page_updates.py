"""Topics of page updates, and the messages about deliveries and drivers. `Outbox` has those about webhooks.

The ids in messages begin with their kind: `delivery:<id>` (any change of it), `position:<id of the delivery>` (its
driver has moved), `driver:<id>` (on or off duty).
"""

from collections.abc import Iterable
from uuid import UUID

from common.pages.page_updates import END, Message, grouped


def board(environment: str) -> str:
    """The topic of the dispatch board: deliveries of all accounts, and drivers."""
    return f"board:{environment}"


def driver(driver_id: UUID) -> str:
    """The topic of one driver's phone."""
    return f"driver:{driver_id}"


def session(device_id: UUID) -> str:
    """The topic of the session of one phone."""
    return f"session:{device_id}"


def offers(environment: str, vehicle_type: str) -> str:
    """The topic of offers, for the phones of drivers who could accept them."""
    return f"offers:{environment}:{vehicle_type}"


def account(integrator_id: UUID, environment: str) -> str:
    """The topic of an account's deliveries."""
    return f"account:{integrator_id}:{environment}"


def session_ended(device_id: UUID) -> Message:
    """Ends the streams of the phone."""
    return Message(session(device_id), [END])


def delivery_changed(delivery_id: UUID, integrator_id: UUID, environment: str) -> list[Message]:
    ids = [f"delivery:{delivery_id}"]
    return [Message(board(environment), ids), Message(account(integrator_id, environment), ids)]


def offer_changed(delivery_id: UUID, environment: str, vehicle_type: str) -> Message:
    """The delivery is offered, or offered no longer."""
    return Message(offers(environment, vehicle_type), [f"delivery:{delivery_id}"])


def route_changed(delivery_id: UUID, driver_id: UUID) -> Message:
    """Something about the route that this driver holds or held."""
    return Message(driver(driver_id), [f"delivery:{delivery_id}"])


def drivers_moved(routes: Iterable[tuple[UUID, UUID, str]]) -> list[Message]:
    """`routes`: id, account and environment of the deliveries that the drivers hold."""
    return grouped(
        (topic, f"position:{delivery_id}")
        for delivery_id, integrator_id, environment in routes
        for topic in (board(environment), account(integrator_id, environment))
    )


def arrivals_changed(routes: Iterable[tuple[UUID, UUID, str, UUID]]) -> list[Message]:
    """The arrival times of routes under way. `routes`: id, account, environment and driver of their deliveries."""
    return grouped(
        (topic, f"delivery:{delivery_id}")
        for delivery_id, integrator_id, environment, driver_id in routes
        for topic in (board(environment), account(integrator_id, environment), driver(driver_id))
    )


def duty_changed(drivers: Iterable[tuple[UUID, str]]) -> list[Message]:
    """`drivers`: their ids and environments."""
    return grouped(
        (topic, f"driver:{driver_id}")
        for driver_id, environment in drivers
        for topic in (board(environment), driver(driver_id))
    )
