"""Deliveries and their stops: one row each, and what has to agree between them."""

from functools import cache
from itertools import product

from common.invariants import Invariant
from delivery import lifecycle
from delivery.errors import DeliveryError
from delivery.lifecycle import Mode, RouteStatus, State, Status, Trigger
from delivery.models.stop import LABELS

HELD = ", ".join(f"'{status.value}'" for status in lifecycle.HELD)
CLOSED = ", ".join(f"'{status.value}'" for status in lifecycle.CLOSED)

# Statuses of the stops B, C, D, in this order.
ORDERS = "(SELECT string_agg(s.status, ',' ORDER BY s.index) FROM delivery_stop s WHERE s.delivery_id = d.id)"


def state(facts: str) -> State:
    """The state that `mode|status|route status|statuses of the stops` names. Raises ValueError for unknown words."""
    mode, status, route, orders = facts.split("|")
    return State(Status(status), RouteStatus(route), tuple(map(Status, orders.split(","))), Mode(mode))


def _is_reachable(facts: str) -> bool:
    try:
        return state(facts) in _reachable()
    except ValueError:
        return False


@cache
def _reachable() -> frozenset[State]:
    """Every state to which the lifecycle's table leads from a new delivery."""
    found: set[State] = set()
    ahead = [lifecycle.new(orders=orders, mode=mode) for orders, mode in product(range(1, len(LABELS) + 1), Mode)]
    while ahead:
        here = ahead.pop()
        if here not in found:
            found.add(here)
            ahead += _after(here)
    return frozenset(found)


def _after(here: State) -> list[State]:
    following = []
    for trigger, index in product(Trigger, range(len(here.orders))):
        try:
            following.append(lifecycle.move(here, trigger, index=index))
        except DeliveryError:
            continue  # the table has no such move
    return following


ALL = (
    Invariant(
        "delivery_has_its_stops",
        "deliveries have one to three stops, numbered without a gap",
        "delivery_delivery",
        f"""
        SELECT d.id FROM delivery_delivery d
        LEFT JOIN (SELECT delivery_id, count(*) AS stops, min(index) AS first, max(index) AS last
                   FROM delivery_stop GROUP BY delivery_id) s ON s.delivery_id = d.id
        WHERE s.stops IS NULL OR s.stops > {len(LABELS)} OR s.first <> 0 OR s.last <> s.stops - 1""",  # noqa: S608  # nosec B608  # a number
    ),
    Invariant(
        "delivery_of_its_token",
        "deliveries belong to the account and environment of the token that requested them",
        "delivery_delivery",
        """
        SELECT d.id FROM delivery_delivery d JOIN delivery_token t ON t.id = d.token_id
        WHERE (t.integrator_id, t.environment) <> (d.integrator_id, d.environment)""",
    ),
    Invariant(
        "route_ids_are_unique",
        "no two deliveries have one route id",
        "delivery_delivery",
        "SELECT route_id AS id FROM delivery_delivery GROUP BY route_id HAVING count(*) > 1",
    ),
    Invariant(
        "statuses_fit_together",
        "delivery, route and stops have statuses that the lifecycle leads to",
        "delivery_delivery",
        f"""
        SELECT d.id, concat_ws('|', d.mode, d.status, d.route_status, coalesce({ORDERS}, '')) AS facts
        FROM delivery_delivery d""",  # noqa: S608  # nosec B608  # constants
        holds=_is_reachable,
    ),
    Invariant(
        "route_has_its_driver",
        "routes that are under way or finished have a driver, offered and expired ones have none",
        "delivery_delivery",
        f"""
        SELECT id FROM delivery_delivery
        WHERE (route_status IN ({HELD}, 'FINISHED') AND driver_id IS NULL)
           OR (route_status IN ('AVAILABLE', 'EXPIRED') AND driver_id IS NOT NULL)""",  # noqa: S608  # nosec B608  # constants
    ),
    Invariant(
        "one_open_route_per_driver",
        "no driver holds two open routes",
        "delivery_driver",
        f"""
        SELECT driver_id AS id FROM delivery_delivery WHERE route_status IN ({HELD}) AND driver_id IS NOT NULL
        GROUP BY driver_id HAVING count(*) > 1""",  # noqa: S608  # nosec B608  # constants
    ),
    Invariant(
        "price_is_not_negative",
        "price and distance are not negative",
        "delivery_delivery",
        "SELECT id FROM delivery_delivery WHERE shipping_value < 0 OR distance_km < 0",
    ),
)
