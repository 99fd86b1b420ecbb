"""Simulated deliveries of the sandbox from the request to the end, advanced step by step."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from delivery import bodies
from delivery.geo.distance import metres
from delivery.lifecycle import Mode
from delivery.models import Delivery, DriverPosition, Simulation, WebhookEvent
from delivery.simulation import simulated_driver
from tests.delivery.simulated import advance, history, request, statuses
from tests.factories import DROPOFFS, PICKUP, DeliveryFactory, TokenFactory

pytestmark = pytest.mark.django_db

P, A, C, D, F = "PENDING", "ACCEPT", "COLLECTED", "DELIVERED", "FAILED"
START = [("request", 0), ("accept", 10), ("collect", 40)]


@pytest.fixture
def now():
    return timezone.now()


def locate(delivery, *, at):
    return bodies.location(Delivery.objects.with_parts().get(pk=delivery.pk), at=at)


class TestOutcome:
    @pytest.mark.parametrize(
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

    def test_fails_a_point_with_a_reason(self, now):
        delivery = request("sim-fail-1", at=now)

        advance()

        assert delivery.stops.get(index=0).failure_reason == "Simulated failure: nobody received the order."

    def test_of_manual_simulates_nothing(self, now):
        delivery = request("sim-manual-1", at=now)

        assert not Simulation.objects.exists()
        assert simulated_driver.advance_due(at=now + timedelta(minutes=30)) == 0
        assert statuses(delivery) == [P]

    def test_of_a_request_without_a_speed_is_none(self, now):
        DeliveryFactory.create(token=TokenFactory.create(sandbox=True))

        assert not Simulation.objects.exists()

    def test_expires_an_offer_that_nobody_could_accept_in_time(self, now):
        delivery = request(at=now)

        simulated_driver.advance_due(at=now + timedelta(hours=2))

        assert statuses(delivery) == [P, F]
        assert not Simulation.objects.exists()


class TestSpeed:
    def test_divides_the_durations(self, now):
        delivery = request("sim-fail-1", at=now, speed=10)

        advance()

        changes = [("request", 0), ("accept", 1), ("collect", 4), ("fail B", 8), ("deliver C", 12), ("return", 15)]
        assert history(delivery) == changes


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
