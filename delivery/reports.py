"""What accounts owe and drivers have earned for the deliveries that ended within a period.

A delivery counts once, in the moment its route ended. Such a row never changes, so the sums of a period that is over
are final.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.fields import ArrayField
from django.db.models import (
    Aggregate,
    Case,
    Count,
    DateTimeField,
    DecimalField,
    DurationField,
    ExpressionWrapper,
    F,
    Func,
    IntegerField,
    OuterRef,
    Q,
    Sum,
    Value,
    When,
)
from django.db.models.functions import Coalesce, Round

from common.api.pagination import Page, page_in_order
from common.fields import any_of
from common.pages.periods import Period, midnight
from delivery.lifecycle import Ending, FailureCode, RouteStatus, Status
from delivery.models import Delivery, DispatchRules, Driver, Environment, Integrator, Stop
from delivery.models.delivery import DELIVERED, ENDED, OFFERED_AT, ON_TIME, OWED, PERCENTS, DeliveryQuerySet
from delivery.pricing import Charge

_PORTION = 2_000
_SUM = DecimalField(max_digits=20, decimal_places=2)
_SUMS = {f"{charge}_sum": Sum(owed) for charge, owed in OWED.items()}


@dataclass
class Line:
    """Deliveries that ended, by ending, and what their account owes for them in reais, by kind.

    `of` is what the line is about: an account, a day, the first day of a month, or None for a total.
    """

    of: Any = None
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(Ending, 0))
    amounts: dict[str, Decimal] = field(default_factory=lambda: dict.fromkeys(Charge, Decimal(0)))

    @property
    def count(self) -> int:
        return sum(self.counts.values())

    @property
    def prices(self) -> Decimal:
        """The prices of the deliveries whose route a driver made."""
        return self.amounts[Charge.PRICE]

    @property
    def retries(self) -> Decimal:
        return self.amounts[Charge.RETRY]

    @property
    def returns(self) -> Decimal:
        return self.amounts[Charge.RETURN]

    @property
    def extras(self) -> Decimal:
        """What failures have added to prices and fees."""
        return self.retries + self.returns

    @property
    def fees(self) -> Decimal:
        """The fees of cancellations."""
        return self.amounts[Charge.CANCEL_ACCEPTED] + self.amounts[Charge.CANCEL_COLLECTED]

    @property
    def amount(self) -> Decimal:
        return sum(self.amounts.values(), Decimal(0))


def total(lines: Iterable[Line]) -> Line:
    whole = Line()
    for line in lines:
        for ending in Ending:
            whole.counts[ending] += line.counts[ending]
        for charge in Charge:
            whole.amounts[charge] += line.amounts[charge]
    return whole


def of_all_accounts(period: Period) -> list[Line]:
    """A line for each account with live deliveries that ended in this period, by name."""
    lines = _lines(live(period), by="integrator")
    accounts = Integrator.objects.in_bulk([line.of for line in lines])
    for line in lines:
        line.of = accounts[line.of]
    return sorted(lines, key=lambda line: (line.of.name.casefold(), line.of.pk))


def of_days(deliveries: DeliveryQuerySet, period: Period) -> list[Line]:
    """A line for each day on which one of `deliveries` ended; for each month if the period is long. In their order."""
    return of_parts(deliveries, period, period.dates)


def of_parts(deliveries: DeliveryQuerySet, period: Period, parts: Sequence[date]) -> list[Line]:
    """A line for each of `parts`, the period's dates or hours, in which one of `deliveries` ended, in their order."""
    lines = sorted(_lines(_numbered(deliveries, period, parts), by="number"), key=lambda line: line.of)
    for line in lines:
        line.of = parts[line.of - 1]
    return lines


def _numbered(deliveries: DeliveryQuerySet, period: Period, parts: Sequence[date]) -> DeliveryQuerySet:
    """Those of `deliveries` that ended in the period, each with the `number` of its part, from 1.

    `width_bucket` takes a fifth of the time that truncating each moment in a time zone takes.
    """
    moments = [part if isinstance(part, datetime) else midnight(part) for part in parts]
    starts = Value(moments, ArrayField(DateTimeField()))
    number = Func(F("closed_at"), starts, function="width_bucket", output_field=IntegerField())
    return deliveries.ended(period.start, period.end).annotate(number=number)


def rows(deliveries: DeliveryQuerySet, period: Period, *, limit: int, cursor: str = "") -> Page[Delivery]:
    """A page of those of `deliveries` that ended in this period, newest first, each with its amount.

    Raises InvalidCursor.
    """
    return page_in_order(
        deliveries.ended(period.start, period.end),
        limit=limit,
        cursor=cursor,
        scope=["report"],
        order="-closed_at",
        annotations=ENDED,
    )


