"""A deadline on calls that cannot be interrupted, such as name resolution. Pure."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from functools import partial
from threading import Lock, Thread
from typing import TypeVar

T = TypeVar("T")


class DeadlinePassed(Exception):
    """The call has not returned in time. It continues in its thread, and its result is discarded."""


class TooManyCalls(Exception):
    """The maximum number of calls is running, in all or for the account."""


class BoundedCalls:
    """Runs blocking calls, `most` at a time in this process and `each` for an account, and waits `seconds` for each.

    A call that is still running after its deadline counts until it returns, so hung calls cannot accumulate. Each runs
    in a daemon thread, which the interpreter does not wait for at exit; it would join those of a ThreadPoolExecutor.
    """

    def __init__(self, *, most: int, seconds: float, each: int = 1) -> None:
        self.seconds = seconds
        self._most, self._each = most, each
        self._running: Counter[Hashable] = Counter()  # by account; None: calls without one
        self._counting = Lock()

    def run(self, call: Callable[[], T], *, account: Hashable = None) -> T:
        """The result of `call`, whose exceptions pass. Raises DeadlinePassed, or TooManyCalls before the call."""
        return self._result(self._start(call, account), self.seconds)

    def run_all(self, calls: Sequence[Callable[[], T]], *, account: Hashable = None) -> list[T]:
        """The results of calls that run at the same time, within one deadline. Raises as `run`, for the first fault."""
        ends_at = time.monotonic() + self.seconds
        futures = [self._start(call, account) for call in calls]
        return [self._result(future, max(ends_at - time.monotonic(), 0)) for future in futures]

    async def wait(self, call: Callable[[], T], *, account: Hashable = None) -> T:
        """As `run`, without blocking the event loop."""
        try:
            async with asyncio.timeout(self.seconds):
                return await asyncio.wrap_future(self._start(call, account))
        except TimeoutError as error:
            raise DeadlinePassed(f"no result after {self.seconds} s") from error

    def _start(self, call: Callable[[], T], account: Hashable) -> "Future[T]":
        self._begin(account)
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()  # so that `wait` cannot cancel it, and its thread can always set it
        try:
            Thread(target=self._run, args=(call, account, future), daemon=True).start()
        except RuntimeError:  # no thread could be started
            self._end(account)
            raise
        return future

    def _begin(self, account: Hashable) -> None:
        with self._counting:
            if account is not None and self._running[account] >= self._each:
                raise TooManyCalls("calls for this account have not returned")
            if self._running.total() >= self._most:
                raise TooManyCalls("all places are taken by calls that have not returned")
            self._running[account] += 1

    def _end(self, account: Hashable) -> None:
        with self._counting:
            self._running -= Counter([account])  # without those that have none

    def _run(self, call: Callable[[], T], account: Hashable, future: "Future[T]") -> None:
        try:
            publish = partial(future.set_result, call())
        except BaseException as error:  # noqa: BLE001  # raised again in the thread that waits
            publish = partial(future.set_exception, error)
        self._end(account)  # first, so that the waiting thread can start another call at once
        publish()

    def _result(self, future: "Future[T]", seconds: float) -> T:
        try:
            return future.result(seconds)
        except TimeoutError as error:
            if future.done():  # the call itself raised it, or returned just now
                return future.result()
            raise DeadlinePassed(f"no result after {self.seconds} s") from error
