"""Renewal of the arrival times of routes under way."""

from datetime import timedelta

import pytest
from django.utils import timezone

from common.pages import page_updates
from common.workers.wake_up import BackgroundWork
from delivery import tasks
from delivery.actions import arrivals, deliveries, drivers
from delivery.geo import routing
from delivery.lifecycle import Mode
from delivery.models import ArrivalEstimate, Delivery
from delivery.windows import Window
from tests.delivery.geo.routing_server import osrm_answer, valhalla_answer
from tests.delivery.scheduled import scheduled
from tests.factories import BY, DROPOFFS, PICKUP, DeliveryFactory, DriverFactory, TariffFactory, validated_payload
from tests.faults.waiting import until

pytestmark = pytest.mark.django_db


@pytest.fixture
def now():
    return timezone.now()


@pytest.fixture(autouse=True)
def _known_speeds(rules):
    rules(
        speed_kmh_motorcycle=36, speed_kmh_car=18, road_factor=1, routing_time_factor_motorcycle=1,
        routing_time_factor_car=2, service_minutes_pickup=5, service_minutes_stop=2,
    )  # fmt: skip  # a list of values


def way(*points):
    """Seconds from the first to the last of these points."""
    return sum(routing.by_speed(points, road_factor=1, kmh=36))


def seconds_until_arrivals(delivery, at):
    rows = ArrivalEstimate.objects.filter(stop__delivery=delivery).order_by("stop__index")
    return {row.stop.label: pytest.approx((row.arrives_at - at).total_seconds(), abs=0.5) for row in rows}


def moves(delivery, at, *triggers):
    for trigger in triggers:
        match trigger:
            case "collect":
                deliveries.collect(delivery=delivery, by=BY, at=at)
            case label:
                deliveries.deliver(delivery=delivery, point=label, by=BY, at=at)


