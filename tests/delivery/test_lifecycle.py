import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delivery import lifecycle
from delivery.errors import MoveRefused, StopNotOpen
from delivery.lifecycle import CLOSED, OPEN, Mode, RouteStatus, State, Status, Trigger

P, ACC, C, D, F = Status.PENDING, Status.ACCEPT, Status.COLLECTED, Status.DELIVERED, Status.FAILED
AVAILABLE, ACCEPTED, COLLECTED = RouteStatus.AVAILABLE, RouteStatus.ACCEPTED, RouteStatus.COLLECTED
RETURNING, FINISHED = RouteStatus.RETURNING, RouteStatus.FINISHED
CANCELLED, EXPIRED = RouteStatus.CANCELLED, RouteStatus.EXPIRED

# For every row of `lifecycle.TABLE`: before, trigger, index of the order, after.
ROWS = [
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
    # not accepted in time
    (State(P, AVAILABLE, (P, P)), Trigger.EXPIRE, None, State(F, EXPIRED, (F, F))),
]
ALLOWED = {(trigger, before.route) for before, trigger, _index, _after in ROWS}


class TestNew:
    @pytest.mark.parametrize(("orders", "mode"), [(1, Mode.DEFAULT), (3, Mode.RETURN)])
    def test_waits_for_a_driver(self, orders, mode):
        assert lifecycle.new(orders=orders, mode=mode) == State(P, AVAILABLE, (P,) * orders, mode)


class TestMove:
    @pytest.mark.parametrize(("before", "trigger", "index", "after"), ROWS)
    def test_follows_the_table(self, before, trigger, index, after):
        assert lifecycle.move(before, trigger, index=index) == after

    @pytest.mark.parametrize("trigger", [Trigger.DELIVER, Trigger.FAIL])
    def test_refuses_to_close_an_order_that_is_not_named(self, trigger):
        with pytest.raises(StopNotOpen):
            lifecycle.move(State(C, COLLECTED, (C, C)), trigger)

    @pytest.mark.parametrize(
        ("trigger", "route"), sorted(set(itertools.product(Trigger, RouteStatus)) - set(lifecycle.TABLE))
    )
    def test_refuses_what_the_table_does_not_have(self, trigger, route):
        with pytest.raises(MoveRefused, match=f"Cannot {trigger} while the route is {route}"):
            lifecycle.move(State(C, route, (C,)), trigger, index=0)

    @pytest.mark.parametrize(
        ("state", "end"),
        [
            (State(P, AVAILABLE, (P,)), "Possible now: accept, cancel."),
            (State(C, COLLECTED, (C,)), "Possible now: deliver, fail, cancel."),
            (State(D, FINISHED, (D,)), "while the route is FINISHED: it is closed."),
        ],
    )
    def test_names_the_possible_actions_in_a_refusal(self, state, end):
        with pytest.raises(MoveRefused) as refused:
            lifecycle.move(state, Trigger.COLLECT)

        assert str(refused.value).endswith(end)

    @pytest.mark.parametrize("trigger", [Trigger.DELIVER, Trigger.FAIL])
    @pytest.mark.parametrize("closed", [D, F])
    def test_refuses_an_order_that_is_closed(self, trigger, closed):
        with pytest.raises(StopNotOpen):
            lifecycle.move(State(C, COLLECTED, (closed, C)), trigger, index=0)

    def test_every_row_of_the_code_is_tested(self):
        assert set(lifecycle.TABLE) == ALLOWED, "add each new row of TABLE to ROWS above"


class TestAllowed:
    @pytest.mark.parametrize("route", RouteStatus)
    def test_names_the_triggers_of_the_table(self, route):
        assert {(trigger, route) for trigger in lifecycle.allowed(route)} == {
            pair for pair in ALLOWED if pair[1] is route
        }


class TestAnySequenceOfTriggers:
    """Whatever is tried in whatever order, the states stay consistent."""

    @given(
        orders=st.integers(1, 3),
        mode=st.sampled_from(Mode),
        tries=st.lists(st.tuples(st.sampled_from(Trigger), st.integers(0, 2)), max_size=25),
    )
    def test_keeps_the_invariants(self, orders, mode, tries):
        state = lifecycle.new(orders=orders, mode=mode)

        for trigger, index in tries:
            before = state
            try:
                state = lifecycle.move(state, trigger, index=min(index, orders - 1))
            except (MoveRefused, StopNotOpen):
                continue

            closed_before = [order for order in before.orders if order not in OPEN]
            assert before.route not in CLOSED
            assert [o for o, b in zip(state.orders, before.orders, strict=True) if b not in OPEN] == closed_before
            if state.route in CLOSED or state.route is RETURNING:
                assert not any(order in OPEN for order in state.orders)
            if state.route is FINISHED:
                assert state.delivery is (D if D in state.orders and before.delivery is not F else F)
            assert before.delivery is not F or state.delivery is F
