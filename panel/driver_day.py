"""A day of a driver: hours, routes with their moments, the gaps between them, and the way; how many were on time."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta

from django.db.models import Count, Prefetch, Q
from django.utils import timezone

from delivery import duty, lifecycle
from delivery.duty import Duty
from delivery.models import Delivery, Driver, Transition
from delivery.models.delivery import ON_TIME
from panel import maps

_DAY = timedelta(days=1)
_MOST_ROUTES = 100
# Positions of a day that are read, and the pause between two that are shown.
_MOST_POSITIONS = 20_000
_PAUSE = timedelta(seconds=30)
# A pause between two routes that the timeline names.
_SHORTEST_GAP = timedelta(minutes=10)
_COUNTED_DAYS = 30


@dataclass(frozen=True)
class Route:
    """`began` and `ended`: of the driver's part; it goes on without an end.

    `free_since`: the end of the route before, if the gap between them is worth a line.
    """

    delivery: Delivery
    changes: Sequence[Transition]
    began: datetime
    ended: datetime | None
    free_since: datetime | None


@dataclass(frozen=True)
class Day:
    """`way`: latitudes and longitudes in order. `first_seen` and `last_seen`: the moments of its ends."""

    day: date
    duty: Duty
    routes: list[Route] = field(default_factory=list)
    way: list[tuple[float, float]] = field(default_factory=list)
    first_seen: datetime | None = None
    last_seen: datetime | None = None

    @property
    def before(self) -> date:
        return self.day - _DAY

    @property
    def after(self) -> date | None:
        return self.day + _DAY if self.day < timezone.localdate() else None

    @property
    def map(self) -> dict[str, object]:
        """For `driver_day.js`: the way, and the points of the routes."""
        routes = [maps.route(route.delivery, None) for route in self.routes]
        return {"way": self.way, "points": [point for route in routes for point in route["points"]]}


def of(driver: Driver, day: date, *, at: datetime) -> Day:
    """The day in the service's time zone. Routes belong to the day they ended on; one that is held, to today."""
    start, end = (datetime.combine(each, time(), timezone.get_current_timezone()) for each in (day, day + _DAY))
    within = Q(closed_at__gte=start, closed_at__lt=end)
    if day == timezone.localdate():
        within |= Q(route_status__in=lifecycle.HELD)
    changes = Prefetch("transitions", Transition.objects.order_by("id"))
    found = driver.deliveries.filter(within).select_related("integrator").prefetch_related("stops", changes)
    seen = driver.positions.filter(recorded_at__gte=start, recorded_at__lt=end).order_by("recorded_at")
    positions = list(seen.values_list("latitude", "longitude", "recorded_at")[:_MOST_POSITIONS])
    way, shown_at = [], None
    for latitude, longitude, seen_at in positions:
        if shown_at is None or seen_at - shown_at >= _PAUSE:
            way.append((latitude, longitude))
            shown_at = seen_at
    ends = (positions[0][2], positions[-1][2]) if positions else (None, None)
    hours = duty.of_days(driver, [day], at=at)[day]
    return Day(day, hours, _routes(list(found.order_by("closed_at", "pk")[:_MOST_ROUTES])), way, *ends)


def _routes(deliveries: list[Delivery]) -> list[Route]:
    found: list[Route] = []
    for delivery in deliveries:
        changes = list(delivery.transitions.all())
        taken = [number for number, change in enumerate(changes) if change.trigger in {"accept", "reassign"}]
        own = changes[taken[-1] :] if taken else changes
        before = found[-1].ended if found else None
        began = own[0].happened_at
        is_gap = before is not None and began - before >= _SHORTEST_GAP
        found.append(Route(delivery, own, began, delivery.closed_at, before if is_gap else None))
    return found


def on_time(driver: Driver, *, at: datetime) -> dict[str, int]:
    """How many routes the driver has finished in the last 30 days (`finished`), and how many on time."""
    finished = driver.deliveries.filter(
        closed_at__gte=at - _COUNTED_DAYS * _DAY, route_status=lifecycle.RouteStatus.FINISHED, cancelled_at=None
    )
    return finished.with_due().aggregate(finished=Count("pk"), on_time=Count("pk", filter=ON_TIME))
