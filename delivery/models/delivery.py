from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import reduce
from operator import add, or_
from typing import Any, Self, cast
from uuid import UUID

import pgtrigger
from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import (
    Case,
    CharField,
    Count,
    DateTimeField,
    DecimalField,
    DurationField,
    Exists,
    ExpressionWrapper,
    F,
    FilteredRelation,
    FloatField,
    OuterRef,
    Q,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce, Greatest, TruncHour
from django.utils.functional import cached_property
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from common import fields
from common.accounts import Environment
from common.brazil.formats import short_id
from common.brazil.phones import phone_key, unusual_phones
from common.fields import new_id, not_personal, one_of, personal
from common.observability import log_context
from common.postgresql import updates
from common.postgresql.compiled_queries import CompiledQuery, Parameter, loaded, row_of
from common.postgresql.forgetting import EMPTY, equal_to, read_only_but_forgotten, unless_forgotten
from delivery import lifecycle, words
from delivery.lifecycle import Ending, RouteStatus, Status, Trigger
from delivery.models.bases import Identified, Located, cartesian_columns, distance_m, on_earth, quoted
from delivery.models.dispatch_rules import DispatchRules
from delivery.models.driver import DeclinedOffer, Driver, DriverPosition, LatestPosition, VehicleType
from delivery.models.integrator import Integrator
from delivery.models.stop import FORGOTTEN, Stop, ahead
from delivery.models.token import Token
from delivery.pricing import Charge, percent_of
from delivery.windows import Window

# An estimate of a driver who sends no position is computed again after this.
_ARRIVALS_KEPT = timedelta(minutes=1)

# How a delivery has ended, and what its account owes for it in reais. Reports use these expressions only.
_ENDING = Case(
    When(cancelled_at__isnull=False, then=Value(Ending.CANCELLED.value)),
    When(route_status=RouteStatus.EXPIRED, then=Value(Ending.EXPIRED.value)),
    When(status=Status.DELIVERED, has_failed_stop=False, then=Value(Ending.DELIVERED.value)),
    default=Value(Ending.NOT_DELIVERED.value),
    output_field=CharField(),
)
_IS_CANCELLED = Q(cancelled_at__isnull=False)
_PAYS_BEFORE_PICKUP = Q(route_status=RouteStatus.CANCELLED) | Q(fee_before_pickup=True)
# Those that were cancelled or that nobody took, those at one of whose stops a driver has failed while none is open any
# more, and those that were delivered at every stop.
CALLED_OFF = Q(status=Status.FAILED) & (_IS_CANCELLED | Q(route_status=RouteStatus.EXPIRED))
NOT_DELIVERED = (Q(status=Status.FAILED) | Q(has_failed_stop=True)) & Q(
    cancelled_at=None, route_status__in=(RouteStatus.RETURNING, RouteStatus.FINISHED)
)
DELIVERED = Q(status=Status.DELIVERED, has_failed_stop=False)
_REAIS: DecimalField[Any, Any] = DecimalField(max_digits=12, decimal_places=2)
# Which deliveries owe what, and how many percent of the price that is.
_CHARGES: dict[Charge, tuple[Q, str, Any]] = {
    Charge.PRICE: (~_IS_CANCELLED & ~Q(route_status=RouteStatus.EXPIRED), "shipping_value", Value(Decimal(100))),
    Charge.RETRY: (Q(retry_fee__isnull=False), "retry_fee", F("retry_percent")),
    Charge.RETURN: (Q(return_fee__isnull=False), "return_fee", F("return_percent")),
    # Without a driver the offer was not accepted yet, and the fee is 0.
    Charge.CANCEL_ACCEPTED: (
        _IS_CANCELLED & _PAYS_BEFORE_PICKUP & Q(driver__isnull=False),
        "cancel_fee",
        F("cancel_percent_accepted"),
    ),
    Charge.CANCEL_COLLECTED: (
        _IS_CANCELLED & ~_PAYS_BEFORE_PICKUP,
        "cancel_fee",
        F("cancel_percent_collected"),
    ),
}
OWED = {
    charge: Case(When(owes, then=F(column)), default=Value(Decimal(0)), output_field=_REAIS)
    for charge, (owes, column, _percent) in _CHARGES.items()
}
# None where the delivery does not owe it.
PERCENTS = {
    charge: Case(When(owes, then=percent), output_field=_REAIS) for charge, (owes, _column, percent) in _CHARGES.items()
}
_AMOUNT = ExpressionWrapper(reduce(add, OWED.values()), output_field=_REAIS)
ENDED = {"ending": _ENDING, "amount": _AMOUNT}
# Since when a route has been offered: what it waits for is counted from then.
OFFERED_AT = Coalesce("offer_at", "created_at")
# Which of those that have ended, `with_due`, were on time: the driver was at each stop before that stop's own deadline;
# where no stop has one, the route ended before it was due.
ON_TIME = Q(deadline_at__isnull=False, missed_deadline=False) | Q(deadline_at=None, closed_at__lte=F("due_at"))
_SUMMED = [
    "status", "route_status", "shipping_value", "cancelled_at", "cancel_fee", "driver", "distance_km", "created_at",
    "accepted_at", "driver_amount", "offer_at", "scheduled_for", "pickup_deadline_at", "deadline_at", "mode",
    "retry_fee", "return_fee", "cancel_percent_accepted", "cancel_percent_collected", "retry_percent", "return_percent",
    "ready_at", "missed_deadline", "fee_before_pickup", "has_failed_stop",
]  # fmt: skip  # a list of names
_MONEY: dict[str, Any] = {"max_digits": 10, "decimal_places": 2}
_PERCENT: dict[str, Any] = {"max_digits": 5, "decimal_places": 2}
# The columns that `delivery.actions.transitions` writes. A trigger refuses changes of all others.
TRANSITION_FIELDS = [
    "status",
    "route_status",
    "driver",
    "offer_at",
    "offer_expires_at",
    "accepted_at",
    "closed_at",
    "cancelled_at",
    "cancel_reason",
    "cancel_fee",
    "fee_before_pickup",
    "retry_fee",
    "return_fee",
    "missed_deadline",
    "has_failed_stop",
    "driver_amount",
    "last_sequence",
]
# The columns of a closed delivery that forgetting must not change either.
_KEPT = " AND ".join(
    f"OLD.{column} IS NOT DISTINCT FROM NEW.{column}"
    for column in (
        "status", "route_status", "driver_id", "offer_expires_at", "closed_at", "cancelled_at", "cancel_fee",
        "fee_before_pickup", "retry_fee", "return_fee", "missed_deadline", "driver_amount", "last_sequence",
    )
)  # fmt: skip  # a list of names
# A collection that was sent after the cancellation opens the route again, and changes nothing of the money.
_IS_OPENED_AGAIN = (
    "OLD.route_status = 'CANCELLED' AND NEW.route_status = 'RETURNING' AND OLD.forgotten_at IS NULL"
    " AND NEW.last_sequence = OLD.last_sequence + 1 AND NEW.cancelled_at = OLD.cancelled_at"
    " AND NEW.cancel_fee = OLD.cancel_fee AND NEW.driver_amount IS NOT DISTINCT FROM OLD.driver_amount"
)
# But for one that is touched because of a row that is shown with it, such as a photo that arrives later.
_CHANGES_CLOSED = (
    f"OLD.route_status IN ({quoted(lifecycle.CLOSED)}) AND NOT ({_IS_OPENED_AGAIN}) AND OLD IS DISTINCT FROM NEW"
)
# Of an outward route whose driver has not been at A.
_BEFORE_A = (*lifecycle.UNTAKEN, RouteStatus.ACCEPTED)
_NEVER = datetime.max.replace(tzinfo=UTC)
_LATEST_POSITION = CompiledQuery(
    lambda: DriverPosition.objects.filter(driver=Parameter("driver"), recorded_at__lte=Parameter("until")).order_by(
        "-recorded_at"
    )[:1]
)


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    def of(self, token: Token) -> Self:
        """Deliveries of the token's account in the token's environment, which are those it may see."""
        return self.filter(integrator=token.integrator_id, environment=token.environment)

    def within(self, integrator: Integrator, environment: str) -> Self:
        """Deliveries of this account in this environment."""
        return self.filter(integrator=integrator, environment=environment)

    def in_progress(self, environment: str) -> Self:
        """Deliveries of this environment whose route is offered or under way."""
        return self.filter(environment=environment).under_way()

    def under_way(self) -> Self:
        """Deliveries whose route is offered or under way."""
        return self.filter(route_status__in=lifecycle.IN_PROGRESS)

    def held_by(self, driver: Driver | Parameter) -> Self:
        """The delivery whose route this driver holds, if any."""
        return self.filter(driver=driver, route_status__in=lifecycle.HELD)

    def offered_to(self, driver: Driver, *, at: datetime, since: datetime, radius_m: float) -> Self:
        """Deliveries that this driver could accept at `at` and has not declined, nearest and then oldest first.

        `distance_m` is metres from the driver's latest position to `Delivery.first_place`, None without one. The
        driver's own state is not considered. A driver whose latest position is from before `since` sees all offers of
        the vehicle, others those within `radius_m`.
        """
        offers = self.filter(
            route_status=RouteStatus.AVAILABLE,
            offer_expires_at__gt=at,
            vehicle_type=driver.vehicle_type,
            environment=driver.environment,
        ).exclude(Exists(DeclinedOffer.objects.filter(driver=driver, delivery=OuterRef("pk"))))
        if driver.simulated_for_id is not None:
            offers = offers.filter(integrator=driver.simulated_for_id)
        latest = LatestPosition.objects.filter(pk=driver.pk).first()
        if latest is None:
            return offers.annotate(distance_m=Value(None, FloatField())).order_by("created_at", "pk")
        at_b = Q(stops__index=0, mode=lifecycle.Mode.REVERSE.value)
        offers = offers.alias(first_stop=FilteredRelation("stops", condition=at_b))
        columns = (Coalesce(f"first_stop__{name}", name) for name in ("latitude", "longitude"))
        offers = offers.annotate(distance_m=distance_m(cartesian_columns(*columns), latest.point))
        offers = offers.order_by("distance_m", "created_at", "pk")  # many are of one shop
        if latest.recorded_at < since:
            return offers
        return offers.filter(distance_m__lte=radius_m)

    def with_due(self) -> Self:
        return self.annotate(due_at=due_at())

    def with_due_at_places(self, *, late_pickup: Any = None, late_per_km: Any = None) -> Self:
        """What `Delivery.due_at_places` reads: when the pickup, the end of the route and the return to A are due.

        By the rules that are given, which may be Parameters, or the current ones.
        """
        end = _end(late_pickup, late_per_km)
        return self.annotate(
            pickup_due_at=_pickup(late_pickup), end_due_at=end, return_due_at=Coalesce(_return(late_per_km), end)
        )

    def scheduled(self, *, until: datetime) -> Self:
        """Those that are not offered yet and ready at `until` or before, in this sequence."""
        waiting = self.filter(route_status=RouteStatus.SCHEDULED, scheduled_for__lte=until)
        return waiting.order_by("scheduled_for", "pk")

    def late(self, environment: str, *, at: datetime) -> Self:
        """Those of this environment that are `overdue`."""
        return self.filter(environment=environment).overdue(at=at)

    def overdue(self, *, at: datetime) -> Self:
        """Those under way, and scheduled ones that are ready and not offered, whose next step was due before `at`."""
        return self.to_watch(at=at).with_due().filter(due_at__lt=at)

    def to_watch(self, *, at: Any) -> Self:
        """Those under way, and scheduled ones that are ready at the moment `at`, which may be a Parameter."""
        is_ready = Q(route_status=RouteStatus.SCHEDULED, scheduled_for__lt=at)
        return self.filter(Q(route_status__in=lifecycle.IN_PROGRESS) | is_ready)

    def progress(self, *, at: datetime) -> dict[str, int]:
        """How many are `under_way`, and how many of them `late`."""
        late = Count("pk", filter=Q(due_at__lt=at))
        return self.under_way().with_due().aggregate(under_way=Count("pk"), late=late)

    def by_hour(self, *, since: datetime) -> Any:
        """For each hour of requests: `hour`, how many were `requested`, and what has become of them."""
        requested = self.filter(created_at__gte=since).order_by().annotate(hour=TruncHour("created_at"))
        return requested.values("hour").annotate(
            requested=Count("pk"),
            delivered=Count("pk", filter=DELIVERED),
            failed=Count("pk", filter=NOT_DELIVERED),
            called_off=Count("pk", filter=CALLED_OFF),
            scheduled=Count("pk", filter=Q(route_status=RouteStatus.SCHEDULED)),
        )

    def arrivals_due(self, *, at: datetime, moves_only: bool) -> Self:
        """Deliveries under way whose arrival times are missing or were computed before the latest move of the route.

        Without `moves_only` also those whose driver has sent a position since, or that are older than a minute.
        """
        outdated = Q(arrival=None) | ~Q(arrival__sequence=OuterRef("last_sequence"))
        if not moves_only:
            outdated |= Q(arrival__computed_at__lt=OuterRef("driver__latest__recorded_at"))
            outdated |= Q(arrival__computed_at__lt=at - _ARRIVALS_KEPT)
        stops = Stop.objects.filter(outdated, ahead(), delivery=OuterRef("pk"))
        under_way = self.filter(route_status__in=(RouteStatus.ACCEPTED, RouteStatus.COLLECTED))
        return under_way.filter(Exists(stops))

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


_BEGINS = Coalesce("scheduled_for", "created_at")


def due_at() -> Case:
    """When the next step of a route is due.

    Without a driver this is the acceptance, counted from the offer; then the pickup and the end of the route, the
    return included, counted from the request or from when the goods are ready. What follows the pickup is counted
    from when the last of the stops is ready, if that is later. The deadlines of the request come before these
    rules: of the pickup, the earliest of the open stops, and on the way back to A the latest of the stops, with
    that way. In mode REVERSE the pickup is that at the next stop. A scheduled route is due when the goods are
    ready.
    """
    rules = DispatchRules.current()
    is_reverse = Q(mode=lifecycle.Mode.REVERSE)
    late_pickup = Value(rules.late_pickup, DurationField())
    # GREATEST ignores NULL.
    at_next_stop = Coalesce(
        "pickup_deadline_at", _of_next("deadline_at"), _moment(Greatest(_BEGINS, _of_next("ready_at")) + late_pickup)
    )
    return Case(
        When(route_status=RouteStatus.SCHEDULED, then=F("scheduled_for")),
        When(
            route_status=RouteStatus.AVAILABLE,
            then=_moment(OFFERED_AT + Value(rules.late_without_driver, DurationField())),
        ),
        When(is_reverse, route_status=RouteStatus.ACCEPTED, then=at_next_stop),
        When(route_status=RouteStatus.ACCEPTED, then=_pickup()),
        When(deadline_at=None, then=_end()),
        When(route_status=RouteStatus.COLLECTED, then=Coalesce(_earliest_deadline(), _end())),
        default=_return(),
        output_field=DateTimeField(),
    )


def _pickup(late_pickup: Any = None) -> Coalesce:
    late = Value(DispatchRules.current().late_pickup, DurationField()) if late_pickup is None else late_pickup
    return Coalesce("pickup_deadline_at", _moment(_BEGINS + late))


def _end(late_pickup: Any = None, late_per_km: Any = None) -> ExpressionWrapper[Any]:
    return _moment(Greatest(_pickup(late_pickup), F("ready_at")) + _by_km(late_per_km))


def _return(late_per_km: Any = None) -> ExpressionWrapper[Any]:
    """Of a route whose stops have deadlines; NULL for others."""
    return _moment(F("deadline_at") + _by_km(late_per_km))


def _by_km(late_per_km: Any = None) -> ExpressionWrapper[Any]:
    per_km = Value(DispatchRules.current().late_per_km, DurationField()) if late_per_km is None else late_per_km
    return ExpressionWrapper(F("distance_km") * per_km, DurationField())


def _moment(expression: Any) -> ExpressionWrapper[Any]:
    return ExpressionWrapper(expression, output_field=DateTimeField())


def _earliest_deadline() -> Subquery:
    """The earliest deadline of the stops to which the driver has still to go."""
    with_deadline = _stops_ahead().filter(deadline_at__isnull=False)
    return Subquery(with_deadline.order_by("deadline_at").values("deadline_at")[:1])


def _of_next(column: str) -> Subquery:
    """That of the next stop of a route without second attempts."""
    return Subquery(_stops_ahead().order_by("index").values(column)[:1])


def _stops_ahead() -> models.QuerySet[Stop]:
    is_on_the_way_to_a = Q(delivery__mode=lifecycle.Mode.REVERSE, status=Status.COLLECTED)
    return Stop.objects.filter(delivery=OuterRef("pk"), status__in=lifecycle.OPEN).exclude(is_on_the_way_to_a)


# Conditions hold plain strings, so that migrations do not import the enums, whose members can change.
def _route_in(*statuses: RouteStatus) -> Q:
    return Q(route_status__in=[status.value for status in statuses])


def _status_in(*statuses: Status) -> Q:
    return Q(status__in=[status.value for status in statuses])


class Delivery(Identified, Located):
    """A requested delivery: a pickup A and one to three drop-offs, offered to drivers as one indivisible route.

    Delivery and route are one row, so that one row lock serialises their changes. `status` is the aggregate that
    integrators see, `route_status` that of the route. The coordinates are those of A. A trigger refuses changes of the
    request and its price. Only `delivery.actions.transitions` writes the statuses.
    """

    route_id = fields.UUIDField(_("route"), default=new_id, unique=True, editable=False)
    integrator = models.ForeignKey(
        Integrator,
        verbose_name=_("account"),
        on_delete=models.PROTECT,
        related_name="deliveries",
        db_index=False,  # an index begins with this column
    )
    environment = models.CharField(_("environment"), max_length=7, choices=Environment)
    # None if a person requested it in the panel.
    token = models.ForeignKey(
        Token, verbose_name=_("requested with"), on_delete=models.PROTECT, related_name="deliveries", null=True
    )
    status = models.CharField(_("status"), max_length=9, choices=[(s.value, words.STATUSES[s]) for s in Status])
    route_status = models.CharField(
        _("route status"), max_length=9, choices=[(s.value, words.ROUTE_STATUSES[s]) for s in RouteStatus]
    )
    driver = models.ForeignKey(
        Driver, verbose_name=_("driver"), on_delete=models.PROTECT, related_name="deliveries", null=True
    )
    # Who held the route when `delivery.actions.transitions` locked the row; not a column.
    driver_when_locked: Driver | None = None

    vehicle_type = models.CharField(_("vehicle type"), max_length=10, choices=VehicleType)
    mode = models.CharField(_("mode"), max_length=7, choices=[(m.value, words.MODES[m]) for m in lifecycle.Mode])
    contact_name = personal(models.CharField(_("contact name"), max_length=255))
    contact_phone = personal(models.CharField(_("contact phone"), max_length=255))
    address = personal(models.JSONField(_("address")))
    packages = not_personal(models.JSONField(_("packages"), default=list, blank=True))

    shipping_value = models.DecimalField(_("price"), **_MONEY)
    distance_km = models.DecimalField(_("distance (km)"), max_digits=8, decimal_places=2)
    cancel_percent_accepted = models.DecimalField(**_PERCENT)
    cancel_percent_collected = models.DecimalField(**_PERCENT)
    retry_percent = models.DecimalField(default=0, db_default=0, **_PERCENT)
    return_percent = models.DecimalField(default=0, db_default=0, **_PERCENT)

    created_at = models.DateTimeField(_("created at"))
    # When the goods are ready, if the request said so and that was later.
    scheduled_for = models.DateTimeField(_("scheduled for"), null=True, editable=False)
    pickup_deadline_at = models.DateTimeField(_("deadline of the pickup"), null=True, editable=False)
    # The latest of those of the stops.
    ready_at = models.DateTimeField(_("ready at"), null=True, editable=False)
    deadline_at = models.DateTimeField(_("deadline"), null=True, editable=False)
    # Whether the driver's first visit to a stop was after that stop's own deadline, or had not been made by then when
    # the stop was cancelled.
    missed_deadline = models.BooleanField(default=False, db_default=False, editable=False)
    # Whether a driver has failed at one of its stops for good. The others may have been delivered.
    has_failed_stop = models.BooleanField(default=False, db_default=False, editable=False)
    # When the route is offered, as far as that is known, and once it is: since when. None: since the request.
    offer_at = models.DateTimeField(_("offered at"), null=True, editable=False)
    offer_expires_at = models.DateTimeField(_("offer expires at"))
    # The first acceptance, however often the route was released and accepted again. None of routes that the version
    # before this column accepted after the migration that filled it, too.
    accepted_at = models.DateTimeField(_("first accepted at"), null=True, editable=False)
    closed_at = models.DateTimeField(_("closed at"), null=True)
    cancelled_at = models.DateTimeField(_("cancelled at"), null=True)
    cancel_reason = personal(models.CharField(_("cancellation reason"), max_length=255, blank=True))
    cancel_fee = models.DecimalField(_("cancellation fee"), null=True, **_MONEY)
    # Whether the fee is that before pickup although the goods had been collected, which was sent after the
    # cancellation.
    fee_before_pickup = models.BooleanField(default=False, db_default=False, editable=False)
    # Fixed when they are caused. None: there was none, or it is older than the column.
    retry_fee = models.DecimalField(_("second attempts"), null=True, editable=False, **_MONEY)
    return_fee = models.DecimalField(_("way back after a failure"), null=True, editable=False, **_MONEY)
    # What the driver earns in reais, fixed when the route is accepted; 0 where drivers see no amounts, and after a
    # cancellation the part of it that the fee is of the price. None before, and of routes older than the column.
    driver_amount = models.DecimalField(_("earned by the driver"), null=True, editable=False, **_MONEY)
    last_sequence = models.PositiveIntegerField(_("webhook events"), default=0)
    updated_at = updates.updated_at()
    forgotten_at = models.DateTimeField(_("anonymised at"), null=True, editable=False)

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        verbose_name = _("delivery")
        verbose_name_plural = _("deliveries")
        ordering = ["-created_at"]
        permissions = [("dispatch_delivery", _("Can move deliveries"))]
        indexes = [
            # They end with the primary key, so that a page's keys are read from the index alone.
            models.Index(fields=["integrator", "environment", "-created_at", "-id"], name="delivery_of_account"),
            models.Index(
                fields=["integrator", "environment", "status", "-created_at", "-id"], name="delivery_of_account_status"
            ),
            # What else the list selects by is read from the index too, where few of many changed rows fit.
            models.Index(
                fields=["integrator", "environment", "updated_at", "id"],
                include=["status", "created_at"],
                name="delivery_of_account_updated",
            ),
            models.Index(
                fields=["integrator", "environment", "shipping_value", "id"], name="delivery_of_account_price"
            ),
            models.Index(
                fields=["integrator", "environment", "-created_at", "-id"],
                name="delivery_failed_of_account",
                condition=Q(status="FAILED") | Q(has_failed_stop=True),
            ),
            models.Index(fields=["-created_at"], name="delivery_newest"),
            # One for each filter of the admin's list, in the list's order.
            models.Index(fields=["status", "-created_at"], name="delivery_by_status"),
            models.Index(fields=["route_status", "-created_at"], name="delivery_by_route_status"),
            models.Index(fields=["environment", "-created_at"], name="delivery_by_environment"),
            models.Index(fields=["vehicle_type", "-created_at"], name="delivery_by_vehicle"),
            models.Index(
                fields=["environment", "created_at"],
                name="delivery_in_progress",
                condition=_route_in(*lifecycle.IN_PROGRESS),
            ),
            models.Index(
                fields=["scheduled_for", "id"], name="delivery_scheduled", condition=_route_in(RouteStatus.SCHEDULED)
            ),
            models.Index(
                fields=["closed_at"],
                name="delivery_to_forget",
                condition=Q(closed_at__isnull=False, forgotten_at__isnull=True),
            ),
            models.Index(
                fields=["driver", "closed_at"], name="delivery_ended_of_driver", condition=Q(closed_at__isnull=False)
            ),
            models.Index(phone_key("contact_phone"), name="delivery_phone", condition=~Q(contact_phone="")),
            unusual_phones("contact_phone", name="delivery_unusual_phone"),
            models.Index(
                fields=["offer_expires_at"], name="delivery_offered", condition=_route_in(RouteStatus.AVAILABLE)
            ),
            # Reports sum the rows of a period from the index alone. A delivery enters it once, when it ends.
            models.Index(
                fields=["integrator", "environment", "closed_at", "id"],
                include=_SUMMED,
                name="delivery_ended_of_account",
                condition=Q(closed_at__isnull=False),
            ),
        ]
        constraints = [
            on_earth("delivery_on_earth"),
            one_of("delivery_environment", "environment", Environment.values),
            one_of("delivery_vehicle_type", "vehicle_type", VehicleType.values),
            models.UniqueConstraint(
                fields=["driver"], name="one_open_route_per_driver", condition=_route_in(*lifecycle.HELD)
            ),
            models.CheckConstraint(
                name="delivery_driver_fits_route",
                condition=(_route_in(*lifecycle.UNTAKEN, RouteStatus.EXPIRED) & Q(driver=None))
                | (_route_in(*lifecycle.HELD, RouteStatus.FINISHED) & Q(driver__isnull=False))
                | _route_in(RouteStatus.CANCELLED),
            ),
            models.CheckConstraint(
                name="delivery_status_fits_route",
                condition=(_route_in(*lifecycle.UNTAKEN) & _status_in(Status.PENDING))
                | (_route_in(RouteStatus.ACCEPTED) & _status_in(Status.ACCEPT))
                | (_route_in(RouteStatus.COLLECTED) & _status_in(Status.COLLECTED))
                | (_route_in(RouteStatus.RETURNING) & _status_in(Status.COLLECTED, Status.FAILED))
                | (_route_in(RouteStatus.FINISHED) & _status_in(Status.DELIVERED, Status.FAILED))
                | (_route_in(RouteStatus.CANCELLED, RouteStatus.EXPIRED) & _status_in(Status.FAILED)),
            ),
            models.CheckConstraint(
                name="delivery_cancellation_whole",
                condition=Q(cancelled_at=None, cancel_fee=None)
                | Q(cancelled_at__isnull=False, cancel_fee__isnull=False, cancel_fee__gte=0),
            ),
            models.CheckConstraint(name="delivery_fees_not_negative", condition=Q(retry_fee__gte=0, return_fee__gte=0)),
            models.CheckConstraint(
                name="delivery_closed_has_its_time",
                condition=(_route_in(*lifecycle.CLOSED) & Q(closed_at__isnull=False))
                | (~_route_in(*lifecycle.CLOSED) & Q(closed_at=None)),
            ),
            models.CheckConstraint(
                name="delivery_scheduled_has_its_moments",
                condition=~_route_in(RouteStatus.SCHEDULED)
                | Q(scheduled_for__isnull=False, offer_at__isnull=False, offer_at__lt=F("scheduled_for")),
            ),
            models.CheckConstraint(
                name="delivery_price_not_negative", condition=Q(shipping_value__gte=0, distance_km__gte=0)
            ),
        ]
        triggers = [
            pgtrigger.ReadOnly(name="delivery_immutable", exclude=["updated_at", *TRANSITION_FIELDS, *FORGOTTEN]),
            updates.set_by_updates("delivery_updated"),
            read_only_but_forgotten("delivery_forgotten", FORGOTTEN),
            pgtrigger.Protect(
                name="delivery_driver_locked",
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__driver__isnull=False)
                & pgtrigger.Q(old__driver__df=pgtrigger.F("new__driver"))
                & ~(
                    pgtrigger.Q(old__route_status=RouteStatus.ACCEPTED.value)
                    & pgtrigger.Q(new__route_status__in=[RouteStatus.AVAILABLE.value, RouteStatus.ACCEPTED.value])
                ),
            ),
            pgtrigger.Protect(
                name="delivery_first_acceptance",
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__accepted_at__isnull=False)
                & pgtrigger.Q(old__accepted_at__df=pgtrigger.F("new__accepted_at")),
            ),
            pgtrigger.Protect(
                name="delivery_offer_renewed_by_release",
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__offer_expires_at__df=pgtrigger.F("new__offer_expires_at"))
                & ~pgtrigger.Q(old__route_status=RouteStatus.SCHEDULED.value)
                & ~(
                    pgtrigger.Q(old__route_status=RouteStatus.ACCEPTED.value)
                    & pgtrigger.Q(new__route_status=RouteStatus.AVAILABLE.value)
                ),
            ),
            pgtrigger.Protect(
                name="delivery_offer_begins_once",
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__offer_at__df=pgtrigger.F("new__offer_at"))
                & ~pgtrigger.Q(old__route_status=RouteStatus.SCHEDULED.value),
            ),
            # Every move that sets one of them is an event.
            pgtrigger.Protect(
                name="delivery_amounts_change_by_moves",
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__last_sequence=pgtrigger.F("new__last_sequence"))
                & reduce(
                    or_,
                    (
                        pgtrigger.Q(**{f"old__{column}__df": pgtrigger.F(f"new__{column}")})
                        for column in ("cancel_fee", "retry_fee", "return_fee", "driver_amount")
                    ),
                ),
            ),
            pgtrigger.Protect(
                name="delivery_closed_stays_so",
                operation=pgtrigger.Update,
                condition=unless_forgotten(
                    state=_CHANGES_CLOSED,
                    kept=f"{_KEPT} AND NEW.cancel_reason IN (OLD.cancel_reason, '')",
                ),
            ),
        ]

    def __str__(self) -> str:
        return short_id(self.pk)

    @property
    def label(self) -> str:
        """That of its own place, as `Stop.label`."""
        return "A"

    @property
    def state(self) -> lifecycle.State:
        """The statuses of this delivery as the lifecycle takes them."""
        return lifecycle.State(
            delivery=Status(self.status),
            route=RouteStatus(self.route_status),
            orders=tuple(Status(stop.status) for stop in self.ordered_stops),
            mode=lifecycle.Mode(self.mode),
            tried=tuple(
                index
                for _at, index in sorted((stop.tried_at, stop.index) for stop in self.ordered_stops if stop.tried_at)
            ),
        )

    @property
    def stops_ahead(self) -> list[Stop]:
        """The stops to which the driver has still to go, in the sequence in which that happens."""
        return [self.ordered_stops[index] for index in self.state.ahead]

    @property
    def next_place(self) -> "Delivery | Stop":
        """Where the driver has to be next: A or a stop."""
        ahead = self.stops_ahead
        begins_at_a = self.mode != lifecycle.Mode.REVERSE and self.route_status in _BEFORE_A
        return ahead[0] if ahead and not begins_at_a else self

    def due_at_places(self) -> dict[str, datetime]:
        """When the driver has to be at the places that are ahead, by their labels; of `with_due_at_places`.

        The next step is due as `due_at` says. Stops without a deadline are due at the end of the route, and at no
        moment while another stop has one.
        """
        own: Any = self  # annotated
        ahead, is_reverse = self.stops_ahead, self.mode == lifecycle.Mode.REVERSE
        found = {stop.label: stop.deadline_at for stop in ahead if stop.deadline_at}
        found = found or dict.fromkeys([stop.label for stop in ahead], own.end_due_at)
        if self.route_status not in _BEFORE_A:
            return found | (
                {"A": own.return_due_at} if is_reverse or self.route_status == RouteStatus.RETURNING else {}
            )
        if not is_reverse:
            return found | {"A": own.pickup_due_at}
        first, late_pickup = ahead[0], DispatchRules.current().late_pickup
        ready = first.ready_at + late_pickup if first.ready_at else own.pickup_due_at
        by_rules = max(own.pickup_due_at, ready)
        return found | {
            first.label: self.pickup_deadline_at or first.deadline_at or by_rules,
            "A": own.return_due_at,
        }

    def lateness(self, *, at: datetime) -> timedelta | None:
        """How long the next step of a delivery of `with_due` has been due; None if it is not late, or has ended."""
        due_at: datetime = self.due_at  # type: ignore[attr-defined]  # annotated
        return at - due_at if due_at < at and not self.is_closed else None

    @staticmethod
    def find(delivery_id: UUID, *, token: Token) -> "Delivery | None":
        """The delivery with this id among those that the token may see, with driver, position and stops; or None.

        It has the columns that `bodies.info` and `bodies.location` show.
        """
        found: Any = _BY_ID.first(id=delivery_id)
        # Not in the statement: planned while the table was empty, it might read all deliveries of the account instead.
        if found is None or (found.integrator_id, found.environment) != (token.integrator_id, token.environment):
            return None
        log_context.note("delivery", delivery_id)
        found.ordered_stops = [loaded(Stop, _STOP_COLUMNS, row) for row in found.stop_rows]
        found.driver_position = _position(*found.position_row) if found.position_row else None
        return cast("Delivery", found)

    def order_names(self, most: int | None = None) -> str:
        """The externalIds of the stops, by which people know it, at most so many; empty if it has none."""
        names = [stop.external_id for stop in self.ordered_stops if stop.external_id]
        more = f" +{len(names) - most}" if most and len(names) > most else ""
        return ", ".join(names[:most]) + more

    @property
    def places(self) -> "list[Delivery | Stop]":
        """A and the stops in the sequence in which the driver comes to them."""
        is_reverse = self.mode == lifecycle.Mode.REVERSE
        return [*self.ordered_stops, self] if is_reverse else [self, *self.ordered_stops]

    @property
    def first_place(self) -> "Delivery | Stop":
        """Where a driver who takes the route goes first, from which distances are counted: A, in mode REVERSE B."""
        return self.ordered_stops[0] if self.mode == lifecycle.Mode.REVERSE else self

    @property
    def trigger_at_a(self) -> Trigger:
        """What ends the work at A: the collection, or in mode REVERSE the arrival with everything."""
        return Trigger.RETURN if self.mode == lifecycle.Mode.REVERSE else Trigger.COLLECT

    @cached_property
    def ordered_stops(self) -> list[Stop]:
        """The stops B, C, D, read once, from the prefetched rows where there are any."""
        if "stops" in getattr(self, "_prefetched_objects_cache", ()):
            return sorted(self.stops.all(), key=lambda stop: stop.index)
        found = _STOPS.all(delivery=self.pk)
        for stop in found:
            stop.delivery = self
        return found

    @property
    def is_closed(self) -> bool:
        return self.route_status in lifecycle.CLOSED

    @cached_property
    def driver_position(self) -> DriverPosition | None:
        """The driver's latest position, read once. Not later than the end of the route: later ones are private."""
        if self.driver is None:
            return None
        return _LATEST_POSITION.first(driver=self.driver.pk, until=self.closed_at or _NEVER)

    def reasons_of(self, changes: Sequence["Transition"]) -> list[str]:
        """Why each of all `changes` was made; in the active language what was chosen from a list.

        The row of a stop knows the latest of its failures. An earlier one is as it was recorded.
        """
        failures = {stop.label: stop.failure for stop in self.ordered_stops}
        latest = {change.point: change.pk for change in changes if change.trigger in (Trigger.ATTEMPT, Trigger.FAIL)}
        return [
            failures.get(change.point, "") if latest.get(change.point) == change.pk else change.reason
            for change in changes
        ]

    @property
    def window(self) -> Window:
        """When the pickup is ready, if that was later than the request, and its deadline."""
        return Window(self.scheduled_for, self.pickup_deadline_at)

    @property
    def offer_window(self) -> Window:
        return Window(self.offer_at)

    @property
    def lead(self) -> timedelta | None:
        """How long before it is ready a scheduled route is offered. None of others."""
        return self.scheduled_for - self.offer_at if self.scheduled_for and self.offer_at else None

    @property
    def is_scheduled(self) -> bool:
        return self.route_status == RouteStatus.SCHEDULED

    @property
    def shown_status(self) -> str:
        """What pages show as the status of the whole: that an offer comes later, and not that it waits for a driver."""
        return self.route_status if self.is_scheduled else self.status

    @property
    def status_name(self) -> str:
        """What pages call the status of the whole: with where its goods go, and at how many stops a driver failed."""
        failed = sum(stop.status == Status.FAILED for stop in self.ordered_stops) if self.has_failed_stop else 0
        return words.whole(
            self.status,
            self.route_status,
            self.mode,
            is_cancelled=self.cancelled_at is not None,
            failed=failed,
            stops=len(self.ordered_stops) if failed else 0,
        )

    @property
    def is_partly_failed(self) -> bool:
        """Whether a driver has failed at one of its stops, and its status does not tell it."""
        return self.has_failed_stop and self.status != Status.FAILED

    @property
    def way_of_goods(self) -> str:
        """What the driver does with the goods if it is cancelled now; empty where nothing has been collected."""
        if not self.is_held or self.route_status == RouteStatus.ACCEPTED:
            return ""
        if self.mode == lifecycle.Mode.REVERSE:
            return gettext("The driver brings what was collected to A.")
        return gettext("The driver takes the goods back to A.")

    @property
    def is_held(self) -> bool:
        return self.route_status in lifecycle.HELD

    @property
    def was_cancelled_after_pickup(self) -> bool:
        return self.cancelled_at is not None and self.route_status != RouteStatus.CANCELLED

    @property
    def fees(self) -> dict[Charge, Decimal]:
        """What the account owes for it beside the price in reais, as `OWED` has it; no amounts of 0."""
        found = {Charge.RETRY: self.retry_fee, Charge.RETURN: self.return_fee}
        if self.cancelled_at is not None:
            before_pickup = self.route_status == RouteStatus.CANCELLED or self.fee_before_pickup
            found[Charge.CANCEL_ACCEPTED if before_pickup else Charge.CANCEL_COLLECTED] = self.cancel_fee
        return {charge: amount for charge, amount in found.items() if amount}

    @property
    def fee_of_cancelling(self) -> Decimal | None:
        """What a cancellation now costs in reais, by the route's status. None if it was cancelled or has ended."""
        if self.cancelled_at is not None or self.is_closed:
            return None
        percent = self.cancel_percent_collected
        if self.route_status in lifecycle.UNTAKEN:
            percent = Decimal(0)
        elif self.route_status == RouteStatus.ACCEPTED:
            percent = self.cancel_percent_accepted
        return percent_of(self.shipping_value, percent)

    @property
    def fee_after_pickup(self) -> Decimal | None:
        """What the cancellation costs in reais if a dispatcher charges it as one after pickup.

        None where that is not open: only while the driver brings back goods whose collection was sent later.
        """
        if not self.fee_before_pickup or self.route_status != RouteStatus.RETURNING:
            return None
        return percent_of(self.shipping_value, self.cancel_percent_collected)

    def stop_at(self, label: str) -> Stop | None:
        """The stop with this label (B, C or D, in either case), or None."""
        return next((stop for stop in self.ordered_stops if stop.label == label.upper()), None)


