"""What the simulated driver of a sandbox delivery does next, and how long it takes. No database, no clock.

The next step follows from the delivery's state alone, so a cancellation or a restart needs no plan to be changed.
Durations are in seconds at speed 1; a higher speed divides them.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from common.simulation import pace
from delivery.geo.distance import Point
from delivery.lifecycle import HELD, OPEN, Mode, RouteStatus, State, Status, Trigger

# The actor of its moves in histories.
ACTOR = "sandbox simulator"
# Stored and answered by the API as they are; pages translate them.
DRIVER_NAME = "Simulated driver"
RECEIVER_NAME = "Simulated receiver"
FAILURE_REASON = "Simulated failure: nobody was there."

_ACCEPT_SECONDS = 10
_EXPIRE_SECONDS = 15
_COLLECT_SECONDS = 30
# For all drop-offs together, in equal parts.
_DROPOFFS_SECONDS = 80
_RETURN_SECONDS = 30
# How long the driver of a delivery with outcome CANCEL_LATE waits for the cancellation.
CANCELLATION_SECONDS = 1800

_POSITION_SECONDS = 4

ACCURACY_M = 5.0
# From A, where the driver is at its acceptance.
START_DISTANCE_M = 1000.0
# Age of the only position of a delivery with outcome STALE, at its acceptance.
STALE_AGE = timedelta(minutes=5)


class Outcome(StrEnum):
    """How a simulated delivery ends."""

    DELIVERED = "delivered"
    FAIL = "fail"  # the first drop-off fails, with policy RETRY twice
    NO_DRIVER = "nodriver"  # the offer expires
    RETURN = "return"  # every drop-off fails, in mode REVERSE every pickup
    # Waits after pickup for a cancellation; without one every drop-off fails, or the driver brings everything to A.
    CANCEL_LATE = "cancel-late"
    STALE = "stale"  # delivered, without positions after the acceptance


_MANUAL = "manual"
# A request with it is refused as one outside the hours of service. The sandbox is open at every hour otherwise.
CLOSED_PREFIX = pace.prefix("closed")
# Beginnings of the first drop-off's `externalId` that choose what happens.
PREFIXES = (*(pace.prefix(name) for name in (*Outcome, _MANUAL)), CLOSED_PREFIX)


@dataclass(frozen=True)
class Step:
    """The next move: its trigger, the index of the stop where it is made at one, and the seconds until it is made.

    `is_wait`: the driver stays where they are for these seconds, at every speed.
    """

    trigger: Trigger
    seconds: float
    index: int | None = None
    is_wait: bool = False


def outcome_of(external_id: str) -> Outcome | None:
    """Outcome that the first drop-off's `externalId` asks for by its prefix, such as `sim-fail-`.

    DELIVERED without such a prefix. None for `sim-manual-`: nothing is simulated.
    """
    if external_id.startswith(pace.prefix(_MANUAL)):
        return None
    asked = (outcome for outcome in Outcome if external_id.startswith(pace.prefix(outcome)))
    return next(asked, Outcome.DELIVERED)


def next_step(state: State, outcome: Outcome) -> Step | None:
    """The next move of a delivery in this state. None when the delivery has ended."""
    if state.route is RouteStatus.AVAILABLE:
        expires = outcome is Outcome.NO_DRIVER
        return Step(Trigger.EXPIRE, _EXPIRE_SECONDS) if expires else Step(Trigger.ACCEPT, _ACCEPT_SECONDS)
    if state.ahead and state.route in HELD:
        return _next_in_reverse(state, outcome) if state.mode is Mode.REVERSE else _next_outward(state, outcome)
    if state.route is RouteStatus.RETURNING:
        waits = outcome is Outcome.CANCEL_LATE and Status.COLLECTED in state.orders  # in mode REVERSE
        return Step(Trigger.RETURN, CANCELLATION_SECONDS if waits else _RETURN_SECONDS, is_wait=waits)
    return None


def _next_outward(state: State, outcome: Outcome) -> Step:
    if state.route is RouteStatus.ACCEPTED:
        return Step(Trigger.COLLECT, _COLLECT_SECONDS)
    has_been_at_a_stop = state.tried or any(order not in OPEN for order in state.orders)
    if outcome is Outcome.CANCEL_LATE and not has_been_at_a_stop:
        return Step(Trigger.FAIL, CANCELLATION_SECONDS, 0, is_wait=True)
    fails = outcome in (Outcome.RETURN, Outcome.CANCEL_LATE) or (outcome is Outcome.FAIL and state.ahead[0] == 0)
    return _at_stop(state, Trigger.FAIL if fails else Trigger.DELIVER)


def _next_in_reverse(state: State, outcome: Outcome) -> Step:
    fails = outcome is Outcome.RETURN or (outcome is Outcome.FAIL and state.ahead[0] == 0)
    return _at_stop(state, Trigger.FAIL if fails else Trigger.COLLECT)


def _at_stop(state: State, trigger: Trigger) -> Step:
    return Step(trigger, _DROPOFFS_SECONDS / len(state.orders), state.ahead[0])


def duration(step: Step, *, speed: float) -> timedelta:
    """Real time that the step takes."""
    return pace.duration(step.seconds, speed=1 if step.is_wait else speed)


def until_next_position(remaining: timedelta, *, speed: float) -> timedelta:
    """Time until the next position is recorded while a leg of the trip takes `remaining` more, which it never exceeds.

    Positions are at least `pace.SHORTEST` apart, the one at the end of the leg included.
    """
    pause = pace.duration(_POSITION_SECONDS, speed=speed)
    return pause if remaining - pause >= pace.SHORTEST else remaining


def between(start: Point, end: Point, fraction: float) -> Point:
    """The point at this fraction (0 to 1) of the straight line in degrees, the short way around the globe."""
    if fraction >= 1:
        return end  # without rounding
    part = max(fraction, 0.0)
    eastward = (end.longitude - start.longitude + 540) % 360 - 180
    longitude = (start.longitude + eastward * part + 540) % 360 - 180
    return Point(start.latitude + (end.latitude - start.latitude) * part, longitude)
