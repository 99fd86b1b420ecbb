"""When a scheduled delivery is offered, and what holds before."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.utils import ProgrammingError
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from delivery.actions import deliveries, drivers, moves, schedule
from delivery.alerts import actions as alerts
from delivery.alerts.models import LATE_MINUTES
from delivery.errors import MoveRefused
from delivery.geo.distance import away_from
from delivery.lifecycle import Mode, RouteStatus
from delivery.models import Delivery, Environment, Transition, WebhookEvent
from delivery.windows import Window
from tests.delivery.scheduled import scheduled
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory, TokenFactory

pytestmark = pytest.mark.django_db
NOW = timezone.now()
MINUTE = timedelta(minutes=1)
SECOND = timedelta(seconds=1)
# By hand: a motorcycle takes 0.1872 s for a metre of the straight line, so 4,800 m take 898.56 s, almost 15 minutes.
AT_15_MINUTES = {"at_point": away_from(PICKUP, metres=4800, bearing=90)}
FIFTEEN = timedelta(seconds=898.56)
# Without a driver two thirds of 15 km count.
NOBODY = timedelta(seconds=1872)


def status(delivery):
    return Delivery.objects.get(pk=delivery.pk).route_status


def offered_at(begin, end):
    """When workers offer a route between these moments, which begins with a whole minute. None: they do not."""
    for step in range(int((end - begin) / (15 * SECOND)) + 1):
        at = begin + step * 15 * SECOND
        work = schedule.offer_due if step % 4 else schedule.plan
        if work(at=at):
            return at
    return None


class TestRequest:
    @pytest.mark.parametrize(
        ("ahead", "route"),
        [
            (NOBODY, RouteStatus.AVAILABLE),
            (NOBODY + SECOND, RouteStatus.SCHEDULED),
            (15 * MINUTE, RouteStatus.AVAILABLE),  # should have been offered before it was requested
            (-MINUTE, RouteStatus.AVAILABLE),
        ],
    )
    def test_is_scheduled_where_it_is_ready_later_than_its_lead(self, settings, ahead, route):
        delivery = scheduled(ahead, at=NOW)

        assert (delivery.status, status(delivery)) == ("PENDING", route)
        ready = NOW + ahead if ahead > timedelta(0) else None
        assert Delivery.objects.get(pk=delivery.pk).scheduled_for == ready
        offered = NOW + SECOND if route == RouteStatus.SCHEDULED else NOW
        assert delivery.offer_expires_at == offered + settings.OFFER_TTL

    def test_is_offered_at_least_ten_minutes_before(self):
        DriverFactory.create(at_point=PICKUP)

        assert status(scheduled(10 * MINUTE, at=NOW)) == RouteStatus.AVAILABLE
        assert status(scheduled(10 * MINUTE + SECOND, at=NOW)) == RouteStatus.SCHEDULED

    def test_is_offered_at_most_an_hour_before(self, settings):
        settings.OFFER_LEAD = timedelta(minutes=60)

        assert status(scheduled(60 * MINUTE, at=NOW)) == RouteStatus.AVAILABLE
        assert status(scheduled(60 * MINUTE + SECOND, at=NOW)) == RouteStatus.SCHEDULED

    def test_keeps_the_moments_that_were_asked_for(self):
        pickup = Window(NOW + 60 * MINUTE, NOW + 90 * MINUTE)
        stops = [Window(NOW + 70 * MINUTE, NOW + 150 * MINUTE), Window(NOW + 80 * MINUTE, NOW + 120 * MINUTE)]
        was_ready = Window(NOW - MINUTE)

        delivery = Delivery.objects.get(pk=scheduled(pickup=pickup, dropoffs=[*stops, was_ready], at=NOW).pk)

        assert delivery.window == pickup
        assert [stop.window for stop in delivery.ordered_stops] == [*stops, Window()]
        assert (delivery.ready_at, delivery.deadline_at) == (NOW + 80 * MINUTE, NOW + 150 * MINUTE)

    @pytest.mark.parametrize(("ready", "first", "begins"), [(60, None, 60), (None, 90, 90), (60, 90, 90), (90, 60, 90)])
    def test_in_mode_reverse_begins_at_the_first_stop(self, ready, first, begins):
        pickup, *stops = [Window(minutes and NOW + minutes * MINUTE) for minutes in (ready, first, None)]

        delivery = scheduled(pickup=pickup, dropoffs=stops, at=NOW, mode=Mode.REVERSE)

        assert (status(delivery), delivery.scheduled_for) == (RouteStatus.SCHEDULED, NOW + begins * MINUTE)


class TestOffer:
    def test_comes_when_the_nearest_free_driver_would_have_to_set_out_and_never_before(self):
        delivery = scheduled(120 * MINUTE, at=NOW)
        DriverFactory.create(**AT_15_MINUTES)
        due = NOW + 120 * MINUTE - FIFTEEN

        at = offered_at(NOW + 59 * MINUTE, NOW + 120 * MINUTE)

        assert due <= at < due + 15 * SECOND
        found = Delivery.objects.get(pk=delivery.pk)
        assert (found.route_status, found.offer_at) == (RouteStatus.AVAILABLE, at)
        assert found.offer_expires_at == at + timedelta(minutes=60)

    def test_is_expected_later_once_a_driver_is_near(self):
        delivery = scheduled(50 * MINUTE, at=NOW)
        DriverFactory.create(at_point=PICKUP)
        DriverFactory.create(**AT_15_MINUTES)

        schedule.plan(at=NOW)

        found = Delivery.objects.get(pk=delivery.pk)
        assert (found.offer_at, found.offer_expires_at) == (NOW + 40 * MINUTE, NOW + 100 * MINUTE)

    def test_is_in_the_history_and_is_no_event(self):
        delivery = scheduled(120 * MINUTE, at=NOW)

        deliveries.offer(delivery=delivery, by=BY, at=NOW + MINUTE)

        last = Transition.objects.latest("id")
        assert (last.trigger, last.status, last.route_status) == ("offer", "PENDING", "AVAILABLE")
        assert WebhookEvent.objects.count() == 1
        assert Delivery.objects.get(pk=delivery.pk).last_sequence == 1

    def test_is_none_to_drivers_before(self):
        delivery, driver = scheduled(120 * MINUTE, at=NOW), DriverFactory.create(at_point=PICKUP)
        offers = Delivery.objects.offered_to(driver, at=NOW, since=NOW - MINUTE, radius_m=20_000)

        assert list(offers) == []
        with pytest.raises(MoveRefused):
            deliveries.accept(delivery=delivery, driver=driver, by=BY, at=NOW)
        deliveries.offer(delivery=delivery, by=BY, at=NOW)
        assert list(offers.all()) == [delivery]

    def test_is_made_of_all_that_were_missed_in_the_order_in_which_they_are_ready(self):
        found = [scheduled(ahead * MINUTE, at=NOW) for ahead in (120, 60, 90)]
        far = scheduled(600 * MINUTE, at=NOW)

        assert schedule.offer_due(at=NOW + 180 * MINUTE) == 3

        offers = Transition.objects.filter(trigger="offer").order_by("id").values_list("delivery", flat=True)
        assert list(offers) == [found[1].pk, found[2].pk, found[0].pk]
        assert status(far) == RouteStatus.SCHEDULED

    def test_is_made_once(self):
        delivery = scheduled(60 * MINUTE, at=NOW)

        assert [schedule.offer_due(at=NOW + 55 * MINUTE) for _twice in range(2)] == [1, 0]
        with pytest.raises(MoveRefused):
            deliveries.offer(delivery=delivery, by=BY, at=NOW)

    def test_does_not_follow_a_cancellation(self):
        delivery = scheduled(60 * MINUTE, at=NOW)
        deliveries.cancel(delivery=delivery, reason="", by=BY, at=NOW)

        assert schedule.offer_due(at=NOW + 60 * MINUTE) == 0
        found = Delivery.objects.get(pk=delivery.pk)
        assert (found.status, found.route_status, found.cancel_fee) == ("FAILED", "CANCELLED", Decimal(0))

    def test_expires_as_long_after_it_as_any_other(self):
        delivery = scheduled(600 * MINUTE, at=NOW)
        at = NOW + 590 * MINUTE
        deliveries.expire_overdue(at=at)
        schedule.offer_due(at=at)

        assert [deliveries.expire_overdue(at=at + after) for after in (59 * MINUTE, 60 * MINUTE)] == [0, 1]
        assert status(delivery) == RouteStatus.EXPIRED

    def test_can_be_made_before_by_a_dispatcher_who_can_do_nothing_else_but_cancel(self):
        delivery = scheduled(600 * MINUTE, at=NOW)

        assert moves.allowed(delivery) == ["offer", "cancel"]
        moved = moves.perform("offer", delivery=delivery, fields={}, by=BY, at=NOW)
        assert moves.allowed(moved) == ["accept", "cancel"]

    def test_in_the_sandbox_is_ten_minutes_before(self):
        token = TokenFactory.create(sandbox=True)

        delivery = scheduled(11 * MINUTE, at=NOW, token=token)

        assert delivery.environment == Environment.SANDBOX
        assert schedule.plan(at=NOW + MINUTE - SECOND) == 0
        assert schedule.offer_due(at=NOW + MINUTE) == 1


class TestPlan:
    def test_of_many_routes_costs_no_statement_for_each(self, django_assert_num_queries):
        DriverFactory.create()
        for _number in range(5):
            scheduled(50 * MINUTE, at=NOW, mode=Mode.REVERSE)
        schedule.plan(at=NOW)

        with django_assert_num_queries(4):  # the routes, their stops, who declined them, the free drivers
            assert schedule.plan(at=NOW) == 0
        with django_assert_num_queries(1):
            assert schedule.offer_due(at=NOW) == 0

    def test_of_a_route_whose_driver_has_come_nearer_is_not_offered_at_the_moment_of_before(self):
        delivery, driver = scheduled(50 * MINUTE, at=NOW), DriverFactory.create(**AT_15_MINUTES)
        schedule.plan(at=NOW)
        before = NOW + 50 * MINUTE - FIFTEEN
        drivers.set_position(driver=driver, point=PICKUP, by=BY, at=before)

        assert schedule.offer_due(at=before + SECOND) == 0
        assert Delivery.objects.get(pk=delivery.pk).offer_at == NOW + 40 * MINUTE
        assert schedule.offer_due(at=NOW + 40 * MINUTE) == 1

    def test_notes_the_earlier_moment_of_a_route_whose_driver_has_gone_farther_away(self, settings):
        now = timezone.now()  # before the position that the driver begins with
        delivery, driver = scheduled(50 * MINUTE, at=now), DriverFactory.create(at_point=PICKUP)
        schedule.plan(at=now)
        drivers.set_position(driver=driver, point=AT_15_MINUTES["at_point"], by=BY, at=now + MINUTE)

        schedule.plan(at=now + MINUTE)

        found = Delivery.objects.get(pk=delivery.pk)
        assert found.offer_at is not None
        assert abs(found.offer_at - (now + 50 * MINUTE - FIFTEEN)) < SECOND
        assert found.offer_expires_at == found.offer_at + settings.OFFER_TTL

    def test_offers_a_route_whose_driver_has_gone_away(self):
        delivery, driver = scheduled(50 * MINUTE, at=NOW), DriverFactory.create(at_point=PICKUP)
        schedule.plan(at=NOW)
        drivers.set_duty([driver], on_duty=False)
        at = NOW + 50 * MINUTE - NOBODY + SECOND

        assert schedule.offer_due(at=at) == 0
        assert schedule.plan(at=at) == 1
        assert status(delivery) == RouteStatus.AVAILABLE

    def test_locks_a_route_once_before_its_offer(self):
        scheduled(50 * MINUTE, at=NOW)

        with CaptureQueriesContext(connection) as captured:
            assert schedule.offer_due(at=NOW + 50 * MINUTE) == 1

        (lock,) = [each["sql"] for each in captured if "FOR NO KEY UPDATE" in each["sql"]]
        assert "SKIP LOCKED" in lock


class TestLateness:
    """What is due when: `due_at` of each route status."""

    def due(self, delivery):
        """Also compares with what the driver is told of the places ahead."""
        found: Any = Delivery.objects.filter(pk=delivery.pk).with_due().with_due_at_places().get()
        if found.is_held:
            told, is_at_stops = found.due_at_places(), found.route_status == RouteStatus.COLLECTED
            of_stops = [at for label, at in told.items() if label != "A"]
            assert (min(of_stops) if is_at_stops else told[found.next_place.label]) == found.due_at
        return found.due_at

    def test_counts_from_the_offer_without_a_driver(self):
        delivery = scheduled(600 * MINUTE, at=NOW)
        assert self.due(delivery) == NOW + 600 * MINUTE

        deliveries.offer(delivery=delivery, by=BY, at=NOW + 500 * MINUTE)

        assert self.due(delivery) == NOW + 510 * MINUTE

    @pytest.mark.parametrize(("deadline", "due"), [(None, 630), (620, 620), (700, 700)])
    def test_follows_the_deadline_of_the_pickup_or_counts_from_when_it_is_ready(self, deadline, due):
        pickup = Window(NOW + 600 * MINUTE, deadline and NOW + deadline * MINUTE)
        delivery = scheduled(pickup=pickup, at=NOW)
        deliveries.offer(delivery=delivery, by=BY, at=NOW + MINUTE)

        deliveries.accept(delivery=delivery, driver=DriverFactory.create(), by=BY, at=NOW + MINUTE)

        assert self.due(delivery) == NOW + due * MINUTE

    def test_follows_the_earliest_deadline_of_the_open_stops(self):
        stops = [Window(None, NOW + 100 * MINUTE), Window(None, NOW + 60 * MINUTE), Window(None, NOW + 80 * MINUTE)]
        delivery = scheduled(pickup=Window(), dropoffs=stops, at=NOW, moves=("accept", "collect"))

        found = []
        for point in "CDB":
            found.append(self.due(delivery))
            deliveries.deliver(delivery=delivery, point=point, by=BY, at=NOW)

        assert [(due - NOW) / MINUTE for due in found] == [60, 80, 100]

    def test_counts_the_way_once_no_open_stop_has_a_deadline(self):
        stops = [Window(None, NOW + 100 * MINUTE), Window()]
        delivery = scheduled(pickup=Window(), dropoffs=stops, at=NOW, moves=("accept", "collect"))

        deliveries.deliver(delivery=delivery, point="B", by=BY, at=NOW)

        assert self.due(delivery) == NOW + 30 * MINUTE + 4 * MINUTE * float(delivery.distance_km)

    def test_without_a_deadline_counts_the_way_from_when_the_last_stop_is_ready(self):
        stops = [Window(NOW + 120 * MINUTE), Window(NOW + 240 * MINUTE)]
        pickup = Window(None, NOW + 300 * MINUTE)
        delivery = scheduled(pickup=pickup, dropoffs=stops, at=NOW, moves=("accept", "collect"))
        plain = scheduled(pickup=pickup, dropoffs=[Window()] * 2, at=NOW, moves=("accept", "collect"))
        early = scheduled(pickup=Window(), dropoffs=[Window(NOW + 110 * MINUTE)], at=NOW, moves=("accept", "collect"))

        by_km = self.due(plain) - (NOW + 300 * MINUTE)
        assert self.due(delivery) == self.due(plain)  # the deadline of the pickup is later
        assert self.due(early) == NOW + 110 * MINUTE + 4 * MINUTE * float(early.distance_km)
        assert by_km == 4 * MINUTE * float(plain.distance_km)
        late = Delivery.objects.late(Environment.LIVE, at=NOW + 100 * MINUTE)
        assert [*late, *alerts.untaken_or_late(at=NOW + 100 * MINUTE)] == []

    def test_of_a_reverse_route_follows_the_stop_that_comes_next(self):
        stops = [Window(), Window(NOW + 100 * MINUTE), Window(None, NOW + 200 * MINUTE)]
        delivery = scheduled(pickup=Window(), dropoffs=stops, at=NOW, mode=Mode.REVERSE, moves=("accept",))
        without = scheduled(pickup=Window(), dropoffs=stops[:2], at=NOW, mode=Mode.REVERSE, moves=("accept",))
        assert (self.due(delivery), self.due(without)) == (NOW + 30 * MINUTE, NOW + 30 * MINUTE)

        for failed, point in ((without, "B"), (delivery, "B"), (delivery, "C")):
            deliveries.fail(delivery=failed, point=point, code="ABSENT", reason="", by=BY, at=NOW)

        assert (self.due(delivery), self.due(without)) == (NOW + 200 * MINUTE, NOW + 130 * MINUTE)

    def test_of_a_reverse_route_counts_the_way_once_something_is_collected(self):
        delivery = scheduled(pickup=Window(), dropoffs=[Window()] * 2, at=NOW, mode=Mode.REVERSE, moves=("accept",))

        deliveries.collect(delivery=delivery, point="B", by=BY, at=NOW)

        assert self.due(delivery) == NOW + 30 * MINUTE + 4 * MINUTE * float(delivery.distance_km)

    def test_has_the_way_back_from_the_latest_deadline(self):
        stops = [Window(None, NOW + 100 * MINUTE)] * 2
        delivery = scheduled(pickup=Window(), dropoffs=stops, at=NOW, moves=("accept", "collect"))
        deliveries.deliver(delivery=delivery, point="B", by=BY, at=NOW)
        assert self.due(delivery) == NOW + 100 * MINUTE

        deliveries.fail(delivery=delivery, point="C", code="ABSENT", reason="", by=BY, at=NOW)

        assert self.due(delivery) == NOW + 100 * MINUTE + 4 * MINUTE * float(delivery.distance_km)

    def test_of_an_alert_without_a_driver_counts_from_the_offer(self):
        delivery = scheduled(600 * MINUTE, at=NOW)
        assert not alerts.untaken_or_late(at=NOW + 599 * MINUTE).exists()
        at = NOW + 500 * MINUTE
        deliveries.offer(delivery=delivery, by=BY, at=at)

        assert not alerts.untaken_or_late(at=at + 10 * MINUTE).exists()
        assert alerts.untaken_or_late(at=at + 10 * MINUTE + SECOND).exists()

    def test_and_an_alert_begin_when_a_route_that_was_not_offered_is_ready(self):
        delivery = scheduled(60 * MINUTE, at=NOW)

        def found(at):
            late = Delivery.objects.late(Environment.LIVE, at=at)
            return [*late, *alerts.untaken_or_late(at=at + timedelta(minutes=LATE_MINUTES))]

        assert found(NOW + 60 * MINUTE) == []
        assert found(NOW + 60 * MINUTE + SECOND) == [delivery, delivery]


class TestDatabase:
    def change(self, delivery, **columns):
        with transaction.atomic():
            Delivery.objects.filter(pk=delivery.pk).update(**columns)

    @pytest.mark.parametrize("columns", [{"offer_at": None}, {"offer_at": NOW + 900 * MINUTE}])
    def test_knows_when_a_scheduled_route_is_offered(self, columns):
        with pytest.raises(IntegrityError, match="delivery_scheduled_has_its_moments"):
            self.change(scheduled(600 * MINUTE, at=NOW), **columns)

    def test_gives_no_scheduled_route_to_a_driver(self):
        with pytest.raises(IntegrityError, match="delivery_driver_fits_route"):
            self.change(scheduled(600 * MINUTE, at=NOW), driver=DriverFactory.create())

    def test_keeps_the_moment_of_an_offer(self):
        with pytest.raises(ProgrammingError, match="Cannot update"):
            self.change(DeliveryFactory.create(at=NOW), offer_at=NOW)

    def test_keeps_the_windows(self):
        with pytest.raises(ProgrammingError, match="Cannot update"):
            self.change(scheduled(600 * MINUTE, at=NOW), scheduled_for=NOW + 700 * MINUTE)


def test_nearest_driver_is_counted_for_one_route_only():
    """Of two that are ready at the same time the second one has no driver near, and is offered earlier."""
    DriverFactory.create(**AT_15_MINUTES)
    made = [scheduled(120 * MINUTE, at=NOW) for _number in range(2)]

    schedule.plan(at=NOW + 120 * MINUTE - NOBODY)

    assert sorted(status(each) for each in made) == ["AVAILABLE", "SCHEDULED"]
    assert drivers.eligible(made[0], at=NOW).count() == 1
