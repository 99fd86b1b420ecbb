"""Drivers for dispatchers: who is on duty and where they go next."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.db.models import Count, F, IntegerField, OuterRef, Prefetch, Q, Subquery
from django.db.models.functions import Coalesce

from common import clock
from delivery import lifecycle
from delivery.models import Delivery, Driver, Stop
from panel.board import Card

_MOST_SHOWN = 200


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
    ended = Delivery.objects.filter(driver=OuterRef("pk"), closed_at__gte=clock.midnight(at)).order_by()
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
