"""Applying a transition to a delivery that is locked: the statuses, the history and the webhook event of one change."""

from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import TypedDict, Unpack
from uuid import UUID

from django.conf import settings
from django.db import transaction
from prometheus_client import Counter

from common.observability import log_context
from common.observability.metrics import REGISTRY
from common.pages.page_updates import Message, publish_on_commit
from common.postgresql import prepared
from common.postgresql.compiled_queries import CompiledQuery, Parameter
from common.workers import wake_up
from delivery import lifecycle, page_updates, task_names
from delivery.lifecycle import Mode, RouteStatus, Trigger
from delivery.models import Delivery, Driver, Environment, Simulation, Stop, Transition
from delivery.models.delivery import TRANSITION_FIELDS
from delivery.pricing import percent_of
from delivery.webhooks import outbox

# The name is that of docs/monitoring.md.
_MOVES = Counter(
    "rota_moves", "Changes of deliveries, by trigger of the lifecycle", ["trigger", "environment"], registry=REGISTRY
)
# What an offer is, and what follows it.
_OFFERED_OR_TAKEN = (RouteStatus.AVAILABLE, RouteStatus.ACCEPTED, RouteStatus.CANCELLED, RouteStatus.EXPIRED)
# Of one stop, whose code the event's header tells.
_FAILURES = (Trigger.FAIL, Trigger.ATTEMPT, Trigger.RECALL)


class Details(TypedDict, total=False):
    """What the history says of some transitions.

    `made_at`: when the driver did it, if that is sent later.
    """

    point: str
    reason: str
    made_at: datetime | None


def lock(delivery: Delivery) -> Delivery:
    """The delivery with driver and stops, its row locked until the transaction ends.

    Driver and stops are read after the lock is held: joined to the locking query, they would be those from before it
    waited. NO KEY, because inserts of rows that refer to the delivery, such as queue items, must not wait.
    """
    log_context.note("delivery", delivery.pk)
    locked = lock_row(delivery.pk)
    if locked is None:
        raise Delivery.DoesNotExist
    return _with_parts(locked)


def lock_row(delivery_id: UUID) -> Delivery | None:
    """The delivery with this id, its row locked as by `lock`; None if there is none."""
    return _LOCKED.first(id=delivery_id)


def lock_unless_busy(delivery: Delivery) -> Delivery | None:
    """As `lock`, but None at once if somebody else has locked the row."""
    log_context.note("delivery", delivery.pk)
    free = Delivery.objects.select_for_update(no_key=True, skip_locked=True).filter(pk=delivery.pk)
    return next(map(_with_parts, free), None)


_LOCKED = CompiledQuery(lambda: Delivery.objects.select_for_update(no_key=True).filter(pk=Parameter("id")).order_by())
_DRIVER = CompiledQuery(lambda: Driver.objects.filter(pk=Parameter("id")).order_by())


def _with_parts(locked: Delivery) -> Delivery:
    if locked.driver_id is not None:
        locked.driver = _DRIVER.first(id=locked.driver_id)
    locked.driver_when_locked = locked.driver
    _ = locked.ordered_stops  # reads them
    return locked


def begin(delivery: Delivery, trigger: Trigger) -> tuple[Delivery, lifecycle.State]:
    """The locked delivery, and its state after the trigger, which names no point. Raises MoveRefused."""
    locked = lock(delivery)
    return locked, lifecycle.move(locked.state, trigger)


def apply(
    delivery: Delivery,
    after: lifecycle.State,
    trigger: Trigger,
    *,
    by: str,
    at: datetime,
    by_integrator: bool = False,
    **details: Unpack[Details],
) -> Delivery:
    """Apply a transition: write the state `after` to the locked delivery, with history and event.

    A driver who held the route until now is named in the history, and their phone is told. No other function writes
    statuses of an existing delivery.
    """
    named = delivery.stop_at(details.get("point", ""))
    _charge(delivery, after, trigger, named)
    visited_at = details.get("made_at") or at
    for stop in _judged(delivery, after, trigger, named):
        delivery.missed_deadline |= stop.deadline_at is not None and stop.deadline_at < visited_at
    delivery.has_failed_stop |= trigger in (Trigger.FAIL, Trigger.RECALL)
    changed = []
    for stop, status in zip(delivery.ordered_stops, after.orders, strict=True):
        if stop.status != status or stop is named:
            stop.status = status.value
            changed.append(stop)
    _write_stops(changed)
    delivery.status = after.delivery.value
    delivery.route_status = after.route.value
    delivery.closed_at = at if delivery.is_closed else None
    is_told = trigger not in lifecycle.WITHOUT_EVENT
    delivery.last_sequence += is_told
    delivery.save(update_fields=TRANSITION_FIELDS)
    entry = history(delivery, trigger.value, by=by, at=at, **details)
    former = delivery.driver_when_locked
    if former is not None and former.pk != delivery.driver_id:
        entry.former_driver = former
        publish_on_commit(page_updates.route_changed(delivery.pk, former.pk))
    entry.save(force_insert=True)
    log_context.note_change("delivery", delivery.pk, at)
    is_due = is_told and outbox.record(delivery=delivery, failed=named if trigger in _FAILURES else None, at=at)
    follow_up_on_commit(delivery, is_event_due=is_due)
    count_on_commit(trigger.value, delivery.environment)
    if trigger is not Trigger.EXPIRE:  # nobody was on the way
        wake_up.send_on_commit(task_names.RENEW_ARRIVALS)
    if delivery.environment == Environment.SANDBOX:
        goes_on = by_integrator or trigger is Trigger.OFFER
        Simulation.objects.after_move(delivery, by=by, goes_on=goes_on, at=at)
        if goes_on:
            wake_up.send_on_commit(task_names.ADVANCE_SIMULATIONS)
    return delivery


