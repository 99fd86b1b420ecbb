"""What is told of an arrival time: when it is, or that it has passed or is of a driver who was not heard of since."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext

from common.brazil import formats
from delivery.models import ArrivalEstimate, DispatchRules


@dataclass(frozen=True)
class ArrivalTime:
    """An estimate as it is told at a moment. `last_signal_at`: when the driver was last heard of."""

    estimate: ArrivalEstimate
    last_signal_at: datetime
    told_at: datetime

    @property
    def is_late(self) -> bool:
        """Whether its time has passed, or the driver was last heard of so long ago that a position counts as old.

        The estimate says nothing about the driver then. board_list.js has the same rule.
        """
        is_old = self.last_signal_at < self.told_at - DispatchRules.current().position_fresh
        return is_old or self.estimate.latest < self.told_at

    @property
    def late_text(self) -> str:
        """What is told in place of the estimate if it is late."""
        time = formats.time_of_day(self.last_signal_at, at=self.told_at)
        return gettext("late, last signal %(time)s") % {"time": time}


def told(estimate: ArrivalEstimate, *, position_at: datetime | None, at: datetime) -> ArrivalTime:
    """`position_at`: of the driver's latest position, which may be newer than the one of the estimate."""
    then = as_computed(estimate)
    last = then.last_signal_at if position_at is None else max(then.last_signal_at, position_at)
    return ArrivalTime(estimate, last, at)


def as_computed(estimate: ArrivalEstimate) -> ArrivalTime:
    """What was told when it was computed."""
    return ArrivalTime(estimate, estimate.signal_at or estimate.computed_at, estimate.computed_at)
