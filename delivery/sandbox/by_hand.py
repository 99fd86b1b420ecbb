"""Moves of a sandbox delivery by hand, for integrators who test without waiting for the simulated driver."""

from collections.abc import Mapping
from datetime import datetime

from delivery import lifecycle
from delivery import simulation_steps as steps
from delivery.actions import deliveries, moves, proofs
from delivery.errors import MoveRefused
from delivery.lifecycle import RouteStatus, Trigger
from delivery.models import Delivery
from delivery.sandbox import simulated_driver

MOVES = (*(name for name, move in moves.MOVES.items() if move.in_sandbox), Trigger.EXPIRE.value)

_PROOF = {"receivedBy", "pin", "left"}


def allowed(delivery: Delivery) -> list[str]:
    """Names of the moves that the delivery's state allows now."""
    possible = {
        *moves.allowed(delivery),
        *lifecycle.allowed(RouteStatus(delivery.route_status), lifecycle.Mode(delivery.mode)),
    }
    return [name for name in MOVES if name in possible]


def perform(name: str, *, delivery: Delivery, fields: Mapping[str, str], by: str, at: datetime) -> Delivery:
    """Perform a move; the simulator then leaves the delivery alone. `fields` as in `moves.perform`.

    A simulated driver accepts, a failed point has a reason where neither it nor a code is given, and an offer expires
    before its deadline. With `receivedBy`, `pin` or `left` among the fields the driver delivers as with a phone: with
    the proof that the request asked for, or without a person where `left` is not empty.
    Raises the DeliveryError that says why the move is refused, KeyError for another name.
    """
    try:
        return _perform(name, delivery=delivery, fields=fields, by=by, at=at)
    except MoveRefused as error:
        raise _without_those_of_dispatchers(error) from error


def _without_those_of_dispatchers(error: MoveRefused) -> MoveRefused:
    """The refusal, which names only such moves as possible that an integrator can make."""
    possible = str(error.values.get("possible", "")).split(", ")
    values = {**error.values, "possible": ", ".join(name for name in possible if name in (*MOVES, Trigger.CANCEL))}
    return MoveRefused(error.message, **values) if error.values else error


def _perform(name: str, *, delivery: Delivery, fields: Mapping[str, str], by: str, at: datetime) -> Delivery:
    if name == Trigger.ACCEPT:
        return simulated_driver.accept(delivery=delivery, by=by, at=at)
    if name == Trigger.EXPIRE:
        return deliveries.expire_early(delivery=delivery, by=by, at=at)
    if name == Trigger.DELIVER and not _PROOF.isdisjoint(fields):
        point, received_by, pin = (fields.get(name, "").strip() for name in ("point", "receivedBy", "pin"))
        stop = deliveries.stop_at(delivery, point)
        left = bool(fields.get("left"))
        simulated_driver.take_photo(stop, is_needed=left, at=at)
        proof = simulated_driver.given(stop, received_by=received_by, pin=pin, left=left)
        return proofs.deliver(delivery=delivery, point=point, proof=proof, by=by, at=at)
    if not fields.get("code"):
        fields = {**fields, "reason": fields.get("reason", "").strip() or steps.FAILURE_REASON}
    return moves.perform(name, delivery=delivery, fields=fields, by=by, at=at)
