"""Drivers for dispatchers: who is on duty and where they go next, and who could take each of several routes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from math import dist, inf

from django.db.models import Count, F, IntegerField, OuterRef, Prefetch, Q, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from delivery import lifecycle
from delivery.models import Delivery, DispatchRules, Driver, LatestPosition, Stop
from delivery.models.bases import cartesian
from panel.board import Card

_MOST_SHOWN = 200
# Free drivers, of whom routes are shared out: those with the newest positions.
_MOST_FREE = 1000
_CANDIDATES = 3  # for each route


@dataclass(frozen=True)
class OnDuty:
    """A driver with `latest`, `held` and `today`: how many routes have ended since midnight."""

    driver: Driver

    @property
    def route(self) -> Delivery | None:
        return self.driver.held[0] if self.driver.held else None  # type: ignore[attr-defined]  # prefetched

    @cached_property
    def next_label(self) -> str:
        """Where the driver has to be next: A, B, C or D; empty without a route."""
        return Card(self.route, {}, []).next_label if self.route else ""

    @property
    def next_place(self) -> Delivery | Stop | None:
        return (self.route.stop_at(self.next_label) or self.route) if self.route else None


def on_duty(environment: str, *, search: str, at: datetime) -> list[OnDuty]:
    """Drivers on duty or with a route, by name or phone: those without a route first. At most 200."""
    midnight = timezone.localtime(at).replace(hour=0, minute=0, second=0, microsecond=0)
    ended = Delivery.objects.filter(driver=OuterRef("pk"), closed_at__gte=midnight).order_by()
    today = ended.values("driver").annotate(number=Count("pk")).values("number")
    held = Delivery.objects.filter(route_status__in=lifecycle.HELD)
    stops = Prefetch("stops", Stop.objects.select_related("arrival"))
    drivers = (
        Driver.objects.filter(active=True, environment=environment)
        .filter(Q(on_duty=True) | Q(pk__in=held.values("driver")))
        .matching(search)
        .annotate(
            route_status=Subquery(held.filter(driver=OuterRef("pk")).values("route_status")[:1]),
            today=Coalesce(Subquery(today, output_field=IntegerField()), 0),
        )
        .select_related("latest")
        .prefetch_related(Prefetch("deliveries", held.prefetch_related(stops), to_attr="held"))
        .order_by(F("route_status").asc(nulls_first=True), "name", "pk")
    )
    return [OnDuty(driver) for driver in drivers[:_MOST_SHOWN]]


@dataclass(frozen=True)
class Candidate:
    """`metres`: from the latest position to A, None without one."""

    driver: Driver
    metres: float | None


def candidates(
    deliveries: Sequence[Delivery], environment: str, *, at: datetime
) -> list[tuple[Delivery, list[Candidate]]]:
    """The deliveries, each with its three nearest free drivers, without those who are the first of one before it.

    By one query, with `latest`. Whether a driver may take the route is decided by the action.
    """
    free = (
        Driver.objects.filter(active=True, on_duty=True, environment=environment)
        .exclude(deliveries__route_status__in=lifecycle.HELD)
        .select_related("latest")
        .order_by(F("latest__recorded_at").desc(nulls_last=True))
    )
    left, found = list(free[:_MOST_FREE]), []
    for delivery in deliveries:
        nearest = _nearest(delivery, left, at=at)
        left = [driver for driver in left if driver is not (nearest[0].driver if nearest else None)]
        found.append((delivery, nearest))
    return found


def _nearest(delivery: Delivery, drivers: Sequence[Driver], *, at: datetime) -> list[Candidate]:
    rules, a, found = DispatchRules.current(), cartesian(delivery.point), []
    for driver in drivers:
        latest: LatestPosition | None = getattr(driver, "latest", None)
        metres = dist((latest.x, latest.y, latest.z), a) if latest else None
        is_fresh = latest is not None and latest.recorded_at >= at - rules.position_fresh
        is_too_far = is_fresh and metres is not None and metres > rules.dispatch_radius_m
        is_for_account = driver.simulated_for_id in {None, delivery.integrator_id}
        if driver.vehicle_type == delivery.vehicle_type and is_for_account and not is_too_far:
            found.append(Candidate(driver, metres))
    found.sort(key=lambda each: (inf if each.metres is None else each.metres, each.driver.name))
    return found[:_CANDIDATES]
