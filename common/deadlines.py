"""A deadline on calls that cannot be interrupted, such as name resolution. Pure."""

import time
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from functools import partial
from threading import BoundedSemaphore, Thread
from typing import TypeVar

T = TypeVar("T")


class DeadlinePassed(Exception):
    """The call has not returned in time. It continues in its thread, and its result is discarded."""


class TooManyCalls(Exception):
    """The maximum number of calls is running, or one for the same account."""


class BoundedCalls:
    """Runs blocking calls, `most` at a time in this process, and waits `seconds` for each.

    A call that is still running after its deadline counts until it returns, so hung calls cannot accumulate. Each runs
    in a daemon thread, which the interpreter does not wait for at exit; it would join those of a ThreadPoolExecutor.
    """

    def __init__(self, *, most: int, seconds: float) -> None:
        self.seconds = seconds
        self._places = BoundedSemaphore(most)
        self._running: dict[Hashable, object] = {}

    def run(self, call: Callable[[], T], *, account: Hashable = None) -> T:
        """The result of `call`, whose exceptions pass. Raises DeadlinePassed, or TooManyCalls before the call.

        Of the calls for an account, if one is given, one runs at a time.
        """
        if account is None:
            return self._result(self._start(call), self.seconds)
        this = object()
        if self._running.setdefault(account, this) is not this:  # one step, also with several threads
            raise TooManyCalls("a call for this account has not returned")

        def call_once() -> T:
            try:
                return call()
            finally:
                del self._running[account]

        try:
            future = self._start(call_once)
        except BaseException:
            del self._running[account]
            raise
        return self._result(future, self.seconds)

    def run_all(self, calls: Sequence[Callable[[], T]]) -> list[T]:
        """The results of calls that run at the same time, within one deadline. Raises as `run`, for the first fault."""
        ends_at = time.monotonic() + self.seconds
        futures = [self._start(call) for call in calls]
        return [self._result(future, max(ends_at - time.monotonic(), 0)) for future in futures]

    def _start(self, call: Callable[[], T]) -> "Future[T]":
        if not self._places.acquire(blocking=False):
            raise TooManyCalls("all places are taken by calls that have not returned")
        future: Future[T] = Future()
        try:
            Thread(target=self._run, args=(call, future), daemon=True).start()
        except RuntimeError:  # no thread could be started
            self._places.release()
            raise
        return future

    def _run(self, call: Callable[[], T], future: "Future[T]") -> None:
        try:
            publish = partial(future.set_result, call())
        except BaseException as error:  # noqa: BLE001  # raised again in the thread that waits
            publish = partial(future.set_exception, error)
        self._places.release()  # first, so that the waiting thread can start another call at once
        publish()

    def _result(self, future: "Future[T]", seconds: float) -> T:
        try:
            return future.result(seconds)
        except TimeoutError as error:
            if future.done():  # the call itself raised it, or returned just now
                return future.result()
            raise DeadlinePassed(f"no result after {self.seconds} s") from error