class Row(NamedTuple):
    """A delivery in a file. `orders`: the externalIds of its stops, `statuses` theirs."""

    delivery: UUID
    requested_at: datetime
    ended_at: datetime
    ending: str
    price: Decimal
    retry_fee: Decimal | None
    return_fee: Decimal | None
    cancel_fee: Decimal | None
    amount: Decimal
    orders: list[str]
    statuses: list[str]
    mode: str


def all_rows(deliveries: DeliveryQuerySet, period: Period) -> Iterator[Row]:
    """Those of `deliveries` that ended in this period, in the order of their ends. Read in portions."""
    stops = Stop.objects.filter(delivery=OuterRef("pk")).order_by("index")
    found = (
        deliveries.ended(period.start, period.end)
        .with_amounts()
        .annotate(orders=ArraySubquery(stops.values("external_id")), statuses=ArraySubquery(stops.values("status")))
        .order_by("closed_at", "pk")
        .values_list(
            "pk",
            "created_at",
            "closed_at",
            "ending",
            "shipping_value",
            "retry_fee",
            "return_fee",
            "cancel_fee",
            "amount",
            "orders",
            "statuses",
            "mode",
        )
    )
    portion = list(found[:_PORTION])
    while portion:
        yield from map(Row._make, portion)
        last = Row._make(portion[-1])
        after = found.filter(closed_at__gte=last.ended_at).exclude(closed_at=last.ended_at, pk__lte=last.delivery)
        portion = list(after[:_PORTION])


def live(period: Period) -> DeliveryQuerySet:
    """Live deliveries of every account. The accounts are named, because the index begins with them."""
    every = ArraySubquery(Integrator.objects.order_by().values("pk"))
    found = Delivery.objects.filter(any_of("integrator", every), environment=Environment.LIVE)
    return found.ended(period.start, period.end)


def _lines(deliveries: DeliveryQuerySet, *, by: str) -> list[Line]:
    rows = deliveries.with_amounts().order_by().values_list(by, "ending").annotate(Count("pk"), **_SUMS)
    lines: dict[Any, Line] = {}
    for key, ending, count, *amounts in rows:
        line = lines.setdefault(key, Line(key))
        line.counts[ending] = count
        for charge, amount in zip(OWED, amounts, strict=True):
            line.amounts[charge] += amount
    return list(lines.values())


class Charged(NamedTuple):
    """What an account owes by one percentage of its tariff: of the price, of how many deliveries, in reais.

    The percentage is that of the moment when the delivery was requested.
    """

    charge: Charge
    percent: Decimal
    deliveries: int
    amount: Decimal


def charges(deliveries: DeliveryQuerySet, period: Period) -> list[Charged]:
    """What is owed for those of `deliveries` that ended in the period, as the sums of the period are made of it."""
    percents = {f"{charge}_at": percent for charge, percent in PERCENTS.items()}
    ended = deliveries.ended(period.start, period.end).order_by()
    rows: Iterable[Any] = ended.values(**percents).annotate(count=Count("pk"), **_SUMS)
    found: dict[tuple[Charge, Decimal], Charged] = {}
    for row in rows:
        for charge in Charge:
            if (percent := row[f"{charge}_at"]) is not None:
                before = found.get((charge, percent), Charged(charge, percent, 0, Decimal(0)))
                count, amount = before.deliveries + row["count"], before.amount + row[f"{charge}_sum"]
                found[charge, percent] = Charged(charge, percent, count, amount)
    order = list(Charge)
    return sorted(found.values(), key=lambda each: (order.index(each.charge), each.percent))


class _Median(Aggregate):
    """Interpolated by PostgreSQL."""

    template = "percentile_cont(0.5) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = DurationField()


@dataclass(frozen=True)
class Service:
    """How deliveries that a driver took went. `of` is what it is about: a day or month, a driver, or an account.

    `on_time`: how many of the delivered were `ON_TIME`. `waited`: the median from the offer to the first acceptance.
    """

    of: Any
    taken: int
    delivered: int
    on_time: int
    waited: timedelta | None

    @property
    def percent_on_time(self) -> float | None:
        return 100 * self.on_time / self.delivered if self.delivered else None

    @property
    def minutes(self) -> float | None:
        return None if self.waited is None else self.waited.total_seconds() / 60


def service(deliveries: DeliveryQuerySet, *, by: str) -> dict[Any, Service]:
    """That of deliveries that have ended, by the values of a column or an annotation. Without the untaken ones."""
    waited = ExpressionWrapper(F("accepted_at") - OFFERED_AT, DurationField())
    rows = (
        deliveries.filter(driver__isnull=False)
        .with_due()
        .order_by()
        .values_list(by)
        .annotate(
            taken=Count("pk"),
            delivered=Count("pk", filter=DELIVERED),
            on_time=Count("pk", filter=DELIVERED & ON_TIME),
            median=_Median(waited),
        )
    )
    return {row[0]: Service(*row) for row in rows}


