"""What counts in a report, when, and with which amount."""

from datetime import date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from common.pages.periods import Period
from delivery import reports
from delivery.actions import deliveries, moves
from delivery.lifecycle import Ending, OnFailure
from delivery.models import Delivery, Tariff
from delivery.pricing import Charge
from delivery.windows import Window
from tests.cases import in_turn
from tests.delivery.ended import TRAVELS, Ended, insert, travelled
from tests.delivery.scheduled import scheduled
from tests.factories import BY, DeliveryFactory, DriverFactory, TariffFactory, TokenFactory
from tests.moments import at_each_midnight
from tests.money import percent_of

NOVEMBER = Period(date(2026, 11, 1), date(2026, 11, 30))
NOON = datetime(2026, 11, 22, 12, tzinfo=ZoneInfo("America/Sao_Paulo"))
TICK, ONE = timedelta(microseconds=1), timedelta(days=1)


MINUTE = timedelta(minutes=1)


@pytest.fixture
def shop(db):
    return TokenFactory.create()


@pytest.fixture
def pattern(shop):
    return DeliveryFactory.create(token=shop, stops=1)


@pytest.fixture
def driver(db):
    return DriverFactory.create(name="Ana")


def of(shop):
    return Delivery.objects.within(shop.integrator, shop.environment)


def november(shop):
    return reports.total(reports.of_days(of(shop), NOVEMBER))


class TestAmount:
    """Of deliveries that were moved by the actions."""

    @in_turn(
        ("route", "ending", "price", "fee"),  # in percent of the price
        [
            ("accept, collect, deliver B, deliver C", "delivered", 100, 0),
            ("accept, collect, deliver B, fail C, return", "not_delivered", 100, 0),
            ("accept, collect, fail B, fail C, return", "not_delivered", 100, 0),
            ("cancel", "cancelled", 0, 0),
            ("accept, cancel", "cancelled", 0, 30),
            ("accept, collect, cancel, return", "cancelled", 0, 100),
        ],
    )
    def test_is_the_price_or_the_fee_from_the_last_move_on(self, shop, driver, route, ending, price, fee):
        delivery = DeliveryFactory.create(token=shop, stops=2, at=NOON)
        counts = []

        for move in route.split(", "):
            name, _space, point = move.partition(" ")
            fields = {"point": point, "reason": "closed"}
            moves.perform(name, delivery=delivery, fields=fields, by=BY, at=NOON)
            counts.append(november(shop).count)

        line = november(shop)
        prices, fees = (percent_of(delivery.shipping_value, Decimal(percent)) for percent in (price, fee))
        assert counts == [0] * (len(counts) - 1) + [1]
        assert line.counts == {**dict.fromkeys(Ending, 0), ending: 1}
        assert (line.prices, line.fees, line.amount) == (prices, fees, prices + fees)
        codes = {"accept, cancel": ["cancel_accepted"], "accept, collect, cancel, return": ["cancel_collected"]}
        assert [*Delivery.objects.get().fees] == codes.get(route, [])

    def test_is_the_fee_of_one_that_was_cancelled_after_pickup_when_the_goods_are_back(self, shop):
        delivery = DeliveryFactory.create(token=shop, stops=1, collected=True, at=NOON)
        deliveries.cancel(delivery=delivery, reason="", by=BY, at=datetime(2026, 10, 31, 23, tzinfo=NOON.tzinfo))
        before = november(shop).count
        deliveries.return_(delivery=delivery, by=BY, at=datetime(2026, 11, 1, 1, tzinfo=NOON.tzinfo))

        line = november(shop)

        assert before == 0
        assert (line.counts["cancelled"], line.amount) == (1, delivery.shipping_value)  # 100 % after pickup

    def test_is_nothing_for_an_offer_that_expired(self, shop):
        delivery = DeliveryFactory.create(token=shop, stops=1, at=NOON)
        deliveries.expire(delivery=delivery, by=BY, at=NOON + timedelta(hours=1))

        line = november(shop)

        assert (line.counts["expired"], line.amount) == (1, 0)


