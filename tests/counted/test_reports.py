"""What the reports of deliveries count. A delivery counts once, in the moment its route ended."""

from collections import Counter
from decimal import Decimal
from functools import partial

import pytest

from delivery import reports
from delivery.drivers import day
from delivery.lifecycle import FailureCode, RouteStatus, Status
from delivery.models import Delivery, DutyChange, Environment
from delivery.pricing import Charge
from tests.counted.moments import DAY, HOUR, MINUTE, NOON, NOVEMBER, REQUESTED, TICK
from tests.counted.rows import check, counts
from tests.factories import DriverFactory

FAILED, OTHER = {"status": Status.FAILED}, FailureCode.OTHER
AT_THE_EDGES = {
    "ended in the first moment": {"closed_at": NOVEMBER.start},
    "ended in the last moment": {"closed_at": NOVEMBER.end - TICK},
}
OUTSIDE = {
    "ended before the period": {"closed_at": NOVEMBER.start - TICK},
    "ended when the period was over": {"closed_at": NOVEMBER.end},
}


@pytest.fixture
def finished(of_delivery):
    return partial(of_delivery, route=RouteStatus.FINISHED, closed_at=NOON)


@pytest.fixture
def ended(of_delivery):
    """Makes one that ended at noon."""
    return partial(of_delivery, closed_at=NOON)


@pytest.fixture
def own(account):
    return lambda: Delivery.objects.within(account, Environment.LIVE)


@pytest.fixture
def not_own(other, in_sandbox):
    return {"of another account": {"integrator": other}, "of the sandbox": in_sandbox}


@counts(
    "delivery/models/delivery.py:DeliveryQuerySet.within",
    "delivery/models/delivery.py:DeliveryQuerySet.of",
    "delivery/models/delivery.py:DeliveryQuerySet.ended",
    "delivery/reports.py:all_rows",
)
def test_rows_of_an_account(finished, own, not_own, shop, of_delivery):
    under_way = {"under way": partial(of_delivery, RouteStatus.RETURNING)}
    for deliveries in (own, lambda: Delivery.objects.of(shop)):
        check(
            lambda found=deliveries: list(reports.all_rows(found(), NOVEMBER)),  # type: ignore[misc]  # called at once
            of=finished,
            fit={"at noon": {}, "at the same moment": {}, **AT_THE_EDGES},
            not_=not_own | OUTSIDE | under_way,
        )


@counts("delivery/reports.py:live")
def test_live_deliveries_of_all_accounts(finished, other, in_sandbox):
    check(
        lambda: reports.total(reports.of_all_accounts(NOVEMBER)).count,
        of=finished,
        fit={"at noon": {}, "of another account": {"integrator": other}, **AT_THE_EDGES},
        not_={"of the sandbox": in_sandbox, **OUTSIDE},
    )


@counts("delivery/models/delivery.py:_CHARGES", "delivery/models/delivery.py:_IS_CANCELLED")
@counts("delivery/models/delivery.py:_PAYS_BEFORE_PICKUP", "delivery/models/delivery.py:DELIVERED")
@counts(
    "delivery/models/delivery.py:_ENDING", "delivery/models/delivery.py:OWED", "delivery/models/delivery.py:PERCENTS"
)
def test_endings_and_what_they_owe(of_delivery, own, driver):
    """By the table of fees: the price if a driver made the route, a fee by stage if it was cancelled, else nothing."""
    of = partial(
        of_delivery, closed_at=NOON, shipping_value=Decimal(1000), retry_percent=5, return_percent=6,
        cancel_percent_accepted=30, cancel_percent_collected=80, distance_km=3,
    )  # fmt: skip  # a table
    failed, finished, cancelled = FAILED | {"has_failed_stop": True}, RouteStatus.FINISHED, RouteStatus.CANCELLED
    after_pickup = {"status": Status.FAILED, "cancelled_at": NOON - HOUR, "cancel_fee": 800}
    late_collection = after_pickup | {"cancel_fee": 300, "fee_before_pickup": True}

    def found():
        line = reports.total(reports.of_days(own(), NOVEMBER))
        percents = {f"{each.charge} {each.percent:.0f}": each.amount for each in reports.charges(own(), NOVEMBER)}
        amounts = {charge: amount for charge, amount in line.amounts.items() if amount}
        assert sum(percents.values()) == sum(amounts.values()) == line.amount
        return line.counts | percents | {"charges": sum(each.deliveries for each in reports.charges(own(), NOVEMBER))}

    check(
        found,
        fit={
            "delivered": (partial(of, finished), {"delivered": 1, "price 100": 1000, "charges": 1}),
            "delivered at one stop, failed at the other": (
                partial(of, finished, has_failed_stop=True),
                {"not_delivered": 1, "price 100": 1000, "charges": 1},
            ),
            "failed, at no stop": (
                partial(of, finished, **FAILED),
                {"not_delivered": 1, "price 100": 1000, "charges": 1},
            ),
            "delivered at the second attempt": (
                partial(of, finished, retry_fee=50),
                {"delivered": 1, "price 100": 1000, "retry 5": 50, "charges": 2},
            ),
            "failed and brought back": (
                partial(of, finished, return_fee=60, **failed),
                {"not_delivered": 1, "price 100": 1000, "return 6": 60, "charges": 2},
            ),
            "cancelled while it was offered": (partial(of, cancelled), {"cancelled": 1}),
            "cancelled after acceptance": (
                partial(of, cancelled, driver=driver, cancel_fee=300),
                {"cancelled": 1, f"{Charge.CANCEL_ACCEPTED} 30": 300, "charges": 1},
            ),
            "cancelled after pickup": (
                partial(of, finished, **after_pickup),
                {"cancelled": 1, f"{Charge.CANCEL_COLLECTED} 80": 800, "charges": 1},
            ),
            "cancelled after a stop had failed": (
                partial(of, finished, **after_pickup, has_failed_stop=True),
                {"cancelled": 1, f"{Charge.CANCEL_COLLECTED} 80": 800, "charges": 1},
            ),
            "cancelled before its collection was reported": (
                partial(of, finished, **late_collection),
                {"cancelled": 1, f"{Charge.CANCEL_ACCEPTED} 30": 300, "charges": 1},
            ),
            "taken by nobody": (partial(of, RouteStatus.EXPIRED), {"expired": 1}),
        },
        not_={},
    )


