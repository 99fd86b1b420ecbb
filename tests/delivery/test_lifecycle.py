import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delivery import lifecycle
from delivery.errors import MoveRefused, NothingToDecide, StopNotOpen
from delivery.lifecycle import CLOSED, OPEN, TABLE, Mode, OnFailure, RouteStatus, State, Status, Trigger

P, ACC, C, D, F = Status.PENDING, Status.ACCEPT, Status.COLLECTED, Status.DELIVERED, Status.FAILED
SCHEDULED, AVAILABLE = RouteStatus.SCHEDULED, RouteStatus.AVAILABLE
ACCEPTED, COLLECTED = RouteStatus.ACCEPTED, RouteStatus.COLLECTED
RETURNING, FINISHED = RouteStatus.RETURNING, RouteStatus.FINISHED
CANCELLED, EXPIRED = RouteStatus.CANCELLED, RouteStatus.EXPIRED

REVERSE = Mode.REVERSE


def reverse(delivery, route, orders):
    return State(delivery, route, orders, REVERSE)


# For every row of `lifecycle.TABLE`: before, trigger, index of the order, after. Of the outward modes:
OUTWARD = [
    # offered later than it was requested, or cancelled before
    (State(P, SCHEDULED, (P, P)), Trigger.OFFER, None, State(P, AVAILABLE, (P, P))),
    (State(P, SCHEDULED, (P, P)), Trigger.CANCEL, None, State(F, CANCELLED, (F, F))),
    # one driver takes the whole route, collects at A
    (State(P, AVAILABLE, (P, P)), Trigger.ACCEPT, None, State(ACC, ACCEPTED, (ACC, ACC))),
    (State(ACC, ACCEPTED, (ACC, ACC)), Trigger.COLLECT, None, State(C, COLLECTED, (C, C))),
    # before pickup the driver changes
    (State(ACC, ACCEPTED, (ACC, ACC)), Trigger.RELEASE, None, State(P, AVAILABLE, (P, P))),
    (State(ACC, ACCEPTED, (ACC, ACC)), Trigger.REASSIGN, None, State(ACC, ACCEPTED, (ACC, ACC))),
    # an order is closed while another one is open
    (State(C, COLLECTED, (C, C)), Trigger.DELIVER, 0, State(C, COLLECTED, (D, C))),
    (State(C, COLLECTED, (C, C)), Trigger.DELIVER, 1, State(C, COLLECTED, (C, D))),
    (State(C, COLLECTED, (C, C)), Trigger.FAIL, 0, State(C, COLLECTED, (F, C))),
    # the last one is closed and nothing goes back
    (State(C, COLLECTED, (D, C)), Trigger.DELIVER, 1, State(D, FINISHED, (D, D))),
    (State(C, COLLECTED, (C,)), Trigger.DELIVER, 0, State(D, FINISHED, (D,))),
    # the last one is closed and goods go back
    (State(C, COLLECTED, (D, C)), Trigger.FAIL, 1, State(C, RETURNING, (D, F))),
    (State(C, COLLECTED, (F, C)), Trigger.DELIVER, 1, State(C, RETURNING, (F, D))),
    (State(C, COLLECTED, (C,)), Trigger.FAIL, 0, State(F, RETURNING, (F,))),
    (
        State(C, COLLECTED, (C,), Mode.RETURN),
        Trigger.DELIVER,
        0,
        State(C, RETURNING, (D,), Mode.RETURN),
    ),
    # a first failure with a second attempt, and what follows it
    (State(C, COLLECTED, (C, C)), Trigger.ATTEMPT, 0, State(C, COLLECTED, (C, C), tried=(0,))),
    (State(C, COLLECTED, (C,)), Trigger.ATTEMPT, 0, State(C, COLLECTED, (C,), tried=(0,))),
    (State(C, COLLECTED, (C, C), tried=(1,)), Trigger.ATTEMPT, 0, State(C, COLLECTED, (C, C), tried=(1, 0))),
    (State(C, COLLECTED, (C, D), tried=(0,)), Trigger.DELIVER, 0, State(D, FINISHED, (D, D), tried=(0,))),
    (State(C, COLLECTED, (C, D), tried=(0,)), Trigger.FAIL, 0, State(C, RETURNING, (F, D), tried=(0,))),
    (State(C, COLLECTED, (C, C), tried=(0,)), Trigger.RECALL, 0, State(C, COLLECTED, (F, C), tried=(0,))),
    (State(C, COLLECTED, (C,), tried=(0,)), Trigger.RECALL, 0, State(F, RETURNING, (F,), tried=(0,))),
    # back at A
    (State(C, RETURNING, (D, F)), Trigger.RETURN, None, State(D, FINISHED, (D, F))),
    (State(F, RETURNING, (F,)), Trigger.RETURN, None, State(F, FINISHED, (F,))),
    # after a cancel, also with something delivered
    (State(F, RETURNING, (D, F)), Trigger.RETURN, None, State(F, FINISHED, (D, F))),
    # cancelled before and after pickup, and on the way back
    (State(P, AVAILABLE, (P, P)), Trigger.CANCEL, None, State(F, CANCELLED, (F, F))),
    (State(ACC, ACCEPTED, (ACC, ACC)), Trigger.CANCEL, None, State(F, CANCELLED, (F, F))),
    (State(C, COLLECTED, (D, C)), Trigger.CANCEL, None, State(F, RETURNING, (D, F))),
    (State(C, RETURNING, (D, F)), Trigger.CANCEL, None, State(F, RETURNING, (D, F))),
    # cancelled, and then it is reported that the goods had been collected; the fee of that
    (State(F, CANCELLED, (F, F)), Trigger.GOODS_OUT, None, State(F, RETURNING, (F, F))),
    (State(F, RETURNING, (F, F)), Trigger.CHARGE, None, State(F, RETURNING, (F, F))),
    # not accepted in time
    (State(P, AVAILABLE, (P, P)), Trigger.EXPIRE, None, State(F, EXPIRED, (F, F))),
]
BACKWARD = [
    (reverse(P, SCHEDULED, (P, P)), Trigger.OFFER, None, reverse(P, AVAILABLE, (P, P))),
    (reverse(P, SCHEDULED, (P, P)), Trigger.CANCEL, None, reverse(F, CANCELLED, (F, F))),
    (reverse(P, AVAILABLE, (P, P)), Trigger.ACCEPT, None, reverse(ACC, ACCEPTED, (ACC, ACC))),
    (reverse(ACC, ACCEPTED, (ACC, ACC)), Trigger.RELEASE, None, reverse(P, AVAILABLE, (P, P))),
    (reverse(ACC, ACCEPTED, (F, ACC)), Trigger.RELEASE, None, reverse(P, AVAILABLE, (F, P))),
    (reverse(ACC, ACCEPTED, (ACC, ACC)), Trigger.REASSIGN, None, reverse(ACC, ACCEPTED, (ACC, ACC))),
    # the first pickup makes the delivery COLLECTED, the last one lets the driver go to A
    (reverse(ACC, ACCEPTED, (ACC, ACC)), Trigger.COLLECT, 1, reverse(C, COLLECTED, (ACC, C))),
    (reverse(C, COLLECTED, (ACC, C)), Trigger.COLLECT, 0, reverse(C, RETURNING, (C, C))),
    (reverse(ACC, ACCEPTED, (ACC,)), Trigger.COLLECT, 0, reverse(C, RETURNING, (C,))),
    # pickups that fail
    (reverse(ACC, ACCEPTED, (ACC, ACC)), Trigger.FAIL, 0, reverse(ACC, ACCEPTED, (F, ACC))),
    (reverse(ACC, ACCEPTED, (F, ACC)), Trigger.FAIL, 1, reverse(F, FINISHED, (F, F))),
    (reverse(ACC, ACCEPTED, (F, ACC)), Trigger.COLLECT, 1, reverse(C, RETURNING, (F, C))),
    (reverse(C, COLLECTED, (ACC, C)), Trigger.FAIL, 0, reverse(C, RETURNING, (F, C))),
    # everything that was collected is at A
    (reverse(C, RETURNING, (F, C)), Trigger.RETURN, None, reverse(D, FINISHED, (F, D))),
    (reverse(F, RETURNING, (F, F)), Trigger.RETURN, None, reverse(F, FINISHED, (F, F))),
    # cancelled before the first pickup, between pickups, and on the way to A
    (reverse(P, AVAILABLE, (P, P)), Trigger.CANCEL, None, reverse(F, CANCELLED, (F, F))),
    (reverse(ACC, ACCEPTED, (F, ACC)), Trigger.CANCEL, None, reverse(F, CANCELLED, (F, F))),
    (reverse(C, COLLECTED, (C, ACC)), Trigger.CANCEL, None, reverse(F, RETURNING, (F, F))),
    (reverse(C, RETURNING, (C, F)), Trigger.CANCEL, None, reverse(F, RETURNING, (F, F))),
    (reverse(F, CANCELLED, (F, F)), Trigger.GOODS_OUT, 0, reverse(F, RETURNING, (F, F))),
    (reverse(F, RETURNING, (F, F)), Trigger.GOODS_OUT, 1, reverse(F, RETURNING, (F, F))),
    (reverse(F, RETURNING, (F, F)), Trigger.CHARGE, None, reverse(F, RETURNING, (F, F))),
    (reverse(P, AVAILABLE, (P, F)), Trigger.EXPIRE, None, reverse(F, EXPIRED, (F, F))),
]
ROWS = [*OUTWARD, *BACKWARD]
ALLOWED = {
    mode: {(trigger, before.route) for before, trigger, _index, _after in (BACKWARD if mode is REVERSE else OUTWARD)}
    for mode in Mode
}


