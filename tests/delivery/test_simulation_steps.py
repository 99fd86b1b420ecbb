"""The simulated driver's next step, durations and ways."""

from datetime import timedelta
from functools import partial

import pytest

from common.simulation import pace
from delivery import simulation_steps as steps
from delivery.geo.distance import Point
from delivery.lifecycle import Mode, RouteStatus, State, Status, Trigger
from delivery.simulation_steps import Outcome, Step
from tests.cases import in_turn

A, D, F = Status.ACCEPT, Status.DELIVERED, Status.FAILED
C = Status.COLLECTED


def state(route, *orders, mode=Mode.DEFAULT, tried=()):
    return State(Status.PENDING, route, orders or (Status.PENDING,) * 2, mode, tried)


reverse = partial(state, mode=Mode.REVERSE)


class TestOutcome:
    @in_turn(
        ("external_id", "outcome"),
        [
            ("", Outcome.DELIVERED),
            ("order-1", Outcome.DELIVERED),
            ("sim-fail-1", Outcome.FAIL),
            ("sim-fail-", Outcome.FAIL),
            ("sim-fail", Outcome.DELIVERED),
            ("SIM-FAIL-1", Outcome.DELIVERED),
            ("x-sim-fail-1", Outcome.DELIVERED),
            ("sim-nodriver-1", Outcome.NO_DRIVER),
            ("sim-return-1", Outcome.RETURN),
            ("sim-cancel-late-1", Outcome.CANCEL_LATE),
            ("sim-stale-1", Outcome.STALE),
            ("sim-delivered-1", Outcome.DELIVERED),
            ("sim-unknown-1", Outcome.DELIVERED),
            ("sim-manual-1", None),
        ],
    )
    def test_follows_from_the_prefix_of_the_external_id(self, external_id, outcome):
        assert steps.outcome_of(external_id) is outcome


class TestAMisspeltPrefix:
    @pytest.mark.parametrize(
        "external_id", ["sim-fail", "SIM-FAIL-1", "sim_fail_1", "sim fail-1", "sim-bogus-1", "sim-", "Sim-manual-1"]
    )
    def test_begins_like_one(self, external_id):
        assert pace.is_misspelt(external_id, steps.PREFIXES)

    @in_turn("external_id", ["", "sim", "simone-1", "x-sim-fail-1", "order-1", *steps.PREFIXES])
    def test_is_none_of_these(self, external_id):
        assert not pace.is_misspelt(external_id, steps.PREFIXES)


