"""Simulated deliveries of the sandbox: step by step, taken over by people, in threads, and with steps that fail."""

import io
import json
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone
from PIL import Image

from common.workers.wake_up import BackgroundWork
from delivery import bodies, photos
from delivery.actions import deliveries, moves, proofs
from delivery.errors import MoveRefused
from delivery.geo.distance import metres
from delivery.lifecycle import Mode
from delivery.models import (
    Delivery,
    Driver,
    DriverPosition,
    Environment,
    ProofPhoto,
    Simulation,
    Stop,
    StopProof,
    WebhookEvent,
)
from delivery.payload import Options
from delivery.sandbox import simulated_driver
from tests.cases import in_turn
from tests.delivery.simulated import advance, history, request, seconds, statuses
from tests.factories import BY, DROPOFFS, PICKUP, DeliveryFactory, DriverFactory, TokenFactory
from tests.faults.waiting import until

pytestmark = pytest.mark.django_db
P, A, C, D, F = "PENDING", "ACCEPT", "COLLECTED", "DELIVERED", "FAILED"
START = [("request", 0), ("accept", 10), ("collect", 40)]
ASKED = Options(needs_photo=True, has_pin=True)


@pytest.fixture
def now():
    return timezone.now()


def locate(delivery, *, at):
    return bodies.location(Delivery.objects.with_parts().get(pk=delivery.pk), at=at)


class TestOutcome:
    @in_turn(
        ("external_id", "mode", "changes", "events"),
        [
            ("order-1", Mode.DEFAULT, [*START, ("deliver B", 80), ("deliver C", 120)], [P, A, C, C, D]),
            (
                "order-1",
                Mode.RETURN,
                [*START, ("deliver B", 80), ("deliver C", 120), ("return", 150)],
                [P, A, C, C, C, D],
            ),
            (
                "sim-fail-1",
                Mode.DEFAULT,
                [*START, ("fail B", 80), ("deliver C", 120), ("return", 150)],
                [P, A, C, C, C, D],
            ),
            ("sim-nodriver-1", Mode.DEFAULT, [("request", 0), ("expire", 15)], [P, F]),
            (
                "sim-return-1",
                Mode.DEFAULT,
                [*START, ("fail B", 80), ("fail C", 120), ("return", 150)],
                [P, A, C, C, F, F],
            ),
            ("sim-stale-1", Mode.DEFAULT, [*START, ("deliver B", 80), ("deliver C", 120)], [P, A, C, C, D]),
        ],
    )
    def test_is_what_the_external_id_asks_for(self, now, external_id, mode, changes, events):
        delivery = request(external_id, at=now, mode=mode)

        advance()

        assert history(delivery) == changes
        assert statuses(delivery) == events
        others = {change.by for change in delivery.transitions.exclude(trigger="request")}
        assert others == {"system: sandbox" if external_id == "sim-nodriver-1" else "sandbox simulator"}
        assert not Simulation.objects.exists()

    def test_of_manual_simulates_nothing(self, now):
        delivery = request("sim-manual-1", at=now)

        assert not Simulation.objects.exists()
        assert simulated_driver.advance_due(at=now + timedelta(minutes=30)) == 0
        assert statuses(delivery) == [P]

    def test_expires_an_offer_that_nobody_could_accept_in_time(self, now):
        delivery = request(at=now)

        simulated_driver.advance_due(at=now + timedelta(hours=2))

        assert statuses(delivery) == [P, F]
        assert not Simulation.objects.exists()


class TestAccounts:
    def test_take_turns(self, now):
        token = TokenFactory.create(sandbox=True)
        many, one = [request(at=now, token=token) for _number in range(3)], request(at=now + timedelta(seconds=1))

        advanced = simulated_driver.advance_due(at=now + timedelta(seconds=11))

        assert advanced == 2
        assert statuses(one) == [P, A]
        assert sorted(statuses(delivery) for delivery in many) == [[P], [P], [P, A]]