class TestNew:
    @pytest.mark.parametrize(("orders", "mode"), [(1, Mode.DEFAULT), (3, Mode.RETURN)])
    def test_waits_for_a_driver(self, orders, mode):
        assert lifecycle.new(orders=orders, mode=mode) == State(P, AVAILABLE, (P,) * orders, mode)

    @pytest.mark.parametrize("mode", Mode)
    def test_waits_for_its_offer_where_it_is_scheduled(self, mode):
        assert lifecycle.new(orders=2, mode=mode, is_scheduled=True) == State(P, SCHEDULED, (P, P), mode)


class TestMove:
    def test_follows_the_table(self):
        assert [(*row[:3], lifecycle.move(row[0], row[1], index=row[2])) for row in ROWS] == ROWS

    @pytest.mark.parametrize("trigger", [Trigger.DELIVER, Trigger.FAIL, Trigger.ATTEMPT])
    def test_refuses_to_close_an_order_that_is_not_named(self, trigger):
        with pytest.raises(StopNotOpen):
            lifecycle.move(State(C, COLLECTED, (C, C)), trigger)

    @pytest.mark.parametrize("mode", Mode)
    def test_refuses_what_the_table_does_not_have(self, mode):
        for trigger, route in set(itertools.product(Trigger, RouteStatus)) - set(TABLE[mode]):
            with pytest.raises(MoveRefused, match=f"Cannot {trigger} while the route is {route}"):
                lifecycle.move(State(C, route, (C,), mode), trigger, index=0)

    @pytest.mark.parametrize(
        ("state", "end"),
        [
            (State(P, SCHEDULED, (P,)), "Possible now: offer, cancel."),
            (State(P, AVAILABLE, (P,)), "Possible now: accept, cancel."),
            (State(C, COLLECTED, (C,)), "Possible now: deliver, fail, cancel."),
            (State(D, FINISHED, (D,)), "while the route is FINISHED: it is closed."),
            (reverse(C, RETURNING, (C,)), "Possible now: return, cancel."),
        ],
    )
    def test_names_the_possible_actions_in_a_refusal(self, state, end):
        with pytest.raises(MoveRefused) as refused:
            lifecycle.move(state, Trigger.COLLECT)

        assert str(refused.value).endswith(end)

    @pytest.mark.parametrize("trigger", [Trigger.DELIVER, Trigger.FAIL, Trigger.ATTEMPT, Trigger.RECALL])
    @pytest.mark.parametrize("closed", [D, F])
    def test_refuses_an_order_that_is_closed(self, trigger, closed):
        with pytest.raises(StopNotOpen):
            lifecycle.move(State(C, COLLECTED, (closed, C)), trigger, index=0)

    @pytest.mark.parametrize("trigger", [Trigger.COLLECT, Trigger.FAIL])
    @pytest.mark.parametrize("ended", [C, F])
    def test_refuses_a_pickup_where_the_driver_has_been(self, trigger, ended):
        with pytest.raises(StopNotOpen):
            lifecycle.move(reverse(C, COLLECTED, (ended, ACC)), trigger, index=0)

    @pytest.mark.parametrize(
        ("trigger", "tried"), [(Trigger.ATTEMPT, (0,)), (Trigger.RECALL, ()), (Trigger.RECALL, (1,))]
    )
    def test_refuses_a_third_attempt_and_an_answer_to_no_failure(self, trigger, tried):
        with pytest.raises(NothingToDecide):
            lifecycle.move(State(C, COLLECTED, (C, C), tried=tried), trigger, index=0)

    @pytest.mark.parametrize("mode", Mode)
    def test_every_row_of_the_code_is_tested(self, mode):
        assert set(TABLE[mode]) == ALLOWED[mode], "add each new row of TABLE to the rows above"


