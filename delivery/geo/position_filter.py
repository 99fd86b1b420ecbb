"""Which of the positions that a phone sends can be true. Pure.

Phones send wrong positions: from a network's or a proxy's location, from before they had a fix, at 0,0.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from delivery.geo import service_area
from delivery.geo.distance import Point, metres, metres_at_most

# A clock may be ahead by so much, and by less than a second in the phone's own measurement.
_AHEAD = timedelta(seconds=5)
_OLDEST = timedelta(hours=24)
# Positions are taken to have been sent when they arrive. So their moments are late by the time that this took.
_LONGEST_WAY = timedelta(seconds=5)
# Less exact ones say nothing about the way.
_LEAST_ACCURATE_M = 1000.0
# A jump from a position that is older than this is believed: the older one may be the wrong one.
_ANCHOR_AGE = timedelta(minutes=10)
# Satellites and the networks around a phone find it within so much; its radio cell alone does not.
_EXACT_M = 100.0
# So many consistent positions that contradict the last one that was believed are believed instead of it.
_MAJORITY = 3
_SECONDS_PER_HOUR = 3600


class Reason(StrEnum):
    """Why a position was dropped."""

    IMPOSSIBLE = "impossible"  # no coordinates on earth
    OUTSIDE = "outside_service_area"
    FUTURE = "future"
    TOO_OLD = "too_old"
    INACCURATE = "inaccurate"
    TOO_FAST = "too_fast"  # a jump, or a speed that no vehicle has
    OUT_OF_ORDER = "out_of_order"  # not later than the one before, or sent before


@dataclass(frozen=True)
class SentPosition:
    """A position as a phone sends it; `accuracy_m` is the radius in which it is probably.

    `told_at`: its moment as the phone told it. When a phone sends a position again, `at` may differ by the time that
    the requests took; this one is the same.
    """

    point: Point
    at: datetime
    accuracy_m: float | None = None
    told_at: datetime | None = None

    @property
    def is_exact(self) -> bool:
        return (self.accuracy_m or 0) <= _EXACT_M


@dataclass(frozen=True)
class Limits:
    """`area`: boxes of the service area."""

    area: list[service_area.Box]
    kmh: float


def plausible(
    sent: Sequence[SentPosition], *, last: SentPosition | None, limits: Limits, at: datetime
) -> tuple[list[SentPosition], Counter[Reason]]:
    """The positions that are believed, oldest first, and the number of others by reason.

    `sent`: in the order in which the phone heard of them. `last`: the position before these that was believed.
    `at`: now, by the clock that the positions' moments are from.

    Of two positions that contradict each other the exact one is believed, and of two that are alike the earlier one,
    until three in a row agree that it was wrong.
    """
    kept: list[SentPosition] = []
    repeated = _repeated(sent, last)
    dropped = Counter({Reason.OUT_OF_ORDER: repeated})
    agreeing: list[SentPosition] = []
    for position in sorted(sent[repeated:], key=lambda each: each.at):
        before = kept[-1] if kept else last
        reason = _alone(position, limits, at) or _after(before, position, limits)
        if reason is None:
            kept.append(_after_moment(before, position))
            agreeing = []
            continue
        dropped[reason] += 1
        if reason is Reason.TOO_FAST and before and (position.is_exact or not before.is_exact):
            agrees = agreeing and _after(agreeing[-1], position, limits) is None
            agreeing = [*agreeing, position] if agrees else [position]
        if len(agreeing) == _MAJORITY:
            kept += agreeing
            dropped[Reason.TOO_FAST] -= _MAJORITY
            agreeing = []
    return kept, +dropped


def _repeated(sent: Sequence[SentPosition], last: SentPosition | None) -> int:
    """How many of the first were sent before, because their answer was lost: those up to the last believed one."""
    if last is None or last.told_at is None:
        return 0
    return max((number for number, each in enumerate(sent, 1) if each.told_at == last.told_at), default=0)


def _alone(position: SentPosition, limits: Limits, at: datetime) -> Reason | None:
    """What is wrong with a position whatever was before it."""
    point = position.point
    if not point.is_on_earth:
        return Reason.IMPOSSIBLE
    if not service_area.serves(limits.area, point.latitude, point.longitude):
        return Reason.OUTSIDE
    if position.at > at + _AHEAD:
        return Reason.FUTURE
    if position.at < at - _OLDEST:
        return Reason.TOO_OLD
    return Reason.INACCURATE if (position.accuracy_m or 0) > _LEAST_ACCURATE_M else None


def _after(last: SentPosition | None, position: SentPosition, limits: Limits) -> Reason | None:
    """What is wrong with a position after the last one that was believed."""
    if last is None:
        return None
    passed = _passed(last, position)
    if passed <= timedelta(0):
        return Reason.OUT_OF_ORDER
    if passed > _ANCHOR_AGE:
        return None
    if position.is_exact and not last.is_exact:
        return None
    # As far as it can have gone at most, if both are inexact towards each other.
    reachable = limits.kmh * 1000 / _SECONDS_PER_HOUR * passed.total_seconds()
    reachable += (last.accuracy_m or 0) + (position.accuracy_m or 0)
    # The exact distance takes twenty times as long to compute, and is seldom needed.
    is_near = metres_at_most(last.point, position.point) <= reachable
    return None if is_near or metres(last.point, position.point) <= reachable else Reason.TOO_FAST


def _passed(last: SentPosition, position: SentPosition) -> timedelta:
    """The time between them: by the phone's moments, if the way of the two requests explains the difference."""
    passed = position.at - last.at
    if position.told_at is None or last.told_at is None:
        return passed
    told = position.told_at - last.told_at
    return told if timedelta(0) < told - passed <= _LONGEST_WAY else passed


def _after_moment(last: SentPosition | None, position: SentPosition) -> SentPosition:
    """The position with a moment after that of `last`, so that it becomes the driver's latest."""
    if last is None or position.at > last.at:
        return position
    return replace(position, at=last.at + timedelta(microseconds=1))