class TestPositions:
    def test_lead_from_near_a_to_each_point_and_back(self, now):
        delivery = request(at=now, mode=Mode.RETURN)

        advance()

        places = {change.at: change.trigger + change.point for change in delivery.transitions.all()}
        at_moves = {
            places[position.recorded_at]: position.point
            for position in DriverPosition.objects.filter(recorded_at__in=places)
        }
        assert metres(at_moves.pop("accept"), PICKUP) == pytest.approx(1000)
        assert at_moves == {"collect": PICKUP, "deliverB": DROPOFFS[0], "deliverC": DROPOFFS[1], "return": PICKUP}

    def test_are_in_the_event_of_the_acceptance_and_in_the_location(self, now):
        delivery = request(at=now)

        advance(until=now + timedelta(seconds=10))

        position = DriverPosition.objects.get().point
        event = json.loads(WebhookEvent.objects.get(delivery=delivery, sequence=2).body)
        shown = {"latitude": position.latitude, "longitude": position.longitude}
        assert event["driver"]["coordinates"] == shown
        located = locate(delivery, at=now + timedelta(seconds=12))
        assert located["driver"]["coordinates"] == {**shown, "accuracyMeters": 5.0}
        assert (located["tracking"]["ageSeconds"], located["tracking"]["stale"]) == (2, False)

    def test_grow_old_where_the_external_id_asks_for_it(self, now):
        delivery = request("sim-stale-1", at=now)

        advance(until=now + timedelta(seconds=90))

        early, late = (locate(delivery, at=now + timedelta(seconds=after))["tracking"] for after in (10, 90))
        assert (early["stale"], early["ageSeconds"]) == (True, 300)
        assert (late["stale"], late["ageSeconds"]) == (True, 380)
        assert DriverPosition.objects.count() == 1

    def test_begin_within_a_dispatch_radius_that_is_smaller(self, now, rules):
        rules(dispatch_radius_km=0.5)
        delivery = request(at=now)

        advance()

        assert statuses(delivery) == [P, A, C, C, D]


class TestCancellation:
    def cancel(self, delivery, *, at, by_integrator=True):
        return deliveries.cancel(delivery=delivery, reason="", by=BY, at=at, by_integrator=by_integrator)

    @pytest.mark.parametrize(("after", "events"), [(5, [P, F]), (25, [P, A, F])])
    def test_before_pickup_ends_the_simulation(self, now, after, events):
        delivery = request(at=now)
        advance(until=now + timedelta(seconds=after))

        self.cancel(delivery, at=now + timedelta(seconds=after))

        assert not Simulation.objects.exists()
        assert statuses(delivery) == events

    def test_after_pickup_makes_the_driver_return(self, now):
        delivery = request(at=now)
        advance(until=now + timedelta(seconds=60))

        self.cancel(delivery, at=now + timedelta(seconds=60))
        advance()

        assert history(delivery) == [*START, ("cancel", 60), ("return", 90)]
        assert statuses(delivery) == [P, A, C, F, F]
        assert DriverPosition.objects.latest("recorded_at").point == PICKUP
        assert not Simulation.objects.exists()

    def test_on_the_way_back_starts_the_way_back_again(self, now):
        delivery = request("sim-return-1", at=now)
        advance(until=now + timedelta(seconds=130))

        self.cancel(delivery, at=now + timedelta(seconds=130))
        advance()

        assert history(delivery)[-2:] == [("cancel", 130), ("return", 160)]
        assert not Simulation.objects.exists()

    def test_is_waited_for_where_the_external_id_asks_for_it(self, now):
        delivery = request("sim-cancel-late-1", at=now)
        advance(until=now + timedelta(seconds=40))

        assert statuses(delivery) == [P, A, C]
        assert simulated_driver.advance_due(at=now + timedelta(minutes=30)) == 0

        self.cancel(delivery, at=now + timedelta(minutes=10))
        advance()

        assert history(delivery) == [*START, ("cancel", 600), ("return", 630)]
        assert not Simulation.objects.exists()

    @pytest.mark.parametrize("speed", [1, 120])
    def test_that_does_not_come_ends_the_wait_after_half_an_hour(self, now, speed):
        delivery = request("sim-cancel-late-1", at=now, speed=speed)

        advance()

        changes = history(delivery)
        assert [change for change, _seconds in changes[3:]] == ["fail B", "fail C", "return"]
        assert changes[3][1] - changes[2][1] == 1800
        assert changes[4][1] - changes[3][1] == pytest.approx(40 / speed, abs=0.01)
        assert statuses(delivery) == [P, A, C, C, F, F]
        waiting = (now + timedelta(seconds=41), now + timedelta(seconds=1800))
        assert not DriverPosition.objects.filter(recorded_at__range=waiting).exists()
        assert not Simulation.objects.exists()

    def test_by_a_call_makes_the_driver_return(self, now, client_of):
        delivery = request(at=now - timedelta(seconds=60))
        advance(until=now)

        answer = client_of(delivery.token).post(f"/api/cancel-delivery/{delivery.pk}", {})
        advance()

        assert answer.status_code == 200
        assert statuses(delivery) == [P, A, C, F, F]
        assert not Simulation.objects.exists()

    def test_of_a_dispatcher_leaves_the_return_to_people(self, now):
        delivery = request(at=now)
        advance(until=now + timedelta(seconds=60))

        self.cancel(delivery, at=now + timedelta(seconds=60), by_integrator=False)

        assert not Simulation.objects.exists()
        assert statuses(delivery) == [P, A, C, F]


