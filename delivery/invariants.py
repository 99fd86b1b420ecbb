"""What is always true of deliveries, their histories and their events together, and no constraint holds."""

from common.postgresql.invariants import Invariant
from common.webhooks.invariants import of_webhooks
from delivery import lifecycle
from delivery.errors import DeliveryError
from delivery.lifecycle import Mode, RouteStatus, State, Status, Trigger
from delivery.models.bases import quoted
from delivery.models.stop import LABELS

_HELD, _CLOSED = quoted(lifecycle.HELD), quoted(lifecycle.CLOSED)

# Statuses of the stops B, C, D, in this order, and the indices of those tried once in the sequence of their failures.
_ORDERS = """(SELECT concat_ws('|', coalesce(string_agg(s.status, ',' ORDER BY s.index), ''),
                              coalesce(string_agg(s.index::text, ',' ORDER BY s.tried_at, s.index)
                                       FILTER (WHERE s.tried_at IS NOT NULL), ''))
             FROM delivery_stop s WHERE s.delivery_id = d.id)"""


def _state(facts: str) -> State:
    """The state that `mode|status|route status|statuses of the stops|stops tried once` names.

    Raises ValueError for unknown words.
    """
    mode, status, route, orders, tried = facts.split("|")
    return State(
        Status(status),
        RouteStatus(route),
        tuple(map(Status, orders.split(","))),
        Mode(mode),
        tuple(map(int, tried.split(","))) if tried else (),
    )


_OF_ROUTES = (
    Invariant(
        "delivery_has_its_stops",
        "deliveries have one to three stops, numbered without a gap",
        f"""
        SELECT d.id FROM delivery_delivery d
        LEFT JOIN (SELECT delivery_id, count(*) AS stops, min(index) AS first, max(index) AS last
                   FROM delivery_stop GROUP BY delivery_id) s ON s.delivery_id = d.id
        WHERE s.stops IS NULL OR s.stops > {len(LABELS)} OR s.first <> 0 OR s.last <> s.stops - 1""",  # noqa: S608  # nosec B608  # a number
    ),
    Invariant(
        "delivery_of_its_token",
        "deliveries belong to the account and environment of the token that requested them",
        """
        SELECT d.id FROM delivery_delivery d JOIN delivery_token t ON t.id = d.token_id
        WHERE (t.integrator_id, t.environment) <> (d.integrator_id, d.environment)""",
    ),
)


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
    end = _state(statuses)
    is_scheduled = request[-1] == RouteStatus.SCHEDULED
    here = lifecycle.new(orders=len(end.orders), mode=Mode(end.mode), is_scheduled=is_scheduled)
    if request != ["request", "", here.delivery, here.route]:
        return False
    for trigger, point, status, route in transitions:
        here = lifecycle.move(here, Trigger(trigger), index=LABELS.index(point) if point else None)
        if (here.delivery, here.route) != (status, route):
            return False
    return here == end