def owed(answer):
    """What a delivery that has ended costs, from its detail."""
    is_called_off = answer["cancelledAt"] is not None or answer["route"]["status"] == "EXPIRED"
    amounts = [fee["amount"] for fee in answer["fees"]]
    assert all(amounts), "no fee of nothing"
    return sum(Decimal(str(amount)) for amount in ([] if is_called_off else [answer["shippingValue"]]) + amounts)


class TestMoneyOfFailures:
    """What a second attempt and the way back cost is in the tariff, in percent of the price."""

    RETRY, BACK = Decimal("12.5"), Decimal("33.33")

    @pytest.fixture(autouse=True)
    def _tariff(self, db):
        TariffFactory.create()
        Tariff.objects.update(retry_percent=self.RETRY, return_percent=self.BACK)

    @in_turn("travel", TRAVELS)
    def test_is_fixed_by_the_move_that_causes_it(self, shop, driver, travel):
        delivery = travelled(travel, token=shop, at=NOON)

        line, owed = november(shop), travel.owed(delivery, retry=self.RETRY, back=self.BACK)
        assert {charge: amount for charge, amount in line.amounts.items() if amount} == owed
        charges = {each.charge: each for each in reports.charges(of(shop), NOVEMBER)}
        assert {charge: each.amount for charge, each in charges.items()} == owed
        assert {each.deliveries for each in charges.values()} <= {1}
        assert line.amount == sum(owed.values())

    def test_is_the_same_in_the_answers_of_the_api(self, shop, driver):
        """Of a day with deliveries of all kinds, to the cent, each and together."""
        expired = DeliveryFactory.create(token=shop, at=NOON)
        deliveries.expire(delivery=expired, by=BY, at=NOON + timedelta(hours=1))
        made = [*(travelled(travel, token=shop, at=NOON) for travel in TRAVELS), expired]
        for route in ("cancel", "accept cancel", "accept collect cancel return"):
            made.append(DeliveryFactory.create(token=shop, at=NOON))
            for verb in route.split():
                moves.perform(verb, delivery=made[-1], fields={}, by=BY, at=NOON)
        api = APIClient(HTTP_AUTHORIZATION=f"Bearer {shop.clear_text}")

        answers = {str(each.pk): api.get(f"/api/deliveries/{each.pk}").json() for each in made}

        rows = {str(row.pk): row.amount for row in reports.all_rows(of(shop), NOVEMBER)}
        assert {key: owed(answer) for key, answer in answers.items()} == rows
        assert sum(rows.values()) == november(shop).amount > 0

    def test_is_that_of_the_tariff_at_the_request(self, shop, driver):
        travel = next(each for each in TRAVELS if each.retries == 2)
        first = travelled(travel, token=shop, at=NOON)
        Tariff.objects.update(retry_percent=50)
        second = travelled(travel, token=shop, at=NOON)
        Tariff.objects.update(retry_percent=99)

        retries = [each for each in reports.charges(of(shop), NOVEMBER) if each.charge == Charge.RETRY]

        assert retries == [
            (Charge.RETRY, percent, 1, 2 * percent_of(delivery.shipping_value, percent))
            for delivery, percent in ((first, self.RETRY), (second, Decimal(50)))
        ]

    def test_is_nothing_unless_the_tariff_says_so(self, shop, driver):
        Tariff.objects.update(retry_percent=0, return_percent=0)
        travel = next(each for each in TRAVELS if each.retries and each.back)
        delivery = travelled(travel, token=shop, at=NOON)

        assert november(shop).amount == delivery.shipping_value
        assert [each[1:] for each in reports.charges(of(shop), NOVEMBER)] == [
            (Decimal(100), 1, delivery.shipping_value), (Decimal(0), 1, Decimal(0)), (Decimal(0), 1, Decimal(0)),
        ]  # fmt: skip  # price, second attempt, way back

    def test_leaves_the_drivers_earning_as_it_was(self, shop, driver, rules):
        rules(driver_share_percent=50)
        travel = next(each for each in TRAVELS if each.retries == 2)
        delivery = travelled(travel, token=shop, at=NOON)

        assert delivery.driver_amount == percent_of(delivery.shipping_value, Decimal(50))