class TestStopsAhead:
    @pytest.mark.parametrize(
        ("state", "ahead"),
        [
            (State(P, AVAILABLE, (P, P, P)), (0, 1, 2)),
            (State(C, COLLECTED, (D, C, C)), (1, 2)),
            (State(C, COLLECTED, (C, C, C), tried=(1,)), (0, 2, 1)),
            (State(C, COLLECTED, (C, C, D), tried=(1, 0)), (1, 0)),
            (State(C, COLLECTED, (F, C, C), tried=(0,)), (1, 2)),
            (reverse(P, AVAILABLE, (P, F)), (0,)),
            (reverse(C, COLLECTED, (C, ACC, F)), (1,)),
            (reverse(C, RETURNING, (C, F)), ()),
        ],
    )
    def test_come_in_their_sequence_and_then_those_tried_once(self, state, ahead):
        assert state.ahead == ahead


class TestFailure:
    @pytest.mark.parametrize("policy", OnFailure)
    @pytest.mark.parametrize("is_second", [False, True])
    def test_is_an_attempt_the_first_time_under_retry_only(self, policy, is_second):
        is_attempt = policy is OnFailure.RETRY and not is_second
        assert lifecycle.of_failure(policy, is_second=is_second) is (Trigger.ATTEMPT if is_attempt else Trigger.FAIL)


