"""When goods can be collected and delivered, as a request asks for it, and how early a route is offered. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

FARTHEST = timedelta(days=30)
# From the latest moment at which something can be ready.
_LONGEST = timedelta(days=1)
_SHORTEST_PICKUP = timedelta(minutes=10)
_SOONEST_PICKUP = timedelta(minutes=20)
_SHORTEST_DROPOFF = timedelta(minutes=20)
# After the goods are ready, where the pickup has no deadline: a driver waits no longer with them.
_LONGEST_WAIT = timedelta(hours=2)
# A route is offered at most so early before the goods are ready.
GREATEST_LEAD = timedelta(minutes=60)
# How far a caller's clock may be behind. Local time that is sent as UTC is hours off.
_CLOCK_ERROR = timedelta(minutes=5)


@dataclass(frozen=True)
class Window:
    """From when and until when something can be done at a place. None: not asked for."""

    ready_at: datetime | None = None
    deadline_at: datetime | None = None

    def __bool__(self) -> bool:
        return self != NO_WINDOW


NO_WINDOW = Window()


class Code(StrEnum):
    """What is wrong with a window."""

    TOO_FAR_AHEAD = "too_far_ahead"
    WINDOW_TOO_SHORT = "window_too_short"
    WINDOWS_CONTRADICT = "windows_contradict"


@dataclass(frozen=True)
class Fault:
    """A moment of a request that is refused. `dropoff`: the index of its drop-off; None: a moment of the pickup.

    `text` is in English; pages in another language tell the fault by its code.
    """

    dropoff: int | None
    is_deadline: bool
    code: Code
    text: str


_TOO_FAR = "At most 30 days ahead."
_DEADLINE_TOO_FAR = "At most 31 days ahead."
_PICKUP_TOO_SHORT = "The deadline of the pickup is at least 10 minutes after it is ready, and 20 minutes from now."
_READY_TOO_LATE = (
    "What is delivered is ready before the deadline of the pickup, and without one at most 2 hours after the pickup is "
    "ready."
)
_DROPOFF_TOO_EARLY = (
    "The deadline of a drop-off is at least 20 minutes after it is ready, and not before that of the pickup."
)


def faults(pickup: Window, dropoffs: Sequence[Window], *, is_reverse: bool, at: datetime) -> Iterator[Fault]:
    """What is refused about the windows of a request that is made at `at`, in mode REVERSE if `is_reverse`.

    What is ready already is ready now. A drop-off without `ready_at` is ready with the pickup.
    """
    ready = _ready(first_ready(pickup, dropoffs, is_reverse=is_reverse) or at, at)
    yield from _of_pickup(pickup, ready, at)
    for index, window in enumerate(dropoffs):
        yield from _of_dropoff(index, window, pickup, ready, at)


def in_the_past(windows: Sequence[Window], *, at: datetime) -> list[int]:
    """The indexes of the windows whose `ready_at` has passed at `at`, and so counts as now."""
    earliest = at - _CLOCK_ERROR
    return [index for index, window in enumerate(windows) if window.ready_at is not None and window.ready_at < earliest]


def first_ready(pickup: Window, dropoffs: Sequence[Window], *, is_reverse: bool) -> datetime | None:
    """When a driver can begin the route. None: at once.

    It begins at A, and in mode REVERSE at the first drop-off, whose moment counts as that of the pickup does.
    """
    begins = [pickup.ready_at, dropoffs[0].ready_at] if is_reverse else [pickup.ready_at]
    return max(filter(None, begins), default=None)


def _ready(moment: datetime, at: datetime) -> datetime:
    """The moment between now and the farthest one that may be asked for, so that no sum with it overflows."""
    return min(max(moment, at), at + FARTHEST)


def _of_pickup(pickup: Window, ready: datetime, at: datetime) -> Iterator[Fault]:
    if pickup.ready_at is not None and pickup.ready_at > at + FARTHEST:
        yield Fault(None, False, Code.TOO_FAR_AHEAD, _TOO_FAR)
    if pickup.deadline_at is None:
        return
    if pickup.deadline_at > at + FARTHEST + _LONGEST:
        yield Fault(None, True, Code.TOO_FAR_AHEAD, _DEADLINE_TOO_FAR)
    elif pickup.deadline_at < max(ready + _SHORTEST_PICKUP, at + _SOONEST_PICKUP):
        yield Fault(None, True, Code.WINDOW_TOO_SHORT, _PICKUP_TOO_SHORT)


def _of_dropoff(index: int, window: Window, pickup: Window, ready: datetime, at: datetime) -> Iterator[Fault]:
    begins = _ready(window.ready_at or ready, at)
    if window.ready_at is not None and window.ready_at > at + FARTHEST:
        yield Fault(index, False, Code.TOO_FAR_AHEAD, _TOO_FAR)
    elif window.ready_at is not None and begins > (pickup.deadline_at or ready + _LONGEST_WAIT):
        yield Fault(index, False, Code.WINDOWS_CONTRADICT, _READY_TOO_LATE)
    if window.deadline_at is None:
        return
    if window.deadline_at > at + FARTHEST + _LONGEST:
        yield Fault(index, True, Code.TOO_FAR_AHEAD, _DEADLINE_TOO_FAR)
    elif window.deadline_at < max(begins + _SHORTEST_DROPOFF, pickup.deadline_at or ready + _SHORTEST_PICKUP):
        yield Fault(index, True, Code.WINDOWS_CONTRADICT, _DROPOFF_TOO_EARLY)


def lead(seconds: float, *, least: timedelta) -> timedelta:
    """How long before the goods are ready a route is offered. `seconds`: those a driver takes to where it begins."""
    return min(max(timedelta(seconds=seconds), least), GREATEST_LEAD)


def not_before(moments: Sequence[datetime], ready: Sequence[datetime | None]) -> list[datetime]:
    """The moments at which a driver reaches places one after the other, who waits at each until it is ready."""
    waited, found = timedelta(0), []
    for arrival, opens in zip(moments, ready, strict=True):
        reached = arrival + waited
        if opens is not None and opens > reached:
            waited += opens - reached
            reached = opens
        found.append(reached)
    return found