def service_of_period(deliveries: DeliveryQuerySet, period: Period) -> Service | None:
    """That of all of these deliveries of one environment that ended in the period. None if no driver took one."""
    found = service(deliveries.ended(period.start, period.end), by="environment")
    return next(iter(found.values()), None)


def service_of_dates(deliveries: DeliveryQuerySet, period: Period) -> dict[date, Service]:
    """That of the days of the period, or of its months if it is long."""
    return service_of_parts(deliveries, period, period.dates)


def service_of_parts(deliveries: DeliveryQuerySet, period: Period, parts: Sequence[date]) -> dict[date, Service]:
    """That of each of `parts`, the period's dates or hours."""
    found = service(_numbered(deliveries, period, parts), by="number")
    return {(part := parts[number - 1]): replace(each, of=part) for number, each in found.items()}


def service_of_drivers(deliveries: DeliveryQuerySet, period: Period) -> list[Service]:
    """That of each driver, who made most first."""
    found = service(deliveries.ended(period.start, period.end), by="driver")
    drivers = Driver.objects.in_bulk(list(found))
    named = [replace(each, of=drivers[key]) for key, each in found.items()]
    return sorted(named, key=lambda each: (-each.taken, each.of.name, each.of.pk))


class Reason(NamedTuple):
    """Why drop-offs were not delivered, or not at the first attempt, and how many. `text`: where no code says it."""

    code: str
    text: str
    failed: int
    delivered_later: int  # at the second attempt


def reasons(deliveries: DeliveryQuerySet, period: Period) -> list[Reason]:
    """The most frequent first. Cancelled deliveries do not count."""
    made = deliveries.ended(period.start, period.end).filter(driver__isnull=False, cancelled_at=None)
    is_failed, is_later = Q(status=Status.FAILED), Q(status=Status.DELIVERED, tried_at__isnull=False)
    failed = Stop.objects.filter(is_failed | is_later, delivery__in=made.order_by().values("pk")).order_by()
    is_told_by_code = Q(failure_code__isnull=False) & ~Q(failure_code__in=("", FailureCode.OTHER))
    rows = (
        failed.values(
            code=Coalesce("failure_code", Value("")),
            text=Case(When(is_told_by_code, then=Value("")), default=F("failure_reason")),
        )
        .annotate(failed=Count("pk", filter=is_failed), delivered_later=Count("pk", filter=is_later))
        .order_by(-(F("failed") + F("delivered_later")), "code", "text")
        .values_list("code", "text", "failed", "delivered_later")
    )
    return [Reason(*row) for row in rows]


def driver_share() -> Decimal:
    """The drivers' share of an amount by the rules of dispatch, 0 to 1."""
    return DispatchRules.current().driver_share_percent / 100


@dataclass(frozen=True)
class Work:
    """Finished routes, their kilometres, and what was earned, in reais. `of` is what it is about: a driver or a day.

    `on_time`: how many of the routes ended before they were late, each stop by its own deadline, or by the rules of
    today.
    """

    of: Any
    routes: int = 0
    km: Decimal = Decimal(0)
    earned: Decimal = Decimal(0)
    on_time: int = 0

    @property
    def on_time_percent(self) -> int | None:
        """Rounded down, so that 100 means all of them; None without routes."""
        return 100 * self.on_time // self.routes if self.routes else None


def work(deliveries: DeliveryQuerySet, *, by: str) -> dict[Any, Work]:
    """What drivers have done with deliveries that have ended, by the values of a column.

    Earned is what was fixed when each route was accepted. Routes older than that have today's share of the delivery's
    amount, which is the fee of a cancelled one.
    """
    finished = Q(route_status=RouteStatus.FINISHED)
    share = Round(F("amount") * driver_share(), precision=2, output_field=_SUM)
    rows = (
        deliveries.with_amounts()
        .with_due()
        .order_by()
        .values_list(by)
        .annotate(
            routes=Count("pk", filter=finished),
            km=Coalesce(Sum("distance_km", filter=finished), Value(Decimal(0)), output_field=_SUM),
            earned=Sum(Coalesce("driver_amount", share, output_field=_SUM)),
            on_time=Count("pk", filter=finished & ON_TIME),
        )
    )
    return {key: Work(key, *figures) for key, *figures in rows}


def of_drivers(period: Period) -> list[Work]:
    """That of each driver who was assigned to a live delivery that ended in this period, who earned most first."""
    found = work(live(period).filter(driver__isnull=False), by="driver")
    drivers = Driver.objects.in_bulk(list(found))
    named = [replace(each, of=drivers[key]) for key, each in found.items()]
    return sorted(named, key=lambda each: (-each.earned, each.of.name, each.of.pk))
