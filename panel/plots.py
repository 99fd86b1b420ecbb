"""Geometry of plots, in units of the SVG's view box: webhook attempts by hour, counts by day."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

WIDTH, LEFT, RIGHT = 720, 44, 12
TOP, HEIGHT = 14, 96  # of the upper field, attempts
GAP = 34
_HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class _Bar:
    x: float
    width: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2


class _Bars:
    """The edges of the field with bars."""

    width = WIDTH
    left = LEFT
    right_edge = WIDTH - RIGHT
    top = TOP
    base = TOP + HEIGHT


@dataclass(frozen=True)
class Hour(_Bar):
    """Attempts of one hour and the coordinates of its bars. `p95`: response time in ms, None without attempts."""

    start: datetime
    succeeded: int
    failed: int
    p95: float | None
    succeeded_y: float
    succeeded_height: float
    failed_y: float
    failed_height: float
    p95_y: float | None


@dataclass(frozen=True)
class Plot(_Bars):
    """Bars of attempts above, the line of the 95th percentile of the response time below."""

    hours: list[Hour]
    most: int
    slowest: int
    lines: list[str]

    lower_top = TOP + HEIGHT + GAP
    lower_base = TOP + HEIGHT + GAP + HEIGHT
    height = TOP + HEIGHT + GAP + HEIGHT + 24

    @property
    def succeeded(self) -> int:
        return sum(hour.succeeded for hour in self.hours)

    @property
    def failed(self) -> int:
        return sum(hour.failed for hour in self.hours)

    @property
    def total(self) -> int:
        return self.succeeded + self.failed

    @property
    def success_percent(self) -> float:
        """Share of the attempts that were answered with 2xx, in per cent; 100 without attempts."""
        return 100 * self.succeeded / self.total if self.total else 100.0


def of_hours(rows: Iterable[Mapping[str, Any]], *, until: datetime, count: int = 24) -> Plot:
    """The plot of the `count` hours up to the hour of `until`. `rows` are those of `WebhookAttempt.objects.by_hour`."""
    last = until.replace(minute=0, second=0, microsecond=0)
    found = {row["hour"]: row for row in rows}
    most = max((row["total"] for row in found.values()), default=0) or 1
    slowest = max((row["p95"] for row in found.values()), default=0) or 1
    step = (WIDTH - LEFT - RIGHT) / count
    hours = []
    for number in range(count):
        start = last - (count - 1 - number) * _HOUR
        row = found.get(start, {"total": 0, "successes": 0, "p95": None})
        succeeded, failed = row["successes"], row["total"] - row["successes"]
        succeeded_height, failed_height = HEIGHT * succeeded / most, HEIGHT * failed / most
        hours.append(
            Hour(
                start=start,
                succeeded=succeeded,
                failed=failed,
                p95=row["p95"],
                x=LEFT + number * step + step * 0.12,
                width=step * 0.76,
                succeeded_y=Plot.base - succeeded_height,
                succeeded_height=succeeded_height,
                failed_y=Plot.base - succeeded_height - failed_height,
                failed_height=failed_height,
                p95_y=None if row["p95"] is None else Plot.lower_base - HEIGHT * row["p95"] / slowest,
            )
        )
    return Plot(hours, most, round(slowest), _lines(hours))


def _lines(hours: list[Hour]) -> list[str]:
    """The `points` of the polylines; an hour without attempts ends one."""
    segments: list[list[str]] = [[]]
    for hour in hours:
        if hour.p95_y is None:
            segments.append([])
        else:
            segments[-1].append(f"{hour.middle:.1f},{hour.p95_y:.1f}")
    return [" ".join(segment) for segment in segments if segment]


@dataclass(frozen=True)
class Day(_Bar):
    """One day's count and the coordinates of its bar."""

    day: date
    count: int
    y: float
    height: float


@dataclass(frozen=True)
class DayPlot(_Bars):
    """Bars of counts by day."""

    days: list[Day]
    most: int

    height = TOP + HEIGHT + 24

    @property
    def total(self) -> int:
        return sum(day.count for day in self.days)


def of_days(counts: Mapping[date, int], *, until: date, count: int) -> DayPlot:
    """The plot of the `count` days up to `until`; a day that `counts` lacks has none."""
    days = [until - timedelta(days=count - 1 - number) for number in range(count)]
    most = max((counts.get(day, 0) for day in days), default=0) or 1
    step = (WIDTH - LEFT - RIGHT) / count
    bars = []
    for number, day in enumerate(days):
        height = HEIGHT * counts.get(day, 0) / most
        x = LEFT + number * step + step * 0.15
        bars.append(Day(x, step * 0.7, day, counts.get(day, 0), DayPlot.base - height, height))
    return DayPlot(bars, most)
