"""Drivers for dispatchers: what they hold, where they go next, who is on duty, since when, and how many are on time."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from uuid import UUID

from django.db.models import Count, F, IntegerField, OuterRef, Prefetch, Q, Subquery
from django.db.models.functions import Coalesce
from django.utils.translation import gettext

from common import clock
from common.brazil import formats
from delivery import arrival_times, lifecycle
from delivery.arrival_times import ArrivalTime
from delivery.models import ArrivalEstimate, Delivery, Driver, LatestPosition, Stop
from delivery.models.delivery import ON_TIME
from delivery.models.driver import DriverQuerySet

_MOST_SHOWN = 200
_COUNTED_DAYS = timedelta(days=30)


@dataclass(frozen=True)
class AtWork:
    """A driver of `with_work`, and the moment `at` which is now."""

    driver: Driver
    at: datetime

    @property
    def pk(self) -> UUID:
        return self.driver.pk

    @property
    def route(self) -> Delivery | None:
        return self.driver.held[0] if self.driver.held else None  # type: ignore[attr-defined]  # prefetched

    @property
    def on_duty_since(self) -> datetime | None:
        """None for a driver who is off duty, and where the beginning is not known. By a query."""
        latest = self.driver.duty_changes.order_by("-at", "-pk").first() if self.driver.on_duty else None
        return latest.at if latest and latest.on_duty else None

    @property
    def late_by(self) -> timedelta | None:
        """How long the next step has been due; None if it is not late."""
        return self.route.lateness(at=self.at) if self.route else None

    @property
    def last_signal(self) -> str:
        """When the driver was last heard of, if that says little about where the driver is now; else empty."""
        latest: LatestPosition | None = getattr(self.driver, "latest", None)
        if latest is None or latest.is_fresh(at=self.at):
            return ""
        return gettext("last signal %(time)s") % {"time": formats.time_of_day(latest.recorded_at, at=self.at)}

    @cached_property
    def next_place(self) -> Delivery | Stop | None:
        """Where the driver has to be next; None without a route."""
        return self.route.next_place if self.route else None

    @property
    def next_arrival(self) -> ArrivalTime | None:
        """When the driver is expected there; None at A."""
        estimate: ArrivalEstimate | None = getattr(self.next_place, "arrival", None)
        if estimate is None:
            return None
        latest: LatestPosition | None = getattr(self.driver, "latest", None)
        return arrival_times.told(estimate, position_at=latest.recorded_at if latest else None, at=self.at)


def with_work(drivers: DriverQuerySet, *, at: datetime) -> DriverQuerySet:
    """The drivers with `latest`, `held` and `today`: how many routes have ended since midnight.

    The route that is held has `due_at`, and stops with `arrival`.
    """
    ended = Delivery.objects.filter(driver=OuterRef("pk"), closed_at__gte=clock.midnight(at)).order_by()
    today = ended.values("driver").annotate(number=Count("pk")).values("number")
    stops = Prefetch("stops", Stop.objects.select_related("arrival"))
    held = Delivery.objects.filter(route_status__in=lifecycle.HELD)
    routes = Prefetch("deliveries", held.with_due().prefetch_related(stops), to_attr="held")
    return (
        drivers.annotate(today=Coalesce(Subquery(today, output_field=IntegerField()), 0))
        .select_related("latest")
        .prefetch_related(routes)
    )


def on_duty(environment: str, *, search: str, at: datetime) -> list[AtWork]:
    """Drivers on duty or with a route, by name or phone: those without a route first. At most 200."""
    held = Delivery.objects.filter(route_status__in=lifecycle.HELD)
    drivers = (
        with_work(Driver.objects.filter(active=True, environment=environment), at=at)
        .filter(Q(on_duty=True) | Q(pk__in=held.values("driver")))
        .matching(search)
        .annotate(route_status=Subquery(held.filter(driver=OuterRef("pk")).values("route_status")[:1]))
        .order_by(F("route_status").asc(nulls_first=True), "name", "pk")
    )
    return [AtWork(driver, at) for driver in drivers[:_MOST_SHOWN]]


def on_time(driver: Driver, *, at: datetime) -> dict[str, int]:
    """How many routes the driver has finished in the last 30 days (`finished`), and how many on time."""
    finished = driver.deliveries.filter(
        closed_at__gte=at - _COUNTED_DAYS, route_status=lifecycle.RouteStatus.FINISHED, cancelled_at=None
    )
    return finished.with_due().aggregate(finished=Count("pk"), on_time=Count("pk", filter=ON_TIME))