class TestTakeover:
    @pytest.mark.parametrize(
        ("after", "move", "fields"),
        [
            (0, "accept", {}),
            (20, "position", {"position": "-23.5,-46.6"}),
            (130, "return", {}),
        ],
    )
    def test_by_a_move_of_a_person_ends_the_simulation(self, now, after, move, fields):
        at = now + timedelta(seconds=after)
        delivery = request("sim-return-1", at=now)
        advance(until=at)
        found = Delivery.objects.with_parts().get(pk=delivery.pk)

        moves.perform(move, delivery=found, fields=fields, by="command dispatch", at=at)

        assert not Simulation.objects.exists()

    def test_leaves_a_delivery_that_dispatch_accepts_without_a_position(self, now):
        delivery = request(at=now)

        moves.perform("accept", delivery=delivery, fields={}, by="command dispatch", at=now)

        found = Delivery.objects.with_parts().get(pk=delivery.pk)
        assert bodies.location(found, at=now)["tracking"]["reason"] == "NO_POSITION"

    def test_that_is_refused_leaves_the_simulation(self, now):
        delivery = request(at=now)

        with pytest.raises(MoveRefused):
            deliveries.collect(delivery=delivery, by=BY, at=now)

        advance()
        assert statuses(delivery) == [P, A, C, C, D]


class TestExpireEarly:
    def test_is_refused_in_the_live_environment(self, now):
        delivery = DeliveryFactory.create()

        with pytest.raises(MoveRefused, match="sandbox"):
            deliveries.expire_early(delivery=delivery, by=BY, at=now)

        assert statuses(delivery) == [P]


class TestDrivers:
    def test_are_used_again_for_the_same_account(self, now):
        first = request(at=now)
        advance()
        second = request(at=now + timedelta(minutes=5), token=first.token)

        advance()

        first.refresh_from_db()
        second.refresh_from_db()
        assert first.driver == second.driver
        assert Driver.objects.count() == 1

    def test_of_one_account_are_not_offered_to_another(self, now):
        first = request(at=now)
        advance()
        other = DeliveryFactory.create(token=TokenFactory.create(sandbox=True), at=now)

        accepted = deliveries.accept(delivery=other, driver=None, by=BY, at=now + timedelta(minutes=5))

        first.refresh_from_db()
        assert accepted.driver != first.driver
        assert accepted.driver_position is None

    def test_with_newer_positions_are_left_out(self, now):
        """The stale position would not be the latest one, and the earlier trip's would be shown instead."""
        first = request(at=now)
        advance()
        second = request("sim-stale-1", at=now + timedelta(minutes=4), token=first.token)

        advance(until=now + timedelta(minutes=4, seconds=10))

        first.refresh_from_db()
        second.refresh_from_db()
        assert second.driver is not None
        assert first.driver != second.driver

    @pytest.mark.parametrize("environment", Environment)
    def test_created_by_people_are_left_to_people(self, now, environment):
        made = DriverFactory.create(environment=environment, at_point=PICKUP)
        delivery = request(at=now)

        advance()

        assert Driver.objects.get(deliveries=delivery).environment == Environment.SANDBOX
        assert made.positions.count() == 1
        assert not made.deliveries.exists()


def break_(delivery):
    """Have the database refuse further events of the delivery, which each move writes last."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN RAISE EXCEPTION 'refused by the test'; END $$;
            CREATE TRIGGER refuse BEFORE INSERT ON delivery_webhookevent
                FOR EACH ROW WHEN (NEW.delivery_id = '{delivery.pk}') EXECUTE FUNCTION refuse();
            """
        )


def due():
    due_at = Simulation.objects.next_due()
    assert due_at is not None
    return due_at


def mend():
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER refuse ON delivery_webhookevent")


class TestFailure:
    def test_is_rolled_back_logged_repeated_and_then_forgotten(self, now, caplog):
        delivery = request(at=now)
        break_(delivery)
        simulated_driver.advance_due(at=now + timedelta(seconds=10))

        assert (statuses(delivery), Driver.objects.count(), Simulation.objects.get().failures) == ([P], 0, 1)
        assert f"The simulated driver of delivery {delivery.pk} cannot go on" in caplog.text

        mend()
        simulated_driver.advance_due(at=now + timedelta(seconds=11))

        assert (statuses(delivery), Driver.objects.count(), Simulation.objects.get().failures) == ([P, A], 1, 0)

    def test_is_repeated_after_growing_pauses(self, now):
        delivery = request(at=now)
        break_(delivery)
        pauses = []

        for _try in range(11):
            due_at = due()
            simulated_driver.advance_due(at=due_at)
            pauses.append(seconds(due() - due_at))

        assert pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, 256, 256]