@counts("delivery/reports.py:service", "delivery/models/delivery.py:ON_TIME")
def test_how_deliveries_went(ended, finished, own, not_own, driver, rules):
    rules(late_pickup_minutes=30, late_minutes_per_km=10)
    in_time = {"distance_km": 3, "created_at": NOON - HOUR, "closed_at": NOON}  # which is 30 minutes and 10 a km
    of = partial(finished, **in_time)
    late = {"created_at": NOON - HOUR - TICK}

    def found():
        went = reports.service_of_period(own(), NOVEMBER)
        drivers = reports.service_of_drivers(own(), NOVEMBER)
        figures = {name: getattr(went, name) if went else 0 for name in ("taken", "delivered", "on_time")}
        assert figures == {name: sum(getattr(each, name) for each in drivers) for name in figures}
        return figures

    delivered, on_time = {"taken": 1, "delivered": 1}, {"taken": 1, "delivered": 1, "on_time": 1}
    check(
        found,
        of=of,
        fit={
            "just in time": ({}, on_time),
            "late": (late, delivered),
            "within its own deadline": (late | {"deadline_at": NOON}, on_time),
            "after the deadline of one of its stops": (
                {"deadline_at": NOON + DAY, "missed_deadline": True},
                delivered,
            ),
            "failed at one stop": ({"has_failed_stop": True}, {"taken": 1}),
            "failed": (FAILED, {"taken": 1}),
            "cancelled after acceptance": (partial(ended, RouteStatus.CANCELLED, driver=driver), {"taken": 1}),
            **{name: (values, on_time) for name, values in AT_THE_EDGES.items() if name != "ended in the last moment"},
        },
        not_={"taken by nobody": partial(ended, RouteStatus.EXPIRED), **OUTSIDE, **not_own},
    )


@counts("delivery/reports.py:work", "delivery/reports.py:of_drivers")
def test_what_drivers_have_earned(ended, finished, other, in_sandbox, driver, rules):
    rules(driver_share_percent=50, late_pickup_minutes=30, late_minutes_per_km=10)
    of = partial(
        finished, driver=driver, distance_km=3, driver_amount=7, shipping_value=100, created_at=NOON - HOUR,
    )  # fmt: skip  # a table

    def found():
        figures: Counter[str] = Counter()
        for work in reports.of_drivers(NOVEMBER):
            figures.update({name: getattr(work, name) for name in ("routes", "km", "earned", "on_time")})
        return figures

    one = {"routes": 1, "km": 3, "earned": 7, "on_time": 1}
    check(
        found,
        of=of,
        fit={
            "delivered": ({}, one),
            "of another account and driver": ({"integrator": other, "driver": DriverFactory.create()}, one),
            "failed": (FAILED, one),
            "late": ({"created_at": REQUESTED - MINUTE}, one | {"on_time": 0}),
            "accepted before amounts were fixed": ({"driver_amount": None}, one | {"earned": 50}),
            "cancelled after acceptance": (
                partial(ended, RouteStatus.CANCELLED, driver=driver, distance_km=3, driver_amount=2),
                {"earned": 2},
            ),
        },
        not_={
            "taken by nobody": partial(ended, RouteStatus.EXPIRED),
            "cancelled while it was offered": partial(ended, RouteStatus.CANCELLED),
            "of the sandbox": in_sandbox | {"driver": None},
            **OUTSIDE,
        },
    )