@pytest.mark.parametrize(
    ("zone", "day", "start", "end"),
    [
        ("America/Sao_Paulo", "2026-11-22", "2026-11-22T03:00Z", "2026-11-23T03:00Z"),
        ("America/New_York", "2026-03-08", "2026-03-08T05:00Z", "2026-03-09T04:00Z"),  # 23 hours
        ("America/New_York", "2026-11-01", "2026-11-01T04:00Z", "2026-11-02T05:00Z"),  # 25 hours
        ("America/Santiago", "2026-09-06", "2026-09-06T04:00Z", "2026-09-07T03:00Z"),  # begins at 1:00
        ("America/Santiago", "2026-04-04", "2026-04-04T03:00Z", "2026-04-05T04:00Z"),  # 23:00 to 24:00 twice
    ],
)
class TestDay:
    def test_has_its_first_and_last_microsecond_and_no_other(self, shop, pattern, driver, zone, day, start, end):
        first, after = datetime.fromisoformat(start), datetime.fromisoformat(end)
        rows = [Ended(at, price=Decimal(n)) for n, at in ((1, first - TICK), (2, first), (4, after - TICK), (8, after))]
        insert(pattern, *rows, driver=driver)
        date_ = date.fromisoformat(day)

        with timezone.override(zone):
            (line,) = reports.of_days(of(shop), Period(date_, date_))
            page = reports.rows(of(shop), Period(date_, date_), limit=10)
            around = reports.of_days(of(shop), Period(date_ - 3 * ONE, date_ + 3 * ONE))

        assert (line.of, line.count, line.amount) == (date_, 2, Decimal(6))
        assert [row.shipping_value for row in page.rows] == [4, 2]
        assert [(each.of, each.count) for each in around] == [(date_ - ONE, 1), (date_, 2), (date_ + ONE, 1)]


class TestMonth:
    @at_each_midnight
    def test_ends_at_midnight_of_the_services_time_zone(self, shop, pattern, driver, midnight):
        ends = [midnight.start - TICK, midnight.before, midnight.start, midnight.after]
        insert(pattern, *(Ended(at, price=Decimal(2**n)) for n, at in enumerate(ends)), driver=driver)
        before, after = Period.month_of(midnight.eve), Period.month_of(midnight.day)

        months = [reports.total(reports.of_days(of(shop), month)).amount for month in (before, after)]
        lines = reports.of_days(of(shop), Period(before.first, before.first + timedelta(days=99)))

        assert months == [1 + 2, 4 + 8]
        assert [(line.of, line.amount) for line in lines] == [(before.first, Decimal(3)), (after.first, Decimal(12))]

    @pytest.mark.parametrize(
        ("day", "last"), [("2026-02-01", "2026-02-28"), ("2028-02-29", "2028-02-29"), ("2026-12-31", "2026-12-31")]
    )
    def test_has_all_its_days(self, day, last):
        month = Period.month_of(date.fromisoformat(day))

        assert (month.first.day, month.last) == (1, date.fromisoformat(last))

    @pytest.mark.parametrize(
        ("first", "last", "today", "before"),
        [
            ("2026-11-01", "2026-11-30", "2026-12-04", ("2026-10-01", "2026-10-31")),
            ("2026-11-01", "2026-11-30", "2026-11-26", ("2026-10-01", "2026-10-26")),
            ("2026-03-01", "2026-03-31", "2026-03-30", ("2026-02-01", "2026-02-28")),
            ("2026-11-10", "2026-11-19", "2026-11-26", ("2026-10-31", "2026-11-09")),
            ("2026-11-10", "2026-11-19", "2026-11-12", ("2026-10-31", "2026-11-02")),
            ("2026-11-26", "2026-11-26", "2026-11-26", ("2026-11-25", "2026-11-25")),
        ],
    )
    def test_is_compared_with_as_many_days_before_it(self, first, last, today, before):
        period = Period(*map(date.fromisoformat, (first, last)))

        assert period.before(date.fromisoformat(today)) == Period(*map(date.fromisoformat, before))

    def test_is_compared_with_nothing_before_it_begins(self):
        assert NOVEMBER.before(date(2026, 10, 31)) is None

    @pytest.mark.parametrize(
        ("first", "last", "before", "after"),
        [("2026-01-01", "2026-01-31", "2025-12", "2026-02"), ("2026-11-02", "2026-12-30", "2026-10", "2027-01")],
    )
    def test_is_beside_a_period(self, first, last, before, after):
        period = Period(date.fromisoformat(first), date.fromisoformat(last))

        assert f"{period.month_before.first:%Y-%m}" == before
        assert f"{period.month_after.first:%Y-%m}" == after

    def test_is_the_line_of_a_report_of_more_than_two_months(self):
        assert Period(date(2026, 7, 1), date(2026, 8, 31)).is_by_day
        assert not Period(date(2026, 7, 1), date(2026, 9, 1)).is_by_day


