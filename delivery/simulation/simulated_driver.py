"""The simulated driver of the sandbox: moves deliveries that were requested with a test token."""

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from django.db import InterfaceError, OperationalError, transaction

from common import clock
from delivery.actions import deliveries, drivers, moves, proofs
from delivery.actions.proofs import NO_PROOF, Proof
from delivery.geo import distance
from delivery.lifecycle import Status, Trigger
from delivery.models import Delivery, DispatchRules, DropoffOptions, LatestPosition, ProofPhoto, Simulation, Stop
from delivery.simulation import steps
from delivery.simulation.steps import ACTOR, Outcome, Step

_log = logging.getLogger(__name__)
# Pause after the first failure of a step; each further one doubles it.
_FAILURE_PAUSE = timedelta(seconds=1)
_MOST_DOUBLINGS = 8
# Longer than the interval of Celery beat's wake-ups.
_LOOK_AHEAD = timedelta(seconds=7)
_LONGEST_SLEEP = 0.2  # seconds, after which a simulation that began meanwhile can be due


def advance_due(*, at: datetime) -> int:
    """Take one simulation of each account that has one due one step on, each in its own transaction.

    Returns how many were; call it again until there is none, so that accounts take turns. Several processes may do so
    at the same time: a simulation that another one has locked is skipped. A step that fails is rolled back, logged with
    the delivery's id, and repeated after a pause of 1 s to 4 min. A lost connection is raised.
    """
    return sum(_advance_one(integrator_id, at=at) for integrator_id in Simulation.objects.integrators_due(at=at))


def advance_until_none_is_due(is_stopping: Callable[[], bool]) -> None:
    """Advance what is due, and wait for what falls due shortly. Without simulations this is one query."""
    due_at = Simulation.objects.next_due()
    while due_at is not None and due_at - clock.now() <= _LOOK_AHEAD and not is_stopping():
        pause = (due_at - clock.now()).total_seconds()
        time.sleep(min(max(pause, 0), _LONGEST_SLEEP))
        now = clock.now()
        while not is_stopping() and advance_due(at=now):
            now = clock.now()
        due_at = Simulation.objects.next_due(after=now)  # not those that another process is advancing


@transaction.atomic
def accept(*, delivery: Delivery, by: str, at: datetime, position_age: timedelta = timedelta(0)) -> Delivery:
    """Have a simulated driver accept the route, about 1 km from A. Raises the errors of `deliveries.accept`."""
    locked = Delivery.objects.select_for_update(no_key=True).get(pk=delivery.pk)  # before the driver, as `accept` does
    driver = drivers.claim_simulated(locked, position_at=at - position_age)
    start = distance.away_from(
        locked.point,
        metres=min(steps.START_DISTANCE_M, DispatchRules.current().dispatch_radius_m / 2),
        bearing=locked.pk.int % 360,
    )
    drivers.set_position(driver=driver, point=start, accuracy_m=steps.ACCURACY_M, by=by, at=at - position_age)
    return deliveries.accept(delivery=locked, driver=driver, by=by, at=at)


def _advance_one(integrator_id: UUID, *, at: datetime) -> bool:
    """Advance one simulation of the account. Returns whether one was due."""
    simulation = None
    try:
        with transaction.atomic():
            simulation = Simulation.objects.lock_due(integrator_id, at=at)
            if simulation is not None:
                _advance(simulation, at=at)
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        if simulation is None:
            raise
        _log.exception("The simulated driver of delivery %s cannot go on", simulation.pk)
        _postpone(simulation, at=at)
    return simulation is not None


def _advance(simulation: Simulation, *, at: datetime) -> None:
    """Make the move at the end of a leg, or record a position on the way."""
    delivery = simulation.delivery
    step, ends_at = simulation.next_step(delivery), simulation.leg_ends_at
    if step is None or ends_at is None or simulation.leg != delivery.last_sequence:
        simulation.begin_leg(delivery, at=at)  # its integrator has cancelled it
    else:
        _record_position(simulation, delivery, step, ends_at=ends_at, at=at)
        if at < ends_at:
            simulation.plan_position(delivery, at=at)
        else:
            delivery = _make_move(simulation, delivery, step, at=at)
            if delivery.is_closed:  # which has deleted the simulation
                return
            simulation.begin_leg(delivery, at=at)
    simulation.failures = 0
    simulation.save(update_fields=["leg", "leg_ends_at", "due_at", "failures"])


def _record_position(
    simulation: Simulation, delivery: Delivery, step: Step, *, ends_at: datetime, at: datetime
) -> None:
    """Record where the driver is at this moment, on the straight way to the place of the next move."""
    if delivery.driver is None or simulation.outcome == Outcome.STALE:
        return
    latest = LatestPosition.objects.get(pk=delivery.driver.pk)
    remaining = ends_at - latest.recorded_at
    fraction = (at - latest.recorded_at) / remaining if remaining > timedelta(0) else 1.0
    place = delivery if step.index is None else delivery.ordered_stops[step.index]
    point = steps.between(latest.point, place.point, fraction)
    drivers.set_position(driver=delivery.driver, point=point, accuracy_m=steps.ACCURACY_M, by=ACTOR, at=at)


def _make_move(simulation: Simulation, delivery: Delivery, step: Step, *, at: datetime) -> Delivery:
    stop = None if step.index is None else delivery.ordered_stops[step.index]
    if stop is not None:  # whether it is delivered or fails
        take_photo(stop, at=at)
    match step.trigger:
        case Trigger.ACCEPT if delivery.offer_expires_at > at:
            age = steps.STALE_AGE if simulation.outcome == Outcome.STALE else timedelta(0)
            return accept(delivery=delivery, by=ACTOR, at=at, position_age=age)
        case Trigger.ACCEPT | Trigger.EXPIRE:
            return deliveries.expire_early(delivery=delivery, by="system: sandbox", at=at)
        case Trigger.DELIVER if stop is not None:
            return proofs.deliver(delivery=delivery, point=stop.label, proof=_proof(stop), by=ACTOR, at=at)
        case _:
            fields = {"point": stop.label if stop else "", "reason": steps.FAILURE_REASON}
            return moves.perform(step.trigger.value, delivery=delivery, fields=fields, by=ACTOR, at=at)


def _postpone(simulation: Simulation, *, at: datetime) -> None:
    failures = min(simulation.failures + 1, _MOST_DOUBLINGS + 1)
    pause = _FAILURE_PAUSE * 2 ** (failures - 1)
    Simulation.objects.filter(pk=simulation.pk).update(failures=failures, due_at=at + pause)


def take_photo(stop: Stop, *, at: datetime) -> None:
    """Take the photo of an open stop, once, if the request asked for it. Raises the errors of `proofs.add`."""
    if stop.status == Status.COLLECTED and DropoffOptions.of(stop).needs_photo:
        proofs.add_simulated(stop, at=at)


def _proof(stop: Stop) -> Proof:
    """What the request asked for: the photo that was taken, a name, and the right PIN."""
    options = DropoffOptions.of(stop)
    if not (options.needs_photo or options.needs_pin):
        return NO_PROOF
    return given(stop, received_by=steps.RECEIVER_NAME, pin=options.pin)


def given(stop: Stop, *, received_by: str, pin: str) -> Proof:
    """The photo that was taken, with what the caller says was told at the door."""
    return Proof(received_by=received_by, pin=pin, photos=(ProofPhoto.simulated_upload(stop.pk),))