@pytest.mark.django_db(transaction=True)
class TestSeveralProcesses:
    def test_make_each_step_once(self, now, at_once):
        simulated = [request(at=now, speed=40) for _number in range(6)]

        while (due_at := Simulation.objects.next_due()) is not None:
            counts = at_once(*[lambda at=due_at: simulated_driver.advance_due(at=at)] * 3)
            assert not [count for count in counts if isinstance(count, Exception)]

        assert [statuses(delivery) for delivery in simulated] == [[P, A, C, C, D]] * 6
        moments = DriverPosition.objects.values_list("driver", "recorded_at")
        assert len(set(moments)) == len(moments)


def has_ended():
    return not Simulation.objects.exists()


def backends():
    """The other connections to the test's database."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        return [pid for (pid,) in cursor.fetchall()]


@pytest.mark.django_db(transaction=True)
class TestTheThread:
    def test_goes_on_with_the_next_wake_up_after_a_lost_connection(self):
        thread = BackgroundWork("simulations", simulated_driver.advance_until_none_is_due)
        first = request(at=timezone.now(), speed=120)
        thread.wake()
        until(has_ended, what="the end of the first simulation")
        with connection.cursor() as cursor:
            for pid in backends():
                cursor.execute("SELECT pg_terminate_backend(%s)", [pid])
        second = request(at=timezone.now(), speed=120)

        def has_ended_with_wake_ups():
            thread.wake()
            return has_ended()

        until(has_ended_with_wake_ups, what="the end of the second simulation")
        thread.stop(seconds=10)
        assert len(statuses(first)) == len(statuses(second)) == 5


@pytest.mark.django_db
class TestAdvance:
    @pytest.mark.parametrize("is_due_later", [False, True])
    def test_makes_one_query_while_none_is_due_soon(self, django_assert_num_queries, is_due_later):
        if is_due_later:
            request(at=timezone.now())

        with django_assert_num_queries(1):
            simulated_driver.advance_until_none_is_due(lambda: False)


@pytest.mark.usefixtures("photo_folder")
class TestSimulatedDriver:
    def test_brings_photo_name_and_pin(self):
        delivery = request(at=timezone.now(), options=ASKED)

        advance()

        assert [name for name, _seconds in history(delivery)][-2:] == ["deliver B", "deliver C"]
        assert {(proof.received_by, proof.wrong_pins) for proof in StopProof.objects.all()} == {
            ("Simulated receiver", 0)
        }
        assert StopProof.objects.exclude(pin_confirmed_at=None).count() == 2
        assert [photo.stop.label for photo in ProofPhoto.objects.order_by("stop__index")] == ["B", "C"]

    def test_takes_the_same_photo_everywhere_without_a_file_or_the_encoder(self, monkeypatch, photo_folder):
        monkeypatch.setattr(photos, "encode", None)
        request(at=timezone.now(), options=ASKED, stops=2)

        advance()

        taken = ProofPhoto.objects.all()
        assert len(taken) == 2
        (content,) = {proofs.read(photo) for photo in taken}
        assert {(photo.width, photo.height) for photo in taken} == {Image.open(io.BytesIO(content or b"")).size}
        assert {photo.size for photo in taken} == {len(content or b"")}
        assert not photo_folder.exists()

    def test_photographs_what_could_not_be_delivered(self):
        request("sim-fail-1", at=timezone.now(), options=Options(needs_photo=True), stops=1)

        advance()

        assert Stop.objects.get().status == "FAILED"
        assert ProofPhoto.objects.count() == 1
        assert not StopProof.objects.exists()

    def test_brings_nothing_that_was_not_asked_for(self):
        request(at=timezone.now(), options=Options(instructions="Ring twice"))

        advance()

        assert not StopProof.objects.exists()
        assert not ProofPhoto.objects.exists()

    def test_takes_each_photo_once(self):
        now = timezone.now()
        delivery = request("sim-manual-1", at=now, options=ASKED, stops=1)
        simulated_driver.accept(delivery=delivery, by=BY, at=now)
        deliveries.collect(delivery=delivery, by=BY, at=now)
        stop = Stop.objects.select_related("delivery__driver").get()

        for _time in range(2):
            simulated_driver.take_photo(stop, at=now)

        assert ProofPhoto.objects.count() == 1
