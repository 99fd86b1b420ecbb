"""What accounts owe and drivers have earned for the deliveries that ended within a period.

A delivery counts once, in the moment its route ended. Such a row never changes, so the sums of a period that is over
are final.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cached_property, partial
from operator import attrgetter
from types import SimpleNamespace
from typing import Any, NamedTuple

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
from django.template.defaultfilters import floatformat
from django.utils.translation import gettext, pgettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from common.api.pagination import Page, page_in_order
from common.brazil.formats import moment, moment_in, money, number, short_id
from common.columns import FILE, PAGE, Column
from common.fields import any_of
from common.pages import reports
from common.pages.periods import Period, midnight
from common.pages.plots import Chart, Series
from common.pages.reports import Table
from delivery import words
from delivery.lifecycle import Ending, FailureCode, RouteStatus, Status
from delivery.models import Delivery, DispatchRules, Driver, Environment, Integrator, Stop, Tariff
from delivery.models.delivery import DELIVERED, ENDED, OFFERED_AT, ON_TIME, OWED, PERCENTS, DeliveryQuerySet
from delivery.models.stop import LABELS
from delivery.pricing import Charge

_PORTION = 2_000
_STOPS = Stop.objects.filter(delivery=OuterRef("pk")).order_by("index")
_OF_STOPS = {
    "orders": ArraySubquery(_STOPS.values("external_id")),
    "statuses": ArraySubquery(_STOPS.values("status")),
}
_OF_ROWS = ("pk", "created_at", "closed_at", "shipping_value", "retry_fee", "return_fee", "cancel_fee", "mode")
_SUM = DecimalField(max_digits=20, decimal_places=2)
_SUMS = {f"{charge}_sum": Sum(owed) for charge, owed in OWED.items()}


@dataclass
class Line:
    """Deliveries that ended, by ending, and what their account owes for them in reais, by kind.

    `of` is what the line is about: an account, a day, the first day of a month, or None for a total. `service`: how
    those that a driver took went, in tables.
    """

    of: Any = None
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(Ending, 0))
    amounts: dict[str, Decimal] = field(default_factory=lambda: dict.fromkeys(Charge, Decimal(0)))
    service: "Service | None" = None

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
    """A page of those of `deliveries` that ended in this period, newest first, with what `all_rows` has of each.

    Raises InvalidCursor.
    """
    return page_in_order(
        deliveries.ended(period.start, period.end),
        limit=limit,
        cursor=cursor,
        scope=["report"],
        order="-closed_at",
        annotations={**ENDED, **_OF_STOPS},
    )


def all_rows(deliveries: DeliveryQuerySet, period: Period) -> Iterator[Any]:
    """Those of `deliveries` that ended in this period, in the order of their ends. Read in portions.

    `orders`: the externalIds of a delivery's stops, `statuses` theirs.
    """
    found = (
        deliveries.ended(period.start, period.end)
        .with_amounts()
        .annotate(**_OF_STOPS)
        .order_by("closed_at", "pk")
        .values_list(*_OF_ROWS, "ending", "amount", *_OF_STOPS, named=True)
    )
    portion = list(found[:_PORTION])
    while portion:
        yield from portion
        last = portion[-1]
        after = found.filter(closed_at__gte=last.closed_at).exclude(closed_at=last.closed_at, pk__lte=last.pk)
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

    @property
    def name(self) -> str:
        return words.failure(self.code, words.text_of_simulator(self.text)) or gettext("No reason")


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


# Names of numbers of deliveries.
_COUNTED = {
    Ending.DELIVERED: pgettext_lazy("number of deliveries", "Delivered"),
    Ending.NOT_DELIVERED: pgettext_lazy("number of deliveries", "Not delivered"),
    Ending.CANCELLED: pgettext_lazy("number of deliveries", "Cancelled"),
    Ending.EXPIRED: pgettext_lazy("number of deliveries", "Offer expired"),
}
_LOOKS = {Ending.DELIVERED: "good", Ending.NOT_DELIVERED: "bad", Ending.CANCELLED: "warn", Ending.EXPIRED: "info"}
# The sums of a line with their names and colours.
_AMOUNTS: list[tuple[Any, str, Any]] = [
    (_("Prices"), "good", attrgetter("prices")),
    (words.CHARGES[Charge.RETRY], "info", attrgetter("retries")),
    (words.CHARGES[Charge.RETURN], "bad", attrgetter("returns")),
    (_("Cancellation fees"), "warn", attrgetter("fees")),
]
_ON_TIME, _MINUTES = _("Delivered on time"), _("Minutes until a driver accepts (median)")


class Report(reports.Report):
    """Of deliveries that ended: `of` gives those that a report of a period is about."""

    rule = (
        _(
            "Each delivery counts on the day it ended: with its price if a driver made the route, delivered or not; "
            "with the fee if it was cancelled; with nothing if no driver took it. Second attempts and the way back "
            "after a failure are added, if the tariff has a price for them."
        ),
        _(
            "A delivery was on time if the driver was at each stop before that stop's own deadline. Without deadlines "
            "of stops it was if the route ended within the dispatcher's usual times, counted from when everything was "
            "ready."
        ),
    )
    empty = _("No delivery ended in this period")
    compared = (
        (_("Deliveries that ended"), attrgetter("total.count"), {}),
        (
            _ON_TIME,
            attrgetter("service.percent_on_time"),
            {"shown": reports.share, "unit": _("points"), "better": 1},
        ),
        (_MINUTES, attrgetter("service.minutes"), {"shown": reports.minutes, "unit": _("min"), "better": -1}),
        (_("Total"), attrgetter("total.amount"), {"shown": money}),
    )

    @property
    def deliveries(self) -> DeliveryQuerySet:
        found: DeliveryQuerySet = self.of(self.period)
        return found

    @cached_property
    def lines(self) -> list[Line]:  # type: ignore[override]  # computed
        return of_days(self.deliveries, self.period)

    @cached_property
    def total(self) -> Line:
        return total(self.lines)

    @cached_property
    def service(self) -> Service:
        return service_of_period(self.deliveries, self.period) or Service(None, 0, 0, 0, None)

    @property
    def tables(self) -> Mapping[str, Callable[[], Table]]:
        return {"charges": self._charges, "reasons": self._reasons, "drivers": self._drivers, "days": self._days}

    def charts(self) -> list[Chart]:
        period = self.period
        if period.first == period.last:
            parts = reports.hours_until_now(period)
            lines = of_parts(self.deliveries, period, period.hours)
            service = service_of_parts(self.deliveries, period, period.hours)
        else:
            lines, service = self.lines, service_of_dates(self.deliveries, period)
            parts = reports.dates_until_today(period, {line.of for line in lines})
        by_part = {line.of: line for line in lines}
        kinds = kinds_of(self.total)
        chart = partial(reports.chart, parts=parts, period=period)
        return [
            chart(
                gettext("Deliveries"),
                [Series(_COUNTED[ending], _LOOKS[ending]) for ending in Ending],
                lambda part: [by_part.get(part, Line()).counts[ending] for ending in Ending],
            ),
            chart(
                gettext("Amount"),
                [Series(name, look) for name, look, _amount in kinds],
                lambda part: [amount(by_part.get(part, Line())) for _name, _look, amount in kinds],
                shown=money,
            ),
            chart(
                _ON_TIME,
                [Series(_("On time"), "good")],
                lambda part: [service[part].percent_on_time if part in service else None],
                shown=reports.share,
                has_totals=False,
                top=100,
            ),
            chart(
                _MINUTES,
                [Series(_("Minutes"), "info")],
                lambda part: [service[part].minutes if part in service else None],
                shown=reports.minutes,
                has_totals=False,
            ),
        ]

    def _charges(self) -> Table:
        """What makes up the sum, by kind and percentage."""
        columns = [
            Column(_("What for"), lambda row: words.CHARGES[row.charge]),
            Column(_("Of the price (%)"), "percent", _percent),
            Column(_("Deliveries"), "deliveries", number),
            Column(_("Amount"), "amount", money),
        ]
        note = gettext("The percentages are those of the tariff when each delivery was requested.")
        rows, whole = charges(self.deliveries, self.period), SimpleNamespace(percent=None, deliveries=None)
        whole.amount = self.total.amount
        return Table(_("What the amount is made of"), columns, rows, note=note, total=whole)

    def _days(self) -> Table:
        title = _("By day") if self.period.is_by_day else _("By month")
        columns = [reports.dated(self.period, "of"), *self._columns()]
        rows = _served(self.lines, service_of_dates(self.deliveries, self.period))
        return Table(title, columns, rows, total=self._whole())

    def _drivers(self) -> Table:
        columns = [
            Column(_("Driver"), "of.name"),
            Column(_("Routes"), "taken", number),
            Column(_("Delivered"), "delivered", number, on=FILE),
            *_columns_of_service(lambda row: row),
        ]
        rows = service_of_drivers(self.deliveries, self.period)
        return Table(_("Drivers"), columns, rows, bar=attrgetter("taken"))

    def _reasons(self) -> Table:
        columns = [
            Column(_("Reason"), "name"),
            Column(pgettext_lazy("number of stops", "Not delivered"), "failed", number, heading=_("Not delivered")),
            Column(_("Second attempt delivered"), "delivered_later", number),
        ]
        rows = reasons(self.deliveries, self.period)
        count = lambda row: row.failed + row.delivered_later  # noqa: E731  # the length of a bar
        return Table(_("Why drop-offs failed"), columns, rows, bar=count, look="bad")

    def _whole(self) -> Line:
        return replace(self.total, service=self.service)

    def _columns(self) -> list[Column]:
        """Of rows that are a Line. Files have what failures have added at the end, where people had none before."""
        has_extras = bool(self.total.extras)
        return [
            *(
                Column(_COUNTED[ending], partial(_count, ending), number, heading=words.ENDINGS[ending])
                for ending in Ending
            ),
            Column(_("Prices"), "prices", money),
            Column(_("Cancellation fees"), "fees", money),
            Column(_("Amount"), "amount", money),
            *_columns_of_service(attrgetter("service")),
            Column(words.CHARGES[Charge.RETRY], "retries", money, reports.where(has_extras)),
            Column(words.CHARGES[Charge.RETURN], "returns", money, reports.where(has_extras)),
        ]


class ReportOfAll(Report):
    """Of the live deliveries of every account, and of the earnings of drivers if they have a share."""

    @property
    def tables(self) -> Mapping[str, Callable[[], Table]]:
        earnings = {"earnings": self._earnings} if Tariff.pays_drivers() else {}
        return {"accounts": self._accounts, **earnings, **super().tables}

    def _accounts(self) -> Table:
        columns = [
            Column(_("Account"), "of.name"),
            Column("id", "of.pk", on=FILE),
            *reports.days_of(self.period),
            *self._columns(),
        ]
        found = {line.of.pk: line for line in of_all_accounts(self.period)}
        went = {found[key].of: each for key, each in service(self.deliveries, by="integrator").items() if key in found}
        rows = _served(found.values(), went)
        return Table(_("Live deliveries by account"), columns, rows, total=self._whole(), bar=attrgetter("amount"))

    def _earnings(self) -> Table:
        columns = [
            Column(_("Driver"), "of.name"),
            Column("id", "of.pk", on=FILE),
            *reports.days_of(self.period),
            Column(_("Routes"), "routes", number),
            Column("km", "km", number),
            Column(_("Earned"), "earned", money),
        ]
        rows = of_drivers(self.period)
        note = gettext("%(sum)s in all: of each route what the driver was shown when accepting it.")
        note %= {"sum": money(sum((row.earned for row in rows), Decimal(0)))}
        return Table(_("Drivers' earnings"), columns, rows, note=note, bar=attrgetter("earned"))


def kinds_of(line: Line) -> list[tuple[Any, str, Any]]:
    """The kinds of amounts with their names and colours. Without those of failures where they have cost nothing."""
    return _AMOUNTS if line.extras else [_AMOUNTS[0], _AMOUNTS[-1]]


def _count(ending: Ending, line: Line) -> int:
    return line.counts[ending]


def _served(lines: Iterable[Line], service: Mapping[Any, Service]) -> list[Line]:
    return [replace(line, service=service.get(line.of)) for line in lines]


def _columns_of_service(get: Callable[[Any], Service | None]) -> list[Column]:
    def value(name: str) -> Callable[[Any], Any]:
        return lambda row: getattr(get(row), name, None)

    return [
        Column(_ON_TIME, value("on_time"), number, on=FILE),
        *reports.in_tenths(_("On time (%)"), value("percent_on_time"), reports.share),
        *reports.in_tenths(_MINUTES, value("minutes"), reports.minutes),
    ]


def table_of_deliveries(made: Sequence[Any], whole: Line) -> Table:
    """The deliveries that a report's sums are made of: those of `rows` for its page, of `all_rows` for its file."""
    labels = enumerate(LABELS)
    has_extras = bool(whole.extras)
    columns = [
        Column(_("Order"), _names, on=PAGE),
        Column("deliveryId", "pk", on=FILE),
        *(Column(f"{label}: externalId", partial(_order, index), on=FILE) for index, label in labels),
        Column(_("Requested"), "created_at", moment, on=FILE),
        Column(pgettext("moment", "Ended"), "closed_at", moment, on=FILE),
        Column(pgettext("moment", "Ended"), lambda row: moment_in(row.closed_at, row), on=PAGE),
        Column(pgettext("of a delivery", "Ending"), ending_name),
        Column(_("Price"), "shipping_value", money),
        Column(_("Cancellation fee"), "cancel_fee", money),
        Column(_("Amount"), "amount", money),
        Column(words.CHARGES[Charge.RETRY], "retry_fee", money, reports.where(has_extras)),
        Column(words.CHARGES[Charge.RETURN], "return_fee", money, reports.where(has_extras)),
    ]
    return Table(_("Deliveries"), columns, made)


def _order(index: int, row: Any) -> str:
    return row.orders[index] if index < len(row.orders) else ""


def _names(row: Any) -> str:
    return ", ".join(filter(None, row.orders)) or short_id(row.pk)


def _percent(value: Decimal) -> str:
    return f"{floatformat(value, '-2')} %"


def ending_name(row: Any) -> str:
    return words.ending(row.ending, row.mode, failed=row.statuses.count(Status.FAILED), stops=len(row.statuses))