class TestRenew:
    def test_computes_all_stops_of_an_accepted_route(self, now):
        driver = DriverFactory.create(at_point=DROPOFFS[2])
        delivery = DeliveryFactory.create(accepted=True, driver=driver, stops=2, at=now)

        written = arrivals.renew(at=now)

        first = way(DROPOFFS[2], PICKUP, DROPOFFS[0]) + 300
        assert written == 1
        assert seconds_until_arrivals(delivery, now) == {"B": first, "C": first + 120 + way(*DROPOFFS[:2])}
        assert set(ArrivalEstimate.objects.values_list("engine", "sequence")) == {("distance", 2)}

    def test_waits_where_something_is_ready_later(self, now):
        driver = DriverFactory.create(at_point=DROPOFFS[2])
        ready, of_c = (now + timedelta(minutes=minutes) for minutes in (9, 40))
        windows = [Window(), Window(of_c), Window()]
        delivery = scheduled(pickup=Window(ready), dropoffs=windows, at=now, moves=("accept",), driver=driver)

        arrivals.renew(at=now)

        first = 540 + 300 + way(PICKUP, DROPOFFS[0])
        last = 2400 + 120 + way(*DROPOFFS[1:])
        assert seconds_until_arrivals(delivery, now) == {"B": first, "C": 2400, "D": last}

    @pytest.mark.parametrize(
        ("mode", "moves", "seconds"),
        [(Mode.DEFAULT, ("accept",), 540 + 300), (Mode.DEFAULT, ("accept", "collect"), 0),
         (Mode.REVERSE, ("accept",), 540)],
    )  # fmt: skip  # a table
    def test_waits_for_when_the_route_begins_only_before_it_begins(self, now, mode, moves, seconds):
        pickup, stops = Window(now + timedelta(minutes=9)), [Window(), Window()]
        delivery = scheduled(pickup=pickup, dropoffs=stops, at=now, mode=mode, moves=moves)

        arrivals.renew(at=now)

        way_to_b = 0 if mode is Mode.REVERSE else way(PICKUP, DROPOFFS[0])
        assert seconds_until_arrivals(delivery, now)["B"] == seconds + way_to_b

    def test_follows_a_change_of_one_of_the_stops(self, now):
        driver = DriverFactory.create(at_point=DROPOFFS[2])
        windows = [Window(now + timedelta(hours=1)), Window(now + timedelta(hours=1))]
        delivery = scheduled(pickup=Window(), dropoffs=windows, at=now, moves=("accept", "collect"), driver=driver)
        arrivals.renew(at=now)
        ArrivalEstimate.objects.filter(stop__index=1).update(arrives_at=now, earliest=now)

        assert arrivals.renew(at=now + timedelta(seconds=61)) == 1

        assert seconds_until_arrivals(delivery, now)["C"] == 3600 + 120 + way(*DROPOFFS[:2])

    def test_begins_at_a_without_a_position(self, now):
        delivery = DeliveryFactory.create(accepted=True, stops=1, at=now)

        arrivals.renew(at=now)

        assert seconds_until_arrivals(delivery, now) == {"B": way(PICKUP, DROPOFFS[0]) + 300}

    def test_of_a_reverse_route_begins_at_b_without_a_position(self, now):
        delivery = DeliveryFactory.create(stops=2, mode=Mode.REVERSE, accepted=True, at=now)

        arrivals.renew(at=now)

        at_b, at_c = ArrivalEstimate.objects.filter(stop__delivery=delivery).order_by("stop__index")
        assert at_b.arrives_at == now < at_c.arrives_at

    def test_begins_at_the_place_of_the_latest_move_when_the_position_is_old(self, now):
        driver = DriverFactory.create(at_point=DROPOFFS[2], at_point__age=600)
        delivery = DeliveryFactory.create(accepted=True, driver=driver, stops=3, at=now)
        moves(delivery, now, "collect", "B")

        arrivals.renew(at=now)

        first = way(DROPOFFS[0], DROPOFFS[1])
        assert seconds_until_arrivals(delivery, now) == {"C": first, "D": first + 120 + way(*DROPOFFS[1:])}

    def test_counts_from_when_the_driver_was_at_a_stop_not_from_when_that_was_sent(self, now):
        delivery = DeliveryFactory.create(collected=True, stops=2, at=now - timedelta(minutes=30))
        made_at = now - timedelta(minutes=4)
        deliveries.deliver(delivery=delivery, point="B", by=BY, at=now, made_at=made_at)

        arrivals.renew(at=now)

        assert seconds_until_arrivals(delivery, made_at) == {"C": way(*DROPOFFS[:2])}
        assert ArrivalEstimate.objects.get().signal_at == made_at

    def test_of_a_reverse_route_waits_for_the_stop_that_comes_first_now(self, now):
        ready = now + timedelta(minutes=40)
        windows = [Window(), Window(ready)]
        delivery = scheduled(pickup=Window(), dropoffs=windows, at=now, mode=Mode.REVERSE, moves=("accept",))
        deliveries.fail(delivery=delivery, point="B", code="ABSENT", reason="", by=BY, at=now)

        arrivals.renew(at=now)

        assert seconds_until_arrivals(delivery, now) == {"C": 2400}

    def test_begins_at_the_position_and_counts_from_its_moment(self, now):
        driver = DriverFactory.create()
        delivery = DeliveryFactory.create(collected=True, driver=driver, stops=1, at=now - timedelta(minutes=5))
        drivers.set_position(driver=driver, point=PICKUP, by=BY, at=now - timedelta(seconds=40))

        arrivals.renew(at=now)

        assert seconds_until_arrivals(delivery, now) == {"B": way(PICKUP, DROPOFFS[0]) - 40}

    def test_leaves_the_times_of_a_silent_driver(self, now):
        driver = DriverFactory.create()
        delivery = DeliveryFactory.create(collected=True, driver=driver, stops=2, at=now)
        drivers.set_position(driver=driver, point=PICKUP, by=BY, at=now)
        arrivals.renew(at=now)
        before = seconds_until_arrivals(delivery, now)

        for minutes in (15, 40, 90):
            arrivals.renew(at=now + timedelta(minutes=minutes))
            assert seconds_until_arrivals(delivery, now) == before

    def test_tells_pages_once_when_the_times_become_late_and_when_they_are_not_any_more(self, now):
        driver = DriverFactory.create()
        DeliveryFactory.create(collected=True, driver=driver, stops=2, at=now)
        drivers.set_position(driver=driver, point=PICKUP, by=BY, at=now)

        def written(minutes):
            return arrivals.renew(at=now + timedelta(minutes=minutes))

        assert [written(minutes) for minutes in (0, 1.9, 2.1, 3, 60)] == [1, 0, 1, 0, 0]
        drivers.set_position(driver=driver, point=PICKUP, by=BY, at=now + timedelta(minutes=61))
        assert [written(minutes) for minutes in (61, 62)] == [1, 0]

    def test_says_when_the_driver_was_last_heard_of(self, now):
        driver, moved = DriverFactory.create(), now - timedelta(minutes=5)
        with_phone = DeliveryFactory.create(collected=True, driver=driver, stops=1, at=moved)
        seen = now - timedelta(seconds=40)
        drivers.set_position(driver=driver, point=PICKUP, by=BY, at=seen)
        without = DeliveryFactory.create(collected=True, stops=1, at=moved)
        at_a = DriverFactory.create()  # who was at A since a little before the move
        drivers.set_position(driver=at_a, point=PICKUP, by=BY, at=moved - timedelta(seconds=20))
        since = DeliveryFactory.create(collected=True, driver=at_a, stops=1, at=moved)

        arrivals.renew(at=now)

        signals = dict(ArrivalEstimate.objects.values_list("stop__delivery", "signal_at"))
        assert signals == {with_phone.pk: seen, without.pk: moved, since.pk: moved}

    @pytest.mark.parametrize("moves_only", [True, False])
    def test_does_nothing_twice_for_the_same_state(self, now, moves_only):
        DeliveryFactory.create(accepted=True, at=now)
        arrivals.renew(at=now)
        before = list(ArrivalEstimate.objects.order_by("pk").values())

        assert arrivals.renew(at=now + timedelta(seconds=30), moves_only=moves_only) == 0

        assert list(ArrivalEstimate.objects.order_by("pk").values()) == before

    def test_computes_again_after_a_move_of_the_route(self, now):
        delivery = DeliveryFactory.create(accepted=True, stops=1, at=now)
        arrivals.renew(at=now)
        # So long after the acceptance that the times stay the same.
        collected = now + timedelta(minutes=5)
        moves(delivery, collected, "collect")

        assert [arrivals.renew(at=collected, moves_only=True) for _twice in range(2)] == [1, 0]

        assert seconds_until_arrivals(delivery, collected) == {"B": way(PICKUP, DROPOFFS[0])}
        assert ArrivalEstimate.objects.get().sequence == Delivery.objects.get().last_sequence

    @pytest.mark.parametrize(("moves_only", "written"), [(True, 0), (False, 1)])
    def test_follows_the_driver_unless_for_moves_only(self, now, moves_only, written):
        driver = DriverFactory.create(at_point=DROPOFFS[2])
        DeliveryFactory.create(collected=True, driver=driver, stops=1, at=now)
        arrivals.renew(at=now)
        drivers.set_position(driver=driver, point=DROPOFFS[0], by=BY, at=now + timedelta(seconds=15))

        assert arrivals.renew(at=now + timedelta(seconds=15), moves_only=moves_only) == written

    def test_leaves_times_that_differ_by_less_than_a_minute(self, now):
        driver = DriverFactory.create(at_point=PICKUP)
        delivery = DeliveryFactory.create(collected=True, driver=driver, stops=1, at=now)
        arrivals.renew(at=now)
        before = seconds_until_arrivals(delivery, now)
        drivers.set_position(driver=driver, point=PICKUP, by=BY, at=now + timedelta(seconds=59))

        assert arrivals.renew(at=now + timedelta(seconds=59)) == 0

        assert seconds_until_arrivals(delivery, now) == before

    def test_deletes_those_of_stops_that_were_closed(self, now):
        delivery = DeliveryFactory.create(collected=True, stops=2, mode=Mode.RETURN, at=now)
        arrivals.renew(at=now)
        moves(delivery, now, "B")

        arrivals.renew(at=now, moves_only=True)

        assert set(seconds_until_arrivals(delivery, now)) == {"C"}

    @pytest.mark.parametrize("end", ["release", "cancel"])
    def test_deletes_those_of_a_route_that_was_taken_from_its_driver(self, now, end):
        delivery = DeliveryFactory.create(accepted=True, at=now)
        arrivals.renew(at=now)
        if end == "release":
            deliveries.release(delivery=delivery, by=BY, at=now)
        else:
            deliveries.cancel(delivery=delivery, reason="", by=BY, at=now)

        assert arrivals.renew(at=now, moves_only=True) == 0

        assert ArrivalEstimate.objects.count() == 0

    def test_knows_the_speed_of_the_vehicle(self, now):
        TariffFactory.create(vehicle_type="CAR")
        driver = DriverFactory.create(vehicle_type="CAR")
        delivery = DeliveryFactory.create(
            collected=True, driver=driver, payload=validated_payload(stops=1, vehicle_type="CAR"), at=now
        )

        arrivals.renew(at=now)

        assert seconds_until_arrivals(delivery, now) == {"B": 2 * way(PICKUP, DROPOFFS[0])}

    def test_reads_and_writes_many_routes_together(self, now, django_assert_num_queries, monkeypatch):
        monkeypatch.setattr(arrivals, "_BATCH", 3)
        for _number in range(4):
            DeliveryFactory.create(accepted=True, at=now)

        # The deletion, two batches (routes with drivers, stops, arrival times, latest moves, and the rows written), and
        # the search for a third one.
        with django_assert_num_queries(1 + 2 * 5 + 1):
            arrivals.renew(at=now)

        assert ArrivalEstimate.objects.count() == 12

    def test_tells_the_pages_that_show_the_route(self, now, monkeypatch):
        delivery = DeliveryFactory.create(accepted=True, at=now)
        told = []
        monkeypatch.setattr(arrivals, "publish", lambda *messages: told.extend(messages))

        arrivals.renew(at=now)
        arrivals.renew(at=now)

        topics = ["board:live", f"account:{delivery.integrator_id}:live", f"driver:{delivery.driver_id}"]
        assert told == [page_updates.Message(topic, [f"delivery:{delivery.pk}"]) for topic in topics]

    def test_passes_over_a_route_whose_last_stop_is_closed_meanwhile(self, now, monkeypatch):
        ends, stays = (DeliveryFactory.create(collected=True, stops=1, at=now) for _route in range(2))
        known = arrivals._known

        def close(delivery, move, **rules):
            if delivery.pk == ends.pk:
                moves(ends, now, "B")
                delivery._prefetched_objects_cache.clear()
            return known(delivery, move, **rules)

        monkeypatch.setattr(arrivals, "_known", close)

        assert arrivals.renew(at=now) == 1

        assert (seconds_until_arrivals(ends, now), len(seconds_until_arrivals(stays, now))) == ({}, 1)

    def test_stops_between_batches(self, now):
        DeliveryFactory.create(accepted=True, at=now)

        assert arrivals.renew(at=now, is_stopping=lambda: True) == 0