def _write_stops(stops: list[Stop]) -> None:
    columns = {name: [getattr(stop, name) for stop in stops] for name in ("id", *_STOP_COLUMNS)}
    prepared.execute(_WRITE_STOPS, columns)


_STOP_COLUMNS = ("status", "failure_code", "failure_reason", "tried_at")
_WRITE_STOPS = """
    UPDATE delivery_stop
    SET status = new.status, failure_code = new.failure_code, failure_reason = new.failure_reason,
        tried_at = new.tried_at
    FROM unnest(
        %(id)s::bigint[], %(status)s::text[], %(failure_code)s::text[], %(failure_reason)s::text[],
        %(tried_at)s::timestamptz[]
    ) AS new (id, status, failure_code, failure_reason, tried_at)
    WHERE delivery_stop.id = new.id
"""


def _charge(delivery: Delivery, after: lifecycle.State, trigger: Trigger, stop: Stop | None) -> None:
    """Add what this transition makes the account owe beside the price: a second attempt, or the way back to A.

    A cancellation has a fee of its own, which is instead of the price. In mode RETURN the price includes the way back,
    and in mode REVERSE the route always ends at A.
    """
    if trigger in (Trigger.DELIVER, Trigger.FAIL) and stop is not None and stop.tried_at is not None:
        attempt = percent_of(delivery.shipping_value, delivery.retry_percent)
        delivery.retry_fee = (delivery.retry_fee or Decimal(0)) + attempt
    turns_back = delivery.route_status == RouteStatus.COLLECTED and after.route is RouteStatus.RETURNING
    if turns_back and trigger is not Trigger.CANCEL and after.mode is Mode.DEFAULT:
        delivery.return_fee = percent_of(delivery.shipping_value, delivery.return_percent)


def _judged(delivery: Delivery, after: lifecycle.State, trigger: Trigger, named: Stop | None) -> list[Stop]:
    """The stops that the driver has visited for the first time with this transition, or need not visit any more.

    A second visit is not judged: the first one was by the stop's deadline or not.
    """
    ended = set(delivery.state.ahead).difference(after.ahead)
    untried = [stop for stop in delivery.ordered_stops if stop.index in ended and stop.tried_at is None]
    return [named] if named is not None and trigger is Trigger.ATTEMPT else untried


def history(delivery: Delivery, trigger: str, *, by: str, at: datetime, **details: Unpack[Details]) -> Transition:
    """The unsaved entry of the delivery's history about its latest change."""
    return Transition(
        delivery=delivery,
        trigger=trigger,
        status=delivery.status,
        route_status=delivery.route_status,
        by=by,
        at=at,
        **details,
    )


def follow_up_on_commit(delivery: Delivery, *, is_event_due: bool = False) -> None:
    """What follows a change once its transaction has committed.

    Open pages are told: those of the account, the board, and drivers' phones. A worker is woken if the change has an
    event to send now. An offer is pushed to the phones of drivers.
    """
    messages = _page_updates(delivery)
    if is_event_due:
        transaction.on_commit(partial(wake_up.send, outbox.OUTBOX.task, messages=messages), robust=True)
    else:
        publish_on_commit(*messages)
    if settings.VAPID_PRIVATE_KEY and delivery.route_status == RouteStatus.AVAILABLE:
        transaction.on_commit(partial(wake_up.start, task_names.PUSH_OFFER, delivery=str(delivery.pk)), robust=True)


def _page_updates(delivery: Delivery) -> list[Message]:
    messages = page_updates.delivery_changed(delivery.pk, delivery.integrator_id, delivery.environment)
    if delivery.driver_id is not None:
        messages.append(page_updates.route_changed(delivery.pk, delivery.driver_id))
    if delivery.route_status in _OFFERED_OR_TAKEN:
        messages.append(page_updates.offer_changed(delivery.pk, delivery.environment, delivery.vehicle_type))
    return messages


def count_on_commit(trigger: str, environment: str) -> None:
    """Count a change once this transaction has committed."""
    transaction.on_commit(partial(_MOVES.labels(trigger, environment).inc), robust=True)
