"""The task returns at once, whatever the mail server does."""

import threading

from common.workers.wake_up import BackgroundWork
from tests.faults.waiting import until


class TestBackgroundWork:
    def test_runs_in_a_thread_and_lets_the_caller_go_on(self, db):
        began, may_end, ran = threading.Event(), threading.Event(), []

        def work(_is_stopping):
            began.set()
            may_end.wait(10)
            ran.append(threading.current_thread().name)

        background = BackgroundWork("slow", work)
        background.wake()  # returns although the work has not ended
        assert began.wait(10)
        background.wake()  # once more afterwards
        may_end.set()
        until(lambda: len(ran) == 2, what="the work has run twice")
        background.stop(seconds=10)

        assert ran == ["slow", "slow"]

    def test_goes_on_after_an_error(self, db, caplog):
        calls = []

        def work(_is_stopping):
            calls.append(1)
            if len(calls) == 1:
                raise ZeroDivisionError

        background = BackgroundWork("failing", work)
        background.wake()
        until(lambda: len(calls) == 1, what="the work has run")
        background.wake()
        until(lambda: len(calls) == 2, what="the work has run again")
        background.stop(seconds=10)

        assert "The background work failing failed" in caplog.text
