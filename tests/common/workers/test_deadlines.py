import asyncio
import threading
import time

import pytest

from common.workers.deadlines import BoundedCalls, DeadlinePassed, TooManyCalls


@pytest.fixture
def release():
    """What hung calls wait for; set at the end, so that no thread outlives the test."""
    event = threading.Event()
    yield event
    event.set()


class TestBoundedCalls:
    @pytest.mark.parametrize("error", [ValueError, TimeoutError])
    def test_raises_what_the_call_raises_and_frees_its_place(self, error):
        calls = BoundedCalls(most=1, seconds=5)

        def fails():
            raise error("of the call")

        for _number in range(2):
            with pytest.raises(error, match="of the call"):
                calls.run(fails)

    def test_refuses_another_call_while_the_hung_ones_go_on(self, release):
        calls, called = BoundedCalls(most=2, seconds=0.05), []
        for _number in range(2):
            with pytest.raises(DeadlinePassed):
                calls.run(release.wait)

        with pytest.raises(TooManyCalls):
            calls.run(lambda: called.append(True))

        assert called == []

    def test_refuses_a_second_call_of_one_account_alone(self, release):
        calls = BoundedCalls(most=2, seconds=0.05)
        with pytest.raises(DeadlinePassed):
            calls.run(release.wait, account="a")

        with pytest.raises(TooManyCalls):
            calls.run(lambda: 42, account="a")

        assert calls.run(lambda: 42, account="b") == 42

    def test_takes_as_many_calls_of_an_account_as_it_may_have(self, release):
        calls = BoundedCalls(most=3, seconds=0.05, each=2)

        with pytest.raises(DeadlinePassed):
            calls.run_all([release.wait, release.wait], account="a")
        with pytest.raises(TooManyCalls, match="for this account"):
            calls.run_all([lambda: 42], account="a")
        assert calls.run_all([lambda: 42], account="b") == [42]

    def test_takes_a_call_of_an_account_again_when_the_one_before_has_ended(self, release):
        calls = BoundedCalls(most=1, seconds=0.05)
        with pytest.raises(DeadlinePassed):
            calls.run(release.wait)
        with pytest.raises(TooManyCalls):
            calls.run(lambda: 42, account="a")  # no place was left for it
        release.set()
        time.sleep(0.05)

        assert [calls.run(lambda: 42, account="a") for _time in range(2)] == [42, 42]

    def test_waits_for_several_calls_within_one_deadline(self, release):
        calls = BoundedCalls(most=3, seconds=1.5)
        began = time.monotonic()

        with pytest.raises(DeadlinePassed):
            calls.run_all([lambda: True, release.wait, release.wait])

        assert time.monotonic() - began < 2.9

    def test_returns_the_results_of_several_calls_in_their_order(self):
        calls, may_end = BoundedCalls(most=2, seconds=5), threading.Event()

        def second():
            may_end.set()
            return 2

        assert calls.run_all([lambda: may_end.wait(5), second]) == [True, 2]

    def test_waits_in_an_event_loop_for_the_result_and_no_longer_than_the_deadline(self, release):
        calls = BoundedCalls(most=2, seconds=0.05)

        assert asyncio.run(calls.wait(lambda: 42)) == 42
        with pytest.raises(DeadlinePassed):
            asyncio.run(calls.wait(release.wait))
        with pytest.raises(ZeroDivisionError):
            asyncio.run(calls.wait(lambda: 1 // 0))

    @pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
    def test_discards_the_result_that_comes_after_the_loop_has_ended(self, release):
        calls, threads = BoundedCalls(most=1, seconds=0.05), []

        def hang():
            threads.append(threading.current_thread())
            return release.wait()

        with pytest.raises(DeadlinePassed):
            asyncio.run(calls.wait(hang))
        release.set()
        threads[0].join(5)

        assert asyncio.run(calls.wait(lambda: 42)) == 42

    def test_takes_calls_again_when_the_hung_ones_have_returned(self, release):
        calls = BoundedCalls(most=1, seconds=0.05)
        threads: list[threading.Thread] = []

        def hang():
            threads.append(threading.current_thread())
            release.wait()

        with pytest.raises(DeadlinePassed):
            calls.run(hang)
        assert threads[0].daemon  # the end of the process does not wait for it

        release.set()
        threads[0].join(5)

        assert calls.run(lambda: 42) == 42
