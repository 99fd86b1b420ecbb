"""Cancellations of simulated deliveries, and moves that people make."""

from datetime import timedelta

import pytest
from django.utils import timezone

from delivery import bodies
from delivery.actions import deliveries, moves
from delivery.errors import MoveRefused
from delivery.models import Delivery, DriverPosition, Simulation
from delivery.simulation import simulated_driver
from tests.delivery.simulated import advance, history, request, statuses
from tests.factories import BY, PICKUP, DeliveryFactory

pytestmark = pytest.mark.django_db

P, A, C, D, F = "PENDING", "ACCEPT", "COLLECTED", "DELIVERED", "FAILED"
START = [("request", 0), ("accept", 10), ("collect", 40)]


@pytest.fixture
def now():
    return timezone.now()


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