class TestRoutingEngine:
    def test_gives_the_travel_times(self, now, settings, routing_server):
        settings.ROUTING_URL = routing_server.url
        routing_server.answer = osrm_answer((1500, 90), (2500, 100))
        delivery = DeliveryFactory.create(collected=True, stops=2, at=now)

        arrivals.renew(at=now)

        assert seconds_until_arrivals(delivery, now) == {"B": 90, "C": 90 + 120 + 100}
        assert set(ArrivalEstimate.objects.values_list("engine", flat=True)) == {"osrm"}

    def test_gives_none_where_its_answer_cannot_be(self, now, settings, routing_server):
        settings.ROUTING_URL = routing_server.url
        routing_server.answer = osrm_answer((0, 0), beside=2_690_000.5)
        delivery = DeliveryFactory.create(collected=True, stops=1, at=now)

        arrivals.renew(at=now)

        assert seconds_until_arrivals(delivery, now) == {"B": way(PICKUP, DROPOFFS[0])}
        assert set(ArrivalEstimate.objects.values_list("engine", flat=True)) == {"distance"}

    def test_is_asked_again_for_the_next_renewal_after_it_was_away(self, now, settings, routing_server):
        settings.ROUTING_ENGINE, settings.ROUTING_URL = "valhalla", routing_server.url
        routing_server.status = 503
        delivery = DeliveryFactory.create(collected=True, stops=1, at=now)
        arrivals.renew(at=now)
        before = seconds_until_arrivals(delivery, now)
        routing_server.status, routing_server.answer = 200, valhalla_answer((9, 900, ""))

        arrivals.renew(at=now + timedelta(seconds=61))

        assert before == {"B": way(PICKUP, DROPOFFS[0])}
        assert seconds_until_arrivals(delivery, now) == {"B": 900}
        assert set(ArrivalEstimate.objects.values_list("engine", flat=True)) == {"valhalla"}


class TestTask:
    @pytest.mark.django_db(transaction=True)
    @pytest.mark.parametrize(
        ("task", "work", "renew"),
        [
            (tasks.renew_arrivals, "_arrivals_after_moves", tasks._renew_after_moves),
            (tasks.renew_all_arrivals, "_arrivals", tasks._renew_all),
        ],
    )
    def test_has_a_thread_renew_the_times(self, now, monkeypatch, task, work, renew):
        thread = BackgroundWork("test", renew)
        monkeypatch.setattr(tasks, work, thread)
        DeliveryFactory.create(accepted=True, at=now)

        task()

        until(ArrivalEstimate.objects.exists, seconds=30, what="arrival times")
        thread.stop(seconds=10)