_STOPS = CompiledQuery(lambda: Stop.objects.filter(delivery=Parameter("delivery")).order_by("index"))
_STOP_COLUMNS = ("id", "index", "external_id", "latitude", "longitude", "address", "status")
_POSITION_COLUMNS = ("latitude", "longitude", "accuracy_m", "recorded_at")


def _whole() -> DeliveryQuerySet:
    stops = Stop.objects.filter(delivery=OuterRef("pk")).order_by("index")
    positions = DriverPosition.objects.filter(
        driver=OuterRef("driver"), recorded_at__lte=Coalesce(OuterRef("closed_at"), Value(_NEVER))
    ).order_by("-recorded_at")
    shown = Delivery.objects.select_related("driver").only(
        "integrator", "environment", "status", "route_status", "shipping_value", "cancel_percent_accepted",
        "cancel_percent_collected", "closed_at", "cancelled_at", "cancel_reason", "cancel_fee", "driver__name",
        "driver__phone",
    )  # fmt: skip  # a list of names
    return shown.filter(pk=Parameter("id")).annotate(
        stop_rows=ArraySubquery(stops.values(row=row_of(_STOP_COLUMNS))),
        position_row=Subquery(positions.values(row=row_of(_POSITION_COLUMNS))[:1]),
    )


def _position(latitude: float, longitude: float, accuracy_m: float | None, recorded_at: str) -> DriverPosition:
    values = (latitude, longitude, accuracy_m, datetime.fromisoformat(recorded_at))
    return loaded(DriverPosition, _POSITION_COLUMNS, values)