class TestOfAllAccounts:
    def test_has_a_line_each_with_live_deliveries_only(self, shop, pattern, driver):
        other = DeliveryFactory.create(stops=1)
        sandbox = DeliveryFactory.create(token=TokenFactory.create(sandbox=True), stops=1)
        insert(pattern, Ended(NOON), Ended(NOON, Ending.CANCELLED), driver=driver)
        insert(other, Ended(NOON, price=Decimal("0.01")), driver=driver)
        insert(sandbox, Ended(NOON), driver=DriverFactory.create(environment="sandbox"))

        lines = reports.of_all_accounts(NOVEMBER)

        assert [(line.of, line.amount) for line in lines] == [
            (shop.integrator, Decimal("26.00")), (other.integrator, Decimal("0.01")),
        ]  # fmt: skip  # a table
        assert reports.total(lines).amount == Decimal("26.01")

    def test_asks_two_questions_for_any_number_of_accounts(self, pattern, driver, django_assert_num_queries):
        for _number in range(3):
            insert(DeliveryFactory.create(stops=1), Ended(NOON), driver=driver)

        with django_assert_num_queries(2):
            assert len(reports.of_all_accounts(NOVEMBER)) == 3


class TestOfDrivers:
    def test_rounds_the_share_of_each_delivery(self, pattern, driver, rules):
        rules(driver_share_percent=70)
        bia = DriverFactory.create(name="Abia")  # who earned less comes after
        insert(pattern, *[Ended(NOON, price=Decimal("10.05"))] * 2, driver=driver)  # 7.035 each
        insert(pattern, Ended(NOON, Ending.CANCELLED, fee=Decimal("0.10")), Ended(NOON, Ending.EXPIRED), driver=bia)

        ana, other = reports.of_drivers(NOVEMBER)

        assert (ana.of, ana.routes, ana.km, ana.earned) == (driver, 2, 2 * pattern.distance_km, Decimal("14.08"))
        assert (other.of, other.routes, other.km, other.earned) == (bia, 0, Decimal(0), Decimal("0.07"))