_OF_HISTORIES = (
    Invariant(
        "history_leads_to_the_statuses",
        "histories follow the lifecycle's table from the request to the statuses",
        f"""
        SELECT d.id, concat_ws('|', d.mode, d.status, d.route_status, {_ORDERS},
                               coalesce({_HISTORY}, '')) AS facts
        FROM delivery_delivery d""",  # noqa: S608  # nosec B608  # constants
        holds=_leads_to_the_statuses,
    ),
    Invariant(
        "first_attempt_is_in_the_history",
        "stops that are tried again have a first attempt in their history, and none of them is a pickup",
        """
        SELECT d.id FROM delivery_stop s JOIN delivery_delivery d ON d.id = s.delivery_id
        WHERE s.tried_at IS NOT NULL
          AND (d.mode = 'REVERSE'
               OR NOT EXISTS (SELECT FROM delivery_transition t
                              WHERE t.delivery_id = d.id AND t.trigger = 'attempt' AND t.at = s.tried_at
                                AND t.point = chr(66 + s.index)))""",
    ),
    Invariant(
        "left_at_the_door_by_policy",
        "orders that were left at the door were delivered, where the policy allows it",
        """
        SELECT s.delivery_id AS id FROM delivery_stopproof p JOIN delivery_stop s ON s.id = p.stop_id
        LEFT JOIN delivery_dropoffoptions o ON o.stop_id = s.id
        WHERE p.left_at_door AND (s.status <> 'DELIVERED' OR (o.on_failure <> 'LEAVE'))""",
    ),
    Invariant(
        "accepted_when_its_history_says",
        "first acceptances that deliveries have are acceptances of their histories",
        """
        SELECT d.id FROM delivery_delivery d
        WHERE d.accepted_at IS NOT NULL
          AND NOT EXISTS (SELECT FROM delivery_transition t
                          WHERE t.delivery_id = d.id AND t.trigger = 'accept' AND t.at = d.accepted_at)""",
    ),
    Invariant(
        "closed_when_its_history_says",
        "deliveries are closed at the moment of their last transition, open ones have no such moment",
        f"""
        SELECT d.id FROM delivery_delivery d
        LEFT JOIN (SELECT DISTINCT ON (delivery_id) delivery_id, at FROM delivery_transition
                   ORDER BY delivery_id, id DESC) AS last ON last.delivery_id = d.id
        WHERE d.closed_at IS DISTINCT FROM CASE WHEN d.route_status IN ({_CLOSED}) THEN last.at END""",  # noqa: S608  # nosec B608  # constants
    ),
    Invariant(
        "cancellation_has_its_fee",
        "cancelled deliveries were charged the share of the route status before, or after pickup where goods were out",
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
                WHEN cancel.route_before IN ('SCHEDULED', 'AVAILABLE') THEN 0
                WHEN cancel.route_before = 'ACCEPTED' AND (d.route_status = 'CANCELLED' OR d.fee_before_pickup)
                THEN round(d.shipping_value * d.cancel_percent_accepted / 100, 2)
                ELSE round(d.shipping_value * d.cancel_percent_collected / 100, 2) END""",
    ),
    Invariant(
        "failures_have_their_fees",
        "second attempts and ways back because of a failure were charged their share of the price, others nothing",
        """
        SELECT d.id FROM delivery_delivery d
        LEFT JOIN (SELECT t.delivery_id, count(*) AS attempts
                   FROM delivery_stop s JOIN delivery_transition t ON t.delivery_id = s.delivery_id
                   WHERE s.tried_at IS NOT NULL AND t.point = chr(66 + s.index) AND t.trigger IN ('deliver', 'fail')
                   GROUP BY t.delivery_id) AS second ON second.delivery_id = d.id
        LEFT JOIN (SELECT DISTINCT ON (delivery_id) delivery_id, trigger FROM delivery_transition
                   WHERE route_status = 'RETURNING' ORDER BY delivery_id, id) AS back ON back.delivery_id = d.id
        WHERE coalesce(d.retry_fee, 0)
                <> coalesce(second.attempts, 0) * round(d.shipping_value * d.retry_percent / 100, 2)
           OR coalesce(d.return_fee, 0)
                <> CASE WHEN d.mode = 'DEFAULT' AND back.trigger NOT IN ('cancel', 'goods_out')
                        THEN round(d.shipping_value * d.return_percent / 100, 2) ELSE 0 END""",
    ),
    Invariant(
        "reported_moves_were_made_once",
        "moves that phones sent and that were done are in the history, once each",
        """
        SELECT DISTINCT m.delivery_id AS id FROM (
            SELECT delivery_id, trigger, point, count(*) AS times FROM delivery_drivermove WHERE refusal = ''
            GROUP BY delivery_id, trigger, point) AS m
        WHERE m.times > (SELECT count(*) FROM delivery_transition t
                         WHERE (t.delivery_id, t.point) = (m.delivery_id, m.point)
                           AND (t.trigger = m.trigger
                                OR (t.trigger, m.trigger) IN (('attempt', 'fail'), ('goods_out', 'collect'))))""",
    ),
)


_OF_SCHEDULES = (
    Invariant(
        "scheduled_until_offered",
        "scheduled routes are not offered yet, others were at the moment of their offer",
        """
        SELECT d.id FROM delivery_delivery d
        LEFT JOIN delivery_transition t ON t.delivery_id = d.id AND t.trigger = 'offer'
        WHERE d.scheduled_for <= d.created_at
           OR (d.route_status = 'SCHEDULED' AND t.id IS NOT NULL)
           OR d.offer_at IS DISTINCT FROM t.at AND t.id IS NOT NULL""",
    ),
    Invariant(
        "deadline_is_that_of_the_last_stop",
        "deliveries have the latest deadline of their stops",
        """
        SELECT d.id FROM delivery_delivery d
        WHERE d.deadline_at IS DISTINCT FROM
              (SELECT max(s.deadline_at) FROM delivery_stop s WHERE s.delivery_id = d.id)""",
    ),
)


_OF_EVENTS = (
    Invariant(
        "event_sequences_have_no_gap",
        "deliveries have the events 1, 2, 3 … up to the last",
        """
        SELECT d.id FROM delivery_delivery d
        LEFT JOIN (SELECT delivery_id, count(*) AS events, count(DISTINCT sequence) AS sequences,
                          min(sequence) AS first, max(sequence) AS last
                   FROM delivery_webhookevent WHERE copy_of IS NULL GROUP BY delivery_id) e ON e.delivery_id = d.id
        WHERE (e.first, e.last, e.events, e.sequences) IS DISTINCT FROM
              (1, d.last_sequence, d.last_sequence::bigint, d.last_sequence::bigint)""",
    ),
    Invariant(
        "transition_has_its_event",
        "the request and each later transition but an offer have their event, with the status that they led to",
        """
        SELECT d.id FROM delivery_delivery d
        WHERE (SELECT array_agg(t.status ORDER BY t.id) FROM delivery_transition t
               WHERE t.delivery_id = d.id AND t.trigger <> 'offer')
              IS DISTINCT FROM
              (SELECT array_agg(e.name ORDER BY e.sequence) FROM delivery_webhookevent e
               WHERE e.delivery_id = d.id AND e.copy_of IS NULL)""",
    ),
    Invariant(
        "event_has_the_price",
        "events name the delivery's price",
        """
        SELECT e.id FROM delivery_webhookevent e JOIN delivery_delivery d ON d.id = e.delivery_id
        WHERE substring(e.body FROM '"fixedValue": ?([0-9.]+)')::numeric IS DISTINCT FROM d.shipping_value""",
    ),
)


_OF_DRIVERS = (
    Invariant(
        "simulated_driver_of_its_account",
        "drivers that the service has created took sandbox deliveries of one account only",
        """
        SELECT d.id FROM delivery_delivery d JOIN delivery_driver r ON r.id = d.driver_id
        WHERE r.simulated_for_id IS NOT NULL
          AND (d.integrator_id, d.environment) <> (r.simulated_for_id, 'sandbox')""",
    ),
    Invariant(
        "open_route_fits_its_driver",
        "drivers who hold a route work for us, in its vehicle and environment",
        f"""
        SELECT d.id FROM delivery_delivery d JOIN delivery_driver r ON r.id = d.driver_id
        WHERE d.route_status IN ({_HELD})
          AND NOT (r.active AND (r.vehicle_type, r.environment) = (d.vehicle_type, d.environment))""",  # noqa: S608  # nosec B608  # constants
    ),
    Invariant(
        "latest_position_is_the_newest",
        "no driver has a position that is newer than the latest",
        """
        SELECT r.id FROM delivery_driver r LEFT JOIN delivery_latestposition l ON l.driver_id = r.id
        WHERE EXISTS (SELECT FROM delivery_driverposition p
                      WHERE p.driver_id = r.id AND p.recorded_at > coalesce(l.recorded_at, '-infinity'))""",
    ),
    Invariant(
        "simulation_of_an_open_delivery",
        "simulated deliveries are of the sandbox and open",
        f"""
        SELECT s.delivery_id AS id FROM delivery_simulation s JOIN delivery_delivery d ON d.id = s.delivery_id
        WHERE d.environment <> 'sandbox' OR d.route_status IN ({_CLOSED})""",  # noqa: S608  # nosec B608  # constants
    ),
)

_OF_WEBHOOKS = of_webhooks("delivery", subject="delivery", owner="integrator")
ALL: tuple[Invariant, ...] = (*_OF_ROUTES, *_OF_HISTORIES, *_OF_SCHEDULES, *_OF_EVENTS, *_OF_WEBHOOKS, *_OF_DRIVERS)
