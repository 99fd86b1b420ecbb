"""What drivers have done and earned."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from common import clock
from delivery.actions import deliveries
from delivery.drivers import day
from delivery.lifecycle import Ending
from delivery.models import DutyChange, Tariff
from delivery.pricing import Pay
from tests.cases import in_turn
from tests.delivery.drivers.phones import Phone, phone
from tests.delivery.ended import Ended, insert
from tests.factories import BY, DeliveryFactory, DriverFactory
from tests.moments import Midnight, at_each_midnight
from tests.money import percent_of
from tests.zones import MANAUS

NOON = datetime(2026, 11, 22, 15, tzinfo=UTC)


@pytest.fixture
def ana(rules):
    rules(driver_share_percent=70)
    return DriverFactory.create(name="Ana")


def finished(driver, at):
    delivery = DeliveryFactory.create(stops=1, collected=True, driver=driver, at=at - timedelta(minutes=20))
    return deliveries.deliver(delivery=delivery, point="B", by=BY, at=at)


def of(driver, at=NOON):
    return day.latest(driver, at=at)


class TestLatest:
    def test_sums_the_routes_of_a_day(self, ana):
        first, second = finished(ana, NOON), finished(ana, NOON)

        today, *before = of(ana)

        assert today.routes == 2
        assert today.km == first.distance_km + second.distance_km
        assert today.earned == 2 * (first.shipping_value * Decimal("0.7")).quantize(Decimal("0.01"))
        assert [day.routes for day in before] == [0] * 6
        assert [day.earned for day in before] == [Decimal(0)] * 6

    @at_each_midnight
    def test_counts_a_route_on_the_day_of_its_end_in_the_services_time_zone(self, ana, midnight):
        week = timedelta(days=7)
        ends = [midnight.before, midnight.start, midnight.start, midnight.start - week, midnight.before - week]
        insert(DeliveryFactory.create(stops=1), *map(Ended, ends), driver=ana)

        late, early = of(ana, at=midnight.before), of(ana, at=midnight.after)

        assert [day.routes for day in late] == [1, 0, 0, 0, 0, 0, 1]
        assert [day.routes for day in early] == [2, 1, 0, 0, 0, 0, 0]
        assert (late[0].of, early[0].of) == (midnight.eve, midnight.day)

    @in_turn("percent", ["50", "12.5", "70.1", "0.5", "99.99"])
    def test_adds_up_the_shares_that_were_shown_with_the_offers(self, ana, rules, percent):
        """Each is rounded half up. Half of these shares end in half a centavo, or in nearly one."""
        rules(driver_share_percent=percent)
        step = Decimal("5.00") if percent in {"70.1", "0.5"} else Decimal("0.05")
        prices = [Decimal("0.01"), Decimal("99999999.95"), *(step * number for number in range(1, 20))]
        cancelled = Ended(NOON, Ending.CANCELLED, price=Decimal(1000), fee=step * 5)
        pattern = DeliveryFactory.create(stops=1)
        insert(pattern, cancelled, *(Ended(NOON, price=price) for price in prices), driver=ana)

        today = of(ana)[0]

        owed = [*prices, cancelled.fee]
        assert today.earned == sum(percent_of(amount, Decimal(percent)) for amount in owed)
        assert today.earned == sum(Pay(Decimal(percent)).amount(price=amount, km=Decimal(0)) for amount in owed)

    def test_pays_what_was_fixed_at_the_acceptance(self, ana, rules):
        delivery = finished(ana, NOON)
        rules(driver_share_percent=10)
        Tariff.objects.update(driver_fixed=Decimal(99))

        today = of(ana)[0]

        assert today.earned == delivery.driver_amount == percent_of(delivery.shipping_value, Decimal(70))

    def test_counts_the_routes_that_ended_in_time(self, ana):
        finished(ana, NOON)
        late = DeliveryFactory.create(stops=1, collected=True, driver=ana, at=NOON - timedelta(hours=9))
        deliveries.deliver(delivery=late, point="B", by=BY, at=NOON)

        today, yesterday = of(ana)[:2]

        assert (today.routes, today.on_time, today.on_time_percent) == (2, 1, 50)
        assert yesterday.on_time_percent is None

    def test_pays_the_share_of_the_fee_of_a_cancelled_delivery(self, ana):
        delivery = DeliveryFactory.create(stops=1, accepted=True, driver=ana, at=NOON)
        fee = deliveries.cancel(delivery=delivery, reason="", by=BY, at=NOON).cancel_fee or Decimal(0)

        today = of(ana)[0]

        assert (today.routes, today.km) == (0, 0)
        assert today.earned == (fee * Decimal("0.7")).quantize(Decimal("0.01"))

    def test_reads_the_week_and_not_the_history_before_it(self, ana):
        history = (Ended(NOON - timedelta(days=30, minutes=number)) for number in range(2_000))
        insert(DeliveryFactory.create(stops=1), *history, Ended(NOON), driver=ana)

        with CaptureQueriesContext(connection) as queries:
            assert of(ana)[0].routes == 1

        with connection.cursor() as cursor:
            cursor.execute("ANALYZE delivery_delivery")
            cursor.execute(f"EXPLAIN (ANALYZE) {queries[0]['sql']}")
            plan = "\n".join(line for (line,) in cursor.fetchall())
        assert len(queries) == 1
        assert "delivery_ended_of_driver" in plan
        assert "Rows Removed by Filter" not in plan

    def test_shows_no_other_drivers_routes(self, ana):
        finished(DriverFactory.create(), NOON)

        assert of(ana)[0].routes == 0


@pytest.mark.django_db
class TestPage:
    @pytest.mark.parametrize(("language", "text"), [("en", "Today"), ("pt-br", "Hoje")])
    def test_is_for_the_driver(self, language, text):
        ana = phone()

        page = ana.client.get("/driver/day/", headers={"accept-language": language}).content.decode()

        assert f"<h1>{text}</h1>" in page

    def test_has_the_days_of_the_service_and_the_moments_of_where_the_driver_is(self, monkeypatch):
        """In Manaus, whose clocks are an hour behind."""
        ana = Phone(DriverFactory.create(at_point=MANAUS.point))
        midnight = Midnight(timezone.localdate() + timedelta(days=2))
        began = midnight.start + timedelta(minutes=10)
        for ended in (midnight.before, midnight.before, began):
            finished(ana.driver, ended)
        for on_duty, at in ((False, midnight.before), (True, began)):
            DutyChange.objects.create(driver=ana.driver, on_duty=on_duty, at=at)
        monkeypatch.setattr(clock, "now", lambda: midnight.after)

        page = ana.get("day/")

        today, yesterday = page.context["today"], page.context["before"][0]
        assert (today["work"].of, today["work"].routes, yesterday["work"].routes) == (midnight.day, 1, 2)
        assert today["duty"].total == timedelta(minutes=20)
        assert "23:10–now" in page.content.decode()

    def test_has_the_days_before_on_which_there_was_something(self, monkeypatch):
        ana = phone()
        monkeypatch.setattr(clock, "now", lambda: NOON)
        assert "You were not on duty, and had no route." in ana.get("day/").content.decode()
        finished(ana.driver, NOON - timedelta(days=2))
        for on_duty, hour in ((True, 1), (False, 2)):
            DutyChange.objects.create(driver=ana.driver, on_duty=on_duty, at=NOON - timedelta(days=4, hours=-hour))

        page = ana.get("day/")

        found = [(NOON.date() - each["work"].of).days for each in page.context["before"]]
        assert (found, page.content.decode().count("No route")) == ([2, 4], 1)

    @pytest.mark.parametrize(("percent", "count"), [(0, 0), (70, 1)])
    def test_has_amounts_where_drivers_have_a_share(self, rules, percent, count):
        rules(driver_share_percent=percent)

        assert phone().get("day/").content.decode().count("R$") == count

    def test_needs_a_session(self, client):
        assert client.get("/driver/day/").headers["Location"] == "/driver/"