_BY_ID = CompiledQuery(_whole)


FORGOTTEN_DRIVER = "driver"  # as `by`, when a driver was forgotten


class Transition(models.Model):
    """A trigger that was applied to a delivery: actor, time and the statuses afterwards. Append-only."""

    delivery = models.ForeignKey(
        Delivery, verbose_name=_("delivery"), on_delete=models.CASCADE, related_name="transitions"
    )
    trigger = not_personal(models.CharField(_("trigger"), max_length=10))
    point = not_personal(models.CharField(_("point"), max_length=1, blank=True))
    reason = personal(models.CharField(_("reason"), max_length=255, blank=True))
    status = not_personal(models.CharField(_("status"), max_length=9))
    route_status = not_personal(models.CharField(_("route status"), max_length=9))
    by = personal(models.CharField(_("by"), max_length=200))
    at = models.DateTimeField(_("at"))
    # When the driver did it, if the phone sent it later.
    made_at = models.DateTimeField(_("made at"), null=True)
    # Who held the route until it was released or reassigned.
    former_driver = models.ForeignKey(
        Driver, on_delete=models.PROTECT, related_name="+", null=True, editable=False, db_index=False
    )

    class Meta:
        verbose_name = _("transition")
        verbose_name_plural = _("transitions")
        ordering = ["id"]
        indexes = [
            models.Index(fields=["by", "-id"], name="transition_by_whom"),
            models.Index(
                fields=["former_driver"], name="transition_former_driver", condition=Q(former_driver__isnull=False)
            ),
            # Rows are inserted in order of `at`, which suits a block range index; it is far smaller than a B-tree.
            BrinIndex(fields=["at"], name="transition_age", pages_per_range=32),
        ]
        triggers = [
            pgtrigger.Protect(name="transition_append_only", operation=pgtrigger.Delete),
            pgtrigger.ReadOnly(name="transition_immutable", exclude=["reason", "by"]),
            read_only_but_forgotten("transition_forgotten", {"reason": EMPTY, "by": equal_to(FORGOTTEN_DRIVER)}),
        ]

    def __str__(self) -> str:
        return words.change(self.trigger, self.point, self.delivery.mode)

    @property
    def happened_at(self) -> datetime:
        """When it was done; `at` is when it was recorded."""
        return self.made_at or self.at