class TestOnTime:
    """Each stop is judged by its own deadline."""

    BY_B, BY_C = NOON + 60 * MINUTE, NOON + 120 * MINUTE

    def made(self, shop, windows, *steps):
        """A delivery with these windows of its stops, of which these moves are made at these points and moments."""
        delivery = scheduled(pickup=Window(), dropoffs=windows, at=NOON, token=shop, moves=("accept", "collect"))
        for name, point, moment in steps:
            moves.perform(name, delivery=delivery, fields={"point": point, "code": "ABSENT"}, by=BY, at=moment)

    def judged(self, shop):
        """How many routes there were, and how many on time."""
        (work,) = reports.work(of(shop).ended(NOVEMBER.start, NOVEMBER.end), by="driver").values()
        return work.routes, work.on_time

    def on_time(self, shop, **at):
        """How many of the deliveries and of the routes, of which stops are delivered at these moments, were on time."""
        stops = [Window(None, self.BY_B), Window(None, self.BY_C)]
        delivery = scheduled(pickup=Window(), dropoffs=stops, at=NOON, token=shop, moves=("accept", "collect"))
        for point, (moment, made_at) in at.items():
            deliveries.deliver(delivery=delivery, point=point, by=BY, at=moment, made_at=made_at)
        (served,) = reports.service_of_drivers(of(shop), NOVEMBER)
        (work,) = reports.work(of(shop).ended(NOVEMBER.start, NOVEMBER.end), by="driver").values()
        return served.on_time, work.on_time

    def test_is_a_route_of_which_each_stop_was(self, shop):
        assert self.on_time(shop, B=(self.BY_B, None), C=(self.BY_C, None)) == (1, 1)

    def test_is_a_hundred_percent_of_routes_only_where_all_were(self):
        shares = [reports.Work(None, routes=200, on_time=on_time).on_time_percent for on_time in (0, 199, 200)]

        assert shares == [0, 99, 100]

    def test_is_no_route_of_which_one_stop_was_late_though_the_last_was_not(self, shop):
        assert self.on_time(shop, B=(self.BY_B + TICK, None), C=(self.BY_C, None)) == (0, 0)

    def test_counts_the_moment_at_which_the_driver_was_there(self, shop):
        later = self.BY_C + MINUTE
        assert self.on_time(shop, B=(self.BY_C, self.BY_B), C=(later, self.BY_C)) == (1, 1)

    def test_asks_for_nothing_of_a_stop_without_a_deadline(self, shop):
        self.made(shop, [Window(None, self.BY_B), Window()], ("deliver", "B", self.BY_B), ("deliver", "C", self.BY_C))

        assert self.judged(shop) == (1, 1)

    @in_turn(("first", "second", "on_time"), [(-MINUTE, 20 * MINUTE, 1), (TICK, MINUTE, 0), (-3 * MINUTE, -MINUTE, 1)])
    @in_turn("move", ["deliver", "fail", "recall"])
    def test_judges_the_first_visit(self, shop, first, second, on_time, move):
        shop.integrator.on_failure = OnFailure.RETRY
        end = self.BY_B + second
        back = [] if move == "deliver" else [("return", "", end)]

        self.made(shop, [Window(None, self.BY_B)], ("fail", "B", self.BY_B + first), (move, "B", end), *back)

        assert self.judged(shop) == (1, on_time)

    @pytest.mark.parametrize(("ago", "on_time"), [(-MINUTE, 0), (MINUTE, 1)])
    def test_judges_a_stop_that_was_cancelled_at_that_moment(self, shop, ago, on_time):
        moment = self.BY_B - ago
        self.made(shop, [Window(None, self.BY_B)], ("cancel", "", moment), ("return", "", moment + ONE / 24))

        assert self.judged(shop) == (1, on_time)

    def test_is_no_stop_at_which_the_driver_failed_too_late(self, shop):
        late = self.BY_B + MINUTE

        self.made(shop, [Window(None, self.BY_B)], ("fail", "B", late), ("return", "", late))

        assert self.judged(shop) == (1, 0)

    @pytest.mark.parametrize("windows", [[Window(), Window()], [Window(None, BY_B), Window(None, BY_C)]])
    def test_is_no_delivery_of_which_a_part_failed(self, shop, windows):
        self.made(shop, windows, ("deliver", "B", NOON), ("fail", "C", NOON), ("return", "", NOON + MINUTE))

        (served,) = reports.service_of_drivers(of(shop), NOVEMBER)
        assert (served.taken, served.delivered, served.on_time) == (1, 0, 0)
        assert (served.percent_on_time, november(shop).counts[Ending.DELIVERED]) == (None, 0)
        # Of all accounts, of a period and of its days: one rule for all.
        (of_day,) = reports.service_of_dates(of(shop), NOVEMBER).values()
        of_period = reports.service_of_period(of(shop), NOVEMBER)
        (of_account,) = reports.service(reports.live(NOVEMBER), by="integrator").values()
        assert of_period is not None
        assert [each.delivered for each in (of_day, of_period, of_account)] == [0, 0, 0]

    def test_without_deadlines_counts_from_when_the_last_stop_is_ready(self, shop):
        ready = NOON + 110 * MINUTE
        windows = [Window(ready), Window(NOON + MINUTE)]
        delivery = scheduled(pickup=Window(), dropoffs=windows, at=NOON, token=shop, moves=("accept", "collect"))
        for point in "BC":
            deliveries.deliver(delivery=delivery, point=point, by=BY, at=ready)

        (served,) = reports.service_of_drivers(of(shop), NOVEMBER)
        assert served.on_time == 1


