"""The simulated driver of the sandbox: moves deliveries that were requested with a test token."""

from datetime import datetime, timedelta

from django.db import transaction

from common.simulation.rows import Simulator
from delivery import simulation_steps as steps
from delivery.actions import deliveries, drivers, moves, proofs
from delivery.actions.proofs import NO_PROOF, Proof
from delivery.geo import distance
from delivery.lifecycle import Status, Trigger
from delivery.models import Delivery, DispatchRules, DropoffOptions, LatestPosition, ProofPhoto, Simulation, Stop
from delivery.simulation_steps import ACTOR, Outcome, Step


@transaction.atomic
def accept(*, delivery: Delivery, by: str, at: datetime, position_age: timedelta = timedelta(0)) -> Delivery:
    """Have a simulated driver accept the route, 1 km from where it begins. Raises the errors of `deliveries.accept`."""
    locked = Delivery.objects.select_for_update(no_key=True).get(pk=delivery.pk)  # before the driver, as `accept` does
    driver = drivers.claim_simulated(locked, position_at=at - position_age)
    start = distance.away_from(
        locked.first_place.point,
        metres=min(steps.START_DISTANCE_M, DispatchRules.current().dispatch_radius_m / 2),
        bearing=locked.pk.int % 360,
    )
    drivers.set_position(driver=driver, point=start, accuracy_m=steps.ACCURACY_M, by=by, at=at - position_age)
    return deliveries.accept(delivery=locked, driver=driver, by=by, at=at)


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


def take_photo(stop: Stop, *, is_needed: bool = False, at: datetime) -> None:
    """Take the photo of an open stop, once, if it is needed or the request asked for it.

    Raises the errors of `proofs.add`.
    """
    if stop.status == Status.COLLECTED and (is_needed or DropoffOptions.of(stop).needs_photo):
        proofs.add_simulated(stop, at=at)


def _proof(stop: Stop) -> Proof:
    """What the request asked for: the photo that was taken, a name, and the right PIN."""
    options = DropoffOptions.of(stop)
    if not (options.needs_photo or options.needs_pin):
        return NO_PROOF
    return given(stop, received_by=steps.RECEIVER_NAME, pin=options.pin)


def given(stop: Stop, *, received_by: str, pin: str, left: bool = False) -> Proof:
    """The photo that was taken, with what the caller says was told at the door, or that nobody was there."""
    return Proof(received_by=received_by, pin=pin, photos=(ProofPhoto.simulated_upload(stop.pk),), left=left)


_SIMULATOR = Simulator(Simulation, _advance, doing="The simulated driver of delivery")
advance_due, advance_until_none_is_due = _SIMULATOR.advance_due, _SIMULATOR.advance_until_none_is_due
