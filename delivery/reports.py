"""What accounts owe and drivers have earned for the deliveries that ended within a period.

A delivery counts once, in the moment its route ended. Such a row never changes, so the sums of a period that is over
are final.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Count, DateField, DecimalField, F, OuterRef, Q, Sum, Value
from django.db.models.functions import Coalesce, Round, TruncDate, TruncMonth
from django.utils import timezone

from common.fields import any_of
from common.pagination import Page, page_in_order
from delivery.lifecycle import Ending, RouteStatus
from delivery.models import Delivery, DispatchRules, Driver, Environment, Integrator, Stop
from delivery.models.delivery import ENDED, DeliveryQuerySet

_DAY = timedelta(days=1)
# A period of more days is summed by months.
_MOST_DAYS_BY_DAY = 62
_PORTION = 2_000
_SUM = DecimalField(max_digits=20, decimal_places=2)


@dataclass(frozen=True)
class Period:
    """Whole days in the service's time zone, from `first` to `last`, both included."""

    first: date
    last: date

    @classmethod
    def month_of(cls, day: date) -> "Period":
        first = day.replace(day=1)
        return cls(first, (first + 31 * _DAY).replace(day=1) - _DAY)

    @property
    def start(self) -> datetime:
        return _midnight(self.first)

    @property
    def end(self) -> datetime:
        """The first moment after the period."""
        return _midnight(self.last + _DAY)

    @property
    def is_by_day(self) -> bool:
        return (self.last - self.first).days < _MOST_DAYS_BY_DAY

    @property
    def month_before(self) -> "Period":
        return Period.month_of(Period.month_of(self.first).first - _DAY)

    @property
    def month_after(self) -> "Period":
        return Period.month_of(Period.month_of(self.last).last + _DAY)

    def within(self, other: "Period") -> "Period":
        """The days that both periods have."""
        return Period(max(self.first, other.first), min(self.last, other.last))


def _midnight(day: date) -> datetime:
    """The first moment of a day. Where clocks skip midnight this is the moment of the change, which fold 0 gives."""
    return datetime.combine(day, time(), timezone.get_current_timezone())


@dataclass
class Line:
    """Deliveries that ended, and what their account owes for them: numbers and reais by ending.

    `of` is what the line is about: an account, a day, the first day of a month, or None for a total.
    """

    of: Any = None
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(Ending, 0))
    amounts: dict[str, Decimal] = field(default_factory=lambda: dict.fromkeys(Ending, Decimal(0)))

    @property
    def count(self) -> int:
        return sum(self.counts.values())

    @property
    def prices(self) -> Decimal:
        """The prices of the deliveries whose route a driver made."""
        return self.amounts[Ending.DELIVERED] + self.amounts[Ending.NOT_DELIVERED]

    @property
    def fees(self) -> Decimal:
        return self.amounts[Ending.CANCELLED]

    @property
    def amount(self) -> Decimal:
        return sum(self.amounts.values(), Decimal(0))


def total(lines: Iterable[Line]) -> Line:
    whole = Line()
    for line in lines:
        for ending in Ending:
            whole.counts[ending] += line.counts[ending]
            whole.amounts[ending] += line.amounts[ending]
    return whole


def of_all_accounts(period: Period) -> list[Line]:
    """A line for each account with live deliveries that ended in this period, by name."""
    lines = _lines(_live(period), by="integrator")
    accounts = Integrator.objects.in_bulk([line.of for line in lines])
    for line in lines:
        line.of = accounts[line.of]
    return sorted(lines, key=lambda line: (line.of.name.casefold(), line.of.pk))


def of_days(deliveries: DeliveryQuerySet, period: Period) -> list[Line]:
    """A line for each day on which one of `deliveries` ended; for each month if the period is long. In their order."""
    ended = deliveries.ended(period.start, period.end)
    if period.is_by_day:
        dated = ended.annotate(date=TruncDate("closed_at"))
    else:
        dated = ended.annotate(date=TruncMonth("closed_at", output_field=DateField()))
    return sorted(_lines(dated, by="date"), key=lambda line: line.of)


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
    """A delivery in a file. `orders`: the externalIds of its stops."""

    delivery: UUID
    requested_at: datetime
    ended_at: datetime
    ending: str
    price: Decimal
    fee: Decimal | None
    amount: Decimal
    orders: list[str]


def all_rows(deliveries: DeliveryQuerySet, period: Period) -> Iterator[Row]:
    """Those of `deliveries` that ended in this period, in the order of their ends. Read in portions."""
    orders = Stop.objects.filter(delivery=OuterRef("pk")).order_by("index").values("external_id")
    found = (
        deliveries.ended(period.start, period.end)
        .with_amounts()
        .annotate(orders=ArraySubquery(orders))
        .order_by("closed_at", "pk")
        .values_list("pk", "created_at", "closed_at", "ending", "shipping_value", "cancel_fee", "amount", "orders")
    )
    portion = list(found[:_PORTION])
    while portion:
        yield from map(Row._make, portion)
        last = Row._make(portion[-1])
        after = found.filter(closed_at__gte=last.ended_at).exclude(closed_at=last.ended_at, pk__lte=last.delivery)
        portion = list(after[:_PORTION])


def _live(period: Period) -> DeliveryQuerySet:
    """Live deliveries of every account. The accounts are named, because the index begins with them."""
    every = ArraySubquery(Integrator.objects.order_by().values("pk"))
    found = Delivery.objects.filter(any_of("integrator", every), environment=Environment.LIVE)
    return found.ended(period.start, period.end)


def _lines(deliveries: DeliveryQuerySet, *, by: str) -> list[Line]:
    rows = deliveries.with_amounts().order_by().values_list(by, "ending").annotate(Count("pk"), Sum("amount"))
    lines: dict[Any, Line] = {}
    for key, ending, count, amount in rows:
        line = lines.setdefault(key, Line(key))
        line.counts[ending], line.amounts[ending] = count, amount
    return list(lines.values())


def driver_share() -> Decimal:
    """The drivers' share of an amount, 0 to 1. 0: no amounts are shown."""
    return DispatchRules.current().driver_share_percent / 100


@dataclass(frozen=True)
class Work:
    """Finished routes, their kilometres, and what was earned, in reais. `of` is what it is about: a driver or a day."""

    of: Any
    routes: int = 0
    km: Decimal = Decimal(0)
    earned: Decimal = Decimal(0)


def work(deliveries: DeliveryQuerySet, *, by: str) -> dict[Any, Work]:
    """What drivers have done with deliveries that have ended, by the values of a column.

    Shares are rounded for each delivery, so that a sum is that of what was shown with the offers. Of a cancelled
    delivery the driver has the share of the fee.
    """
    finished = Q(route_status=RouteStatus.FINISHED)
    share = Round(F("amount") * driver_share(), precision=2, output_field=_SUM)
    rows = (
        deliveries.with_amounts()
        .order_by()
        .values_list(by)
        .annotate(
            routes=Count("pk", filter=finished),
            km=Coalesce(Sum("distance_km", filter=finished), Value(Decimal(0)), output_field=_SUM),
            earned=Sum(share, output_field=_SUM),
        )
    )
    return {key: Work(key, routes, km, earned) for key, routes, km, earned in rows}


def of_drivers(period: Period) -> list[Work]:
    """That of each driver who was assigned to a live delivery that ended in this period, by name."""
    found = work(_live(period).filter(driver__isnull=False), by="driver")
    drivers = Driver.objects.filter(pk__in=list(found)).order_by("name", "pk")
    return [replace(found[driver.pk], of=driver) for driver in drivers]
