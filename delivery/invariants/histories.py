"""Histories: the transitions of a delivery lead from its request to its statuses, its end and its fee."""

from common.invariants import Invariant
from delivery import lifecycle
from delivery.errors import DeliveryError
from delivery.invariants.routes import CLOSED, ORDERS, state
from delivery.lifecycle import Mode, Trigger
from delivery.models.stop import LABELS

# trigger:point:status:route status of each transition, in their order.
_HISTORY = """(SELECT string_agg(concat_ws(':', t.trigger, t.point, t.status, t.route_status), ',' ORDER BY t.id)
               FROM delivery_transition t WHERE t.delivery_id = d.id)"""


def _leads_to_the_statuses(facts: str) -> bool:
    """Whether the history, replayed by the lifecycle's table, has the statuses of each step and ends in the state."""
    statuses, _bar, history = facts.rpartition("|")
    try:
        return _replayed(statuses, history)
    except (ValueError, DeliveryError):
        return False


def _replayed(statuses: str, history: str) -> bool:
    """Raises ValueError for unknown words, DeliveryError for a move that the table does not have."""
    request, *transitions = [step.split(":") for step in history.split(",")]
    end = state(statuses)
    here = lifecycle.new(orders=len(end.orders), mode=Mode(end.mode))
    if request != ["request", "", here.delivery, here.route]:
        return False
    for trigger, point, status, route in transitions:
        here = lifecycle.move(here, Trigger(trigger), index=LABELS.index(point) if point else None)
        if (here.delivery, here.route) != (status, route):
            return False
    return here == end


ALL = (
    Invariant(
        "history_leads_to_the_statuses",
        "histories follow the lifecycle's table from the request to the statuses",
        "delivery_transition",
        f"""
        SELECT d.id, concat_ws('|', d.mode, d.status, d.route_status, coalesce({ORDERS}, ''),
                               coalesce({_HISTORY}, '')) AS facts
        FROM delivery_delivery d""",  # noqa: S608  # nosec B608  # constants
        holds=_leads_to_the_statuses,
    ),
    Invariant(
        "closed_when_its_history_says",
        "deliveries are closed at the moment of their last transition, open ones have no such moment",
        "delivery_delivery",
        f"""
        SELECT d.id FROM delivery_delivery d
        LEFT JOIN (SELECT DISTINCT ON (delivery_id) delivery_id, at FROM delivery_transition
                   ORDER BY delivery_id, id DESC) AS last ON last.delivery_id = d.id
        WHERE d.closed_at IS DISTINCT FROM CASE WHEN d.route_status IN ({CLOSED}) THEN last.at END""",  # noqa: S608  # nosec B608  # constants
    ),
    Invariant(
        "cancellation_has_its_fee",
        "cancelled deliveries were charged the share of the route status before, others nothing",
        "delivery_delivery",
        """
        SELECT d.id FROM delivery_delivery d
        LEFT JOIN (SELECT DISTINCT ON (delivery_id) * FROM (
                       SELECT delivery_id, id, trigger, at,
                              lag(route_status) OVER (PARTITION BY delivery_id ORDER BY id) AS route_before
                       FROM delivery_transition
                       WHERE delivery_id IN (SELECT delivery_id FROM delivery_transition WHERE trigger = 'cancel')
                   ) AS cancelled
                   WHERE trigger = 'cancel' ORDER BY delivery_id, id) AS cancel ON cancel.delivery_id = d.id
        WHERE d.cancelled_at IS DISTINCT FROM cancel.at
           OR d.cancel_fee IS DISTINCT FROM CASE
                WHEN cancel.at IS NULL THEN NULL
                WHEN cancel.route_before = 'AVAILABLE' THEN 0
                WHEN cancel.route_before = 'ACCEPTED' THEN round(d.shipping_value * d.cancel_percent_accepted / 100, 2)
                ELSE round(d.shipping_value * d.cancel_percent_collected / 100, 2) END""",
    ),
    Invariant(
        "reported_moves_were_made_once",
        "moves that phones reported and that were done are in the history, once each",
        "delivery_drivermove",
        """
        SELECT DISTINCT m.delivery_id AS id FROM (
            SELECT delivery_id, trigger, point, count(*) AS times FROM delivery_drivermove WHERE refusal = ''
            GROUP BY delivery_id, trigger, point) AS m
        WHERE m.times > 1
           OR NOT EXISTS (SELECT FROM delivery_transition t
                          WHERE (t.delivery_id, t.trigger, t.point) = (m.delivery_id, m.trigger, m.point))""",
    ),
)