class TestWaiting:
    """How long an offer waited for a driver."""

    def test_is_the_median_from_the_offer_to_the_first_acceptance(self, shop, driver):
        """In minutes: an offer right after its request, one that was scheduled, and one that was offered twice."""
        for ready, offered, accepted in ((None, None, [30]), (600, 500, [504]), (None, None, [8, 90])):
            delivery = scheduled(ready * MINUTE if ready else None, at=NOON, token=shop)
            if offered:
                deliveries.offer(delivery=delivery, by=BY, at=NOON + offered * MINUTE)
            for number, minutes in enumerate(accepted):
                at = NOON + minutes * MINUTE
                if number:
                    deliveries.release(delivery=delivery, by=BY, at=at)
                deliveries.accept(delivery=delivery, driver=driver, by=BY, at=at)
            deliveries.cancel(delivery=delivery, reason="", by=BY, at=NOON + 2 * ONE)
        untaken, of_other = (DeliveryFactory.create(token=shop, stops=1, at=NOON) for _number in range(2))
        other = DriverFactory.create(name="Abia")  # who made fewer comes after
        deliveries.accept(delivery=of_other, driver=other, by=BY, at=NOON + MINUTE)
        for delivery in (untaken, of_other):
            deliveries.cancel(delivery=delivery, reason="", by=BY, at=NOON + 2 * ONE)

        found = reports.service_of_drivers(of(shop), NOVEMBER)

        assert [(each.of, each.taken, each.minutes) for each in found] == [(driver, 3, 8), (other, 1, 1)]


class TestReasons:
    """Of stops of routes that a driver made and that ended in the period."""

    def made(self, shop, route, *, at=NOON):
        """A delivery with two stops after these moves, each failure with its own code."""
        delivery = DeliveryFactory.create(token=shop, stops=2, at=at)
        for move in route.split(", "):
            name, point, code = (*move.split(" "), "", "")[:3]
            fields = {"point": point, "code": code, "reason": "back door" if code == "OTHER" else ""}
            moves.perform(name, delivery=delivery, fields=fields, by=BY, at=at)
        return delivery

    def test_are_of_deliveries_that_were_not_cancelled_and_that_a_driver_took(self, shop, driver):
        counted = "accept, collect, fail B UNSAFE, fail C OTHER, return"
        self.made(shop, counted)
        self.made(shop, "accept, collect, deliver B, fail C UNSAFE, return")
        # None of these counts.
        self.made(shop, counted.replace("UNSAFE", "CLOSED"), at=NOVEMBER.start - TICK)
        self.made(shop, counted.replace("UNSAFE", "CLOSED"), at=NOVEMBER.end)
        self.made(shop, "accept, collect, fail B DAMAGED, cancel, return")
        self.made(shop, "cancel")
        self.made(shop, "accept, collect, fail B REFUSED")
        expired = DeliveryFactory.create(token=shop, stops=1, at=NOON)
        deliveries.expire(delivery=expired, by=BY, at=NOON + timedelta(hours=1))

        # The most frequent first.
        assert reports.reasons(of(shop), NOVEMBER) == [("UNSAFE", "", 2, 0), ("OTHER", "back door", 1, 0)]


class TestAllRows:
    def test_come_in_portions_without_gap_or_repetition(self, shop, pattern, driver, monkeypatch):
        monkeypatch.setattr(reports, "_PORTION", 2)
        made = insert(pattern, *[Ended(NOON)] * 5, Ended(NOON - TICK), driver=driver)

        rows = list(reports.all_rows(of(shop), NOVEMBER))

        *later, first = made
        assert [row.pk for row in rows] == [first.pk, *sorted(row.pk for row in later)]

    def test_have_the_orders_of_a_delivery(self, shop):
        delivery = DeliveryFactory.create(token=shop, stops=2, at=NOON)
        deliveries.expire(delivery=delivery, by=BY, at=NOON + timedelta(hours=1))

        (row,) = reports.all_rows(of(shop), NOVEMBER)

        assert (row.orders, row.created_at, row.closed_at) == (["order-1", "order-2"], NOON, NOON + timedelta(hours=1))


class TestRows:
    def test_come_in_pages_without_gap_or_repetition(self, shop, pattern, driver):
        made = insert(pattern, *[Ended(NOON)] * 5, driver=driver)

        first = reports.rows(of(shop), NOVEMBER, limit=3)
        second = reports.rows(of(shop), NOVEMBER, limit=3, cursor=first.next_cursor or "")

        assert second.next_cursor is None
        assert [row.pk for row in (*first.rows, *second.rows)] == sorted((row.pk for row in made), reverse=True)