@counts("delivery/reports.py:reasons")
def test_why_drop_offs_failed(ended, finished, own, not_own, driver):
    absent = {"failure_code": FailureCode.ABSENT, "failure_reason": "nobody"}
    failed = {"stops": [{**FAILED, **absent}]}
    tried = {**absent, "tried_at": NOON - HOUR}
    of = partial(finished, **failed)

    def found():
        reasons = reports.reasons(own(), NOVEMBER)
        assert all(each.failed + each.delivered_later for each in reasons)
        return {
            f"{each.code} {each.text} {name}": number
            for each in reasons
            for name, number in (("failed", each.failed), ("later", each.delivered_later))
        }

    check(
        found,
        of=of,
        fit={
            "failed at once": ({}, {"ABSENT  failed": 1}),
            "at two stops": ({"stops": failed["stops"] * 2}, {"ABSENT  failed": 2}),
            "failed twice": ({"stops": [{**FAILED, **tried}]}, {"ABSENT  failed": 1}),
            "delivered at the second attempt": ({"stops": [tried]}, {"ABSENT  later": 1}),
            "for a reason of its own": (
                {"stops": [{**FAILED, **absent, "failure_code": OTHER}]},
                {"OTHER nobody failed": 1},
            ),
            "before there were codes": (
                {"stops": [{**FAILED, **absent, "failure_code": None}]},
                {" nobody failed": 1},
            ),
            **{name: (values, {"ABSENT  failed": 1}) for name, values in AT_THE_EDGES.items()},
        },
        not_={
            "delivered at once": {"stops": [{}]},
            "cancelled after pickup": {**FAILED, "cancelled_at": NOON, "cancel_fee": 0},
            "cancelled after acceptance": partial(ended, RouteStatus.CANCELLED, **failed, driver=driver),
            "taken by nobody": partial(ended, RouteStatus.EXPIRED, **failed),
            **OUTSIDE,
            **not_own,
        },
    )


@counts("delivery/drivers/day.py:latest")
def test_work_that_a_driver_sees(finished, of_delivery, other, driver):
    """Of today and the six days before, by the clocks of the service."""
    midnight = NOON - 12 * HOUR
    check(
        lambda: {work.of.isoformat(): work.routes for work in day.latest(driver, at=NOON)},
        of=partial(finished, driver=driver),
        fit={
            "today": ({}, {"2026-11-22": 1}),
            "of another account": ({"integrator": other}, {"2026-11-22": 1}),
            "yesterday": ({"closed_at": midnight - TICK}, {"2026-11-21": 1}),
            "six days ago": ({"closed_at": midnight - 6 * DAY}, {"2026-11-16": 1}),
        },
        not_={
            "seven days ago": {"closed_at": midnight - 6 * DAY - TICK},
            "of another driver": {"driver": DriverFactory.create()},
            "under way": partial(of_delivery, RouteStatus.RETURNING, driver=driver),
        },
    )


@counts("delivery/drivers/day.py:_spans")
def test_hours_on_duty(driver):
    """From the last change before the day, until the day is over."""
    start, end = NOON - 12 * HOUR, NOON + 12 * HOUR
    DutyChange.objects.bulk_create(
        [DutyChange(driver=driver, on_duty=is_on, at=at) for at, is_on in ((NOON, True), (NOON + HOUR, False))]
    )

    def changed(*changes, of=driver):
        DutyChange.objects.bulk_create([DutyChange(driver=of, on_duty=is_on, at=at) for at, is_on in changes])

    def found():
        spans = list(day._spans(driver, start, end))
        return {"spans": len(spans), "hours": sum(((each.ended or end) - each.began) / HOUR for each in spans)}

    on, off = (partial(lambda is_on, at: (at, is_on), is_on) for is_on in (True, False))
    check(
        found,
        fit={
            "in the evening": (
                partial(changed, on(NOON + 7 * HOUR), off(NOON + 9 * HOUR)), {"spans": 1, "hours": 2},
            ),
            "over midnight": (partial(changed, on(start - HOUR), off(start + HOUR)), {"spans": 1, "hours": 2}),
            "until the end": (partial(changed, on(end - HOUR), off(end)), {"spans": 1, "hours": 1}),
        },
        not_={
            "before the last change": partial(changed, on(start - 3 * HOUR), off(start - HOUR)),
            "after the end": partial(changed, on(end)),
            "of another driver": partial(changed, on(start - HOUR), off(start), of=DriverFactory.create()),
        },
    )  # fmt: skip  # a table
