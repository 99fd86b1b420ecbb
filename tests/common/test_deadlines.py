import threading

import pytest

from common.deadlines import BoundedCalls, DeadlinePassed, TooManyCalls


@pytest.fixture
def release():
    """What hung calls wait for; set at the end, so that no thread outlives the test."""
    event = threading.Event()
    yield event
    event.set()


class TestBoundedCalls:
    def test_gives_the_result(self):
        assert BoundedCalls(most=1, seconds=5).run(lambda: 42) == 42

    @pytest.mark.parametrize("error", [ValueError, TimeoutError])
    def test_raises_what_the_call_raises(self, error):
        def fails():
            raise error("of the call")

        with pytest.raises(error, match="of the call"):
            BoundedCalls(most=1, seconds=5).run(fails)

    def test_leaves_a_call_that_takes_too_long(self, release):
        with pytest.raises(DeadlinePassed):
            BoundedCalls(most=1, seconds=0.05).run(release.wait)

    def test_refuses_another_call_while_the_hung_ones_go_on(self, release):
        calls, called = BoundedCalls(most=2, seconds=0.05), []
        for _number in range(2):
            with pytest.raises(DeadlinePassed):
                calls.run(release.wait)

        with pytest.raises(TooManyCalls):
            calls.run(lambda: called.append(True))

        assert called == []

    def test_takes_calls_again_when_the_hung_ones_have_returned(self, release):
        calls = BoundedCalls(most=1, seconds=0.05)
        threads: list[threading.Thread] = []

        def hang():
            threads.append(threading.current_thread())
            release.wait()

        with pytest.raises(DeadlinePassed):
            calls.run(hang)

        release.set()
        threads[0].join(5)

        assert calls.run(lambda: 42) == 42

    def test_frees_its_place_after_a_failure(self):
        calls = BoundedCalls(most=1, seconds=5)

        for _number in range(3):
            with pytest.raises(ZeroDivisionError):
                calls.run(lambda: 1 / 0)

    def test_does_not_delay_the_end_of_the_process(self, release):
        threads: list[threading.Thread] = []

        def hang():
            threads.append(threading.current_thread())
            release.wait()

        with pytest.raises(DeadlinePassed):
            BoundedCalls(most=1, seconds=0.05).run(hang)

        assert threads[0].daemon