class TestAllowed:
    @pytest.mark.parametrize("mode", Mode)
    def test_names_the_triggers_of_the_table(self, mode):
        assert {(trigger, route) for route in RouteStatus for trigger in lifecycle.allowed(route, mode)} == ALLOWED[
            mode
        ]


def tried(state, trigger, index, policies):
    """The state after a trigger as an action calls it: a failure is what the stop's policy makes of it."""
    if trigger is Trigger.FAIL and state.mode is not REVERSE:
        trigger = lifecycle.of_failure(policies[index], is_second=index in state.tried)
    return lifecycle.move(state, trigger, index=index)


class TestAnySequenceOfTriggers:
    """Whatever is tried in whatever order, the states stay consistent."""

    @given(
        mode=st.sampled_from(Mode),
        policies=st.lists(st.sampled_from(OnFailure), min_size=1, max_size=3),
        is_scheduled=st.booleans(),
        # An answer of the shop is another policy.
        tries=st.lists(st.tuples(st.sampled_from([*Trigger, *OnFailure]), st.integers(0, 2)), max_size=25),
    )
    def test_keeps_the_invariants(self, mode, policies, is_scheduled, tries):
        state, failures = lifecycle.new(orders=len(policies), mode=mode, is_scheduled=is_scheduled), [0] * len(policies)

        for trigger, number in tries:
            before, index = state, number % len(policies)
            if isinstance(trigger, OnFailure):
                policies[index] = trigger
                continue
            try:
                state = tried(state, trigger, index, policies)
            except (MoveRefused, StopNotOpen, NothingToDecide):
                continue

            failures[index] += trigger in (Trigger.FAIL, Trigger.ATTEMPT)
            closed_before = [order for order in before.orders if order not in OPEN]
            assert before.route not in CLOSED or trigger is Trigger.GOODS_OUT
            assert [o for o, b in zip(state.orders, before.orders, strict=True) if b not in OPEN] == closed_before
            assert state.route is not SCHEDULED
            assert trigger in (Trigger.OFFER, Trigger.CANCEL) or before.route is not SCHEDULED
            assert len(set(state.tried)) == len(state.tried)
            assert state.tried[: len(before.tried)] == before.tried
            if state.route in CLOSED or (state.route is RETURNING and mode is not REVERSE):
                assert not any(order in OPEN for order in state.orders)
            if state.route is RETURNING or state.route in CLOSED:
                assert state.ahead == ()
            if state.route is FINISHED:
                assert state.delivery is (D if D in state.orders and before.delivery is not F else F)
            assert before.delivery is not F or state.delivery is F
        assert max(failures) <= 2
        assert all(failures[index] for index in state.tried)
        if mode is REVERSE:
            assert not state.tried
            assert (state.route is ACCEPTED) <= (C not in state.orders)

    @given(
        mode=st.sampled_from(Mode),
        policies=st.lists(st.sampled_from(OnFailure), min_size=1, max_size=3),
        works=st.lists(st.booleans(), min_size=6, max_size=6),
    )
    def test_ends_when_the_driver_goes_to_each_stop_ahead(self, mode, policies, works):
        state = lifecycle.move(lifecycle.new(orders=len(policies), mode=mode), Trigger.ACCEPT)
        if mode is not REVERSE:
            state = lifecycle.move(state, Trigger.COLLECT)
        outcomes = iter(works)

        while state.ahead:
            at_door = Trigger.COLLECT if mode is REVERSE else Trigger.DELIVER
            state = tried(state, at_door if next(outcomes) else Trigger.FAIL, state.ahead[0], policies)
        if state.route is RETURNING:
            state = lifecycle.move(state, Trigger.RETURN)

        assert state.route is FINISHED
        assert set(state.orders) <= {D, F}
