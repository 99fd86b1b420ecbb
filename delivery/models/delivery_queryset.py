"""Questions about deliveries."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.db import models
from django.db.models import (
    Case,
    CharField,
    DateTimeField,
    DecimalField,
    DurationField,
    Exists,
    ExpressionWrapper,
    F,
    FloatField,
    OuterRef,
    Q,
    Value,
    When,
)

from delivery import lifecycle
from delivery.lifecycle import Ending, RouteStatus, Status
from delivery.models.driver import Driver, LatestPosition
from delivery.models.integrator import Integrator
from delivery.models.location import cartesian_columns, distance_m
from delivery.models.stop import Stop
from delivery.models.token import Token

# An estimate of a driver who reports no position is computed again after this.
_ARRIVALS_KEPT = timedelta(minutes=1)

# What reports say of a delivery that has ended: how, and what its account owes for it in reais. No other place does.
_ENDING = Case(
    When(cancelled_at__isnull=False, then=Value(Ending.CANCELLED.value)),
    When(route_status=RouteStatus.EXPIRED, then=Value(Ending.EXPIRED.value)),
    When(status=Status.DELIVERED, then=Value(Ending.DELIVERED.value)),
    default=Value(Ending.NOT_DELIVERED.value),
    output_field=CharField(),
)
_AMOUNT = Case(
    When(cancelled_at__isnull=False, then=F("cancel_fee")),
    When(route_status=RouteStatus.EXPIRED, then=Value(Decimal(0))),
    default=F("shipping_value"),
    output_field=DecimalField(max_digits=12, decimal_places=2),
)
ENDED = {"ending": _ENDING, "amount": _AMOUNT}

if TYPE_CHECKING:
    from delivery.models.delivery import Delivery  # noqa: F401  # named in quotes below


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    def of(self, token: Token) -> Self:
        """Deliveries of the token's account in the token's environment, which are those it may see."""
        return self.filter(integrator=token.integrator_id, environment=token.environment)

    def within(self, integrator: Integrator, environment: str) -> Self:
        """Deliveries of this account in this environment."""
        return self.filter(integrator=integrator, environment=environment)

    def in_progress(self, environment: str) -> Self:
        """Deliveries of this environment whose route is offered or under way."""
        return self.filter(environment=environment, route_status__in=lifecycle.IN_PROGRESS)

    def held_by(self, driver: Driver) -> Self:
        """The delivery whose route this driver holds, if any."""
        return self.filter(driver=driver, route_status__in=lifecycle.HELD)

    def offered_to(self, driver: Driver, *, at: datetime, since: datetime) -> Self:
        """Deliveries that this driver could accept at `at`, nearest and then oldest first.

        `distance_m` is metres from the driver's latest position to A, None without one. The driver's own state is not
        considered. A driver whose latest position is from before `since` sees all offers of the vehicle.
        """
        offers = self.filter(
            route_status=RouteStatus.AVAILABLE,
            offer_expires_at__gt=at,
            vehicle_type=driver.vehicle_type,
            environment=driver.environment,
        )
        if driver.simulated_for_id is not None:
            offers = offers.filter(integrator=driver.simulated_for_id)
        latest = LatestPosition.objects.filter(pk=driver.pk).first()
        if latest is None:
            return offers.annotate(distance_m=Value(None, FloatField())).order_by("created_at", "pk")
        metres = distance_m(cartesian_columns(), latest.point)
        offers = offers.annotate(distance_m=metres).order_by("distance_m", "created_at", "pk")  # many are of one shop
        if latest.recorded_at < since:
            return offers
        return offers.filter(distance_m__lte=settings.DISPATCH_RADIUS_KM * 1000)

    def with_due(self) -> Self:
        """Annotates `due_at`: when the route's next step is due, counted from the request. See the settings `LATE_…`.

        Without a driver this is the acceptance, then the pickup, then the end of the route, the return included.
        """
        by_km = ExpressionWrapper(
            F("distance_km") * Value(settings.LATE_PER_KM, DurationField()), output_field=DurationField()
        )
        allowed = Case(
            When(route_status=RouteStatus.AVAILABLE, then=Value(settings.LATE_WITHOUT_DRIVER)),
            When(route_status=RouteStatus.ACCEPTED, then=Value(settings.LATE_PICKUP)),
            default=Value(settings.LATE_PICKUP, DurationField()) + by_km,
            output_field=DurationField(),
        )
        return self.annotate(due_at=ExpressionWrapper(F("created_at") + allowed, output_field=DateTimeField()))

    def late(self, environment: str, *, at: datetime) -> Self:
        """Deliveries in progress whose next step was due before `at`."""
        return self.in_progress(environment).with_due().filter(due_at__lt=at)

    def arrivals_due(self, *, at: datetime, moves_only: bool) -> Self:
        """Deliveries under way whose arrival times are missing or were computed before the latest move of the route.

        Without `moves_only` also those whose driver has reported a position since, or that are older than a minute.
        """
        outdated = Q(arrival=None) | ~Q(arrival__sequence=OuterRef("last_sequence"))
        if not moves_only:
            outdated |= Q(arrival__computed_at__lt=OuterRef("driver__latest__recorded_at"))
            outdated |= Q(arrival__computed_at__lt=at - _ARRIVALS_KEPT)
        stops = Stop.objects.filter(outdated, delivery=OuterRef("pk"), status__in=lifecycle.OPEN)
        return self.filter(Exists(stops), route_status__in=(RouteStatus.ACCEPTED, RouteStatus.COLLECTED))

    def with_parts(self) -> Self:
        """Reads the driver and the stops too, as needed by `delivery.bodies`."""
        return self.select_related("driver").prefetch_related("stops")

    def untaken(self, *, at: datetime) -> Self:
        """Deliveries that are still offered at or after the deadline of the offer."""
        return self.filter(route_status=RouteStatus.AVAILABLE, offer_expires_at__lte=at)

    def ended(self, start: datetime, end: datetime) -> Self:
        """Deliveries whose route ended at `start` or later and before `end`. None of them changes any more."""
        return self.filter(closed_at__gte=start, closed_at__lt=end)

    def with_amounts(self) -> Self:
        """Annotates deliveries that have ended with `ending`, and `amount`: what the account owes for them in reais."""
        return self.annotate(**ENDED)