class TestNextStep:
    @in_turn(
        ("outcome", "before", "step"),
        [
            (Outcome.DELIVERED, state(RouteStatus.AVAILABLE), Step(Trigger.ACCEPT, 10)),
            (Outcome.NO_DRIVER, state(RouteStatus.AVAILABLE), Step(Trigger.EXPIRE, 15)),
            (Outcome.DELIVERED, state(RouteStatus.ACCEPTED, A, A), Step(Trigger.COLLECT, 30)),
            (Outcome.CANCEL_LATE, state(RouteStatus.ACCEPTED, A, A), Step(Trigger.COLLECT, 30)),
            (Outcome.DELIVERED, state(RouteStatus.COLLECTED, C), Step(Trigger.DELIVER, 80, 0)),
            (Outcome.DELIVERED, state(RouteStatus.COLLECTED, C, C), Step(Trigger.DELIVER, 40, 0)),
            (Outcome.DELIVERED, state(RouteStatus.COLLECTED, D, C), Step(Trigger.DELIVER, 40, 1)),
            (Outcome.FAIL, state(RouteStatus.COLLECTED, C, C), Step(Trigger.FAIL, 40, 0)),
            (Outcome.FAIL, state(RouteStatus.COLLECTED, F, C), Step(Trigger.DELIVER, 40, 1)),
            (Outcome.RETURN, state(RouteStatus.COLLECTED, F, C), Step(Trigger.FAIL, 40, 1)),
            (Outcome.STALE, state(RouteStatus.COLLECTED, C, C), Step(Trigger.DELIVER, 40, 0)),
            (Outcome.CANCEL_LATE, state(RouteStatus.COLLECTED, C, C), Step(Trigger.FAIL, 1800, 0, is_wait=True)),
            (Outcome.CANCEL_LATE, state(RouteStatus.COLLECTED, F, C), Step(Trigger.FAIL, 40, 1)),
            (Outcome.CANCEL_LATE, state(RouteStatus.RETURNING, F, F), Step(Trigger.RETURN, 30)),
            (Outcome.FAIL, state(RouteStatus.RETURNING, F, D), Step(Trigger.RETURN, 30)),
            # a stop that is tried again after the others
            (Outcome.FAIL, state(RouteStatus.COLLECTED, C, C, tried=(0,)), Step(Trigger.DELIVER, 40, 1)),
            (Outcome.FAIL, state(RouteStatus.COLLECTED, C, D, tried=(0,)), Step(Trigger.FAIL, 40, 0)),
            (Outcome.RETURN, state(RouteStatus.COLLECTED, C, C, tried=(0,)), Step(Trigger.FAIL, 40, 1)),
            (Outcome.CANCEL_LATE, state(RouteStatus.COLLECTED, C, C, tried=(0,)), Step(Trigger.FAIL, 40, 1)),
            # pickups
            (Outcome.DELIVERED, reverse(RouteStatus.ACCEPTED, A, A), Step(Trigger.COLLECT, 40, 0)),
            (Outcome.FAIL, reverse(RouteStatus.ACCEPTED, A, A), Step(Trigger.FAIL, 40, 0)),
            (Outcome.FAIL, reverse(RouteStatus.ACCEPTED, F, A), Step(Trigger.COLLECT, 40, 1)),
            (Outcome.RETURN, reverse(RouteStatus.ACCEPTED, F, A), Step(Trigger.FAIL, 40, 1)),
            (Outcome.CANCEL_LATE, reverse(RouteStatus.COLLECTED, C, A), Step(Trigger.COLLECT, 40, 1)),
            (Outcome.CANCEL_LATE, reverse(RouteStatus.RETURNING, C, C), Step(Trigger.RETURN, 1800, is_wait=True)),
            (Outcome.CANCEL_LATE, reverse(RouteStatus.RETURNING, F, F), Step(Trigger.RETURN, 30)),
            (Outcome.DELIVERED, reverse(RouteStatus.RETURNING, C, C), Step(Trigger.RETURN, 30)),
            (Outcome.DELIVERED, state(RouteStatus.FINISHED, D, D), None),
            (Outcome.DELIVERED, state(RouteStatus.CANCELLED, F, F), None),
            (Outcome.NO_DRIVER, state(RouteStatus.EXPIRED, F, F), None),
        ],
    )
    def test_follows_from_the_state(self, outcome, before, step):
        assert steps.next_step(before, outcome) == step


class TestDurations:
    @pytest.mark.parametrize(("speed", "seconds"), [(1, 30), (7.5, 4), (120, 0.25)])
    def test_are_divided_by_the_speed(self, speed, seconds):
        assert steps.duration(Step(Trigger.COLLECT, 30), speed=speed) == timedelta(seconds=seconds)

    def test_of_a_wait_do_not_depend_on_the_speed(self):
        assert steps.duration(Step(Trigger.FAIL, 1800, 0, is_wait=True), speed=120) == timedelta(minutes=30)

    def test_have_a_minimum(self):
        assert steps.duration(Step(Trigger.ACCEPT, 10), speed=120) == timedelta(seconds=0.25)

    @pytest.mark.parametrize(
        ("remaining", "speed", "seconds"),
        [
            (30, 1, 4),
            (4.25, 1, 4),  # the last position before the end is a quarter of a second before it at the latest
            (4.2, 1, 4.2),
            (2, 1, 2),
            (30, 2, 2),
            (30, 120, 0.25),
            (0.25, 120, 0.25),
        ],
    )
    def test_between_positions_are_a_quarter_of_a_second_at_least(self, remaining, speed, seconds):
        pause = steps.until_next_position(timedelta(seconds=remaining), speed=speed)

        assert pause == timedelta(seconds=seconds)


class TestTheWay:
    @pytest.mark.parametrize(
        ("start", "end", "fraction", "expected"),
        [
            (Point(-23, -46), Point(-24, -48), 0.25, Point(-23.25, -46.5)),
            (Point(-23, -46), Point(-24, -48), 0, Point(-23, -46)),
            (Point(-23, -46), Point(-24, -48), 1, Point(-24, -48)),
            (Point(-23, -46), Point(-24, -48), 3, Point(-24, -48)),
            (Point(-23, -46), Point(-24, -48), -1, Point(-23, -46)),
            (Point(0, 179), Point(0, -179), 0.5, Point(0, -180)),  # not around the globe
            (Point(0, -179), Point(0, 179), 0.25, Point(0, -179.5)),
        ],
    )
    def test_is_straight(self, start, end, fraction, expected):
        assert steps.between(start, end, fraction) == pytest.approx(expected)
