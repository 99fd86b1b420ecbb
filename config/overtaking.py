"""Keeps threads that answer requests from starving each other."""

import math
import threading
import time

# How many later requests may begin before the threads that took them pause for an earlier one, for how long, and how
# often: a request that is still not answered then is a slow one, and not one that lacks the interpreter.
_LATER = 8
_PAUSE_SECONDS = 0.004
_MOST_PAUSES = 25


class Overtaking:
    """Counts for each running request the later ones that have begun.

    The lock of the interpreter is not fair. A thread releases it to wait for PostgreSQL, and has it again before one
    that was waiting for it has been given a processor. With both processors of a machine busy, one request in a
    hundred took half a second or more while the others took 6 ms.
    """

    def __init__(self) -> None:
        self._begun = 0
        self._paused_until = -math.inf  # on the monotonic clock, for all threads
        self._running: dict[int, _Running] = {}  # by the thread; each changes its own entry only

    def begin(self) -> None:
        """The calling thread has begun a request."""
        self._begun += 1
        self._running[threading.get_ident()] = _Running(self._begun)

    def end(self) -> None:
        """The calling thread has ended its request."""
        del self._running[threading.get_ident()]

    def pause(self) -> float:
        """Seconds for which a thread should wait before its next request, so that an overtaken one proceeds."""
        now = time.monotonic()
        if now >= self._paused_until:
            for running in list(self._running.values()):
                if self._begun - running.begun >= _LATER and running.pauses < _MOST_PAUSES:
                    running.begun = self._begun
                    running.pauses += 1
                    self._paused_until = now + _PAUSE_SECONDS
        return max(0.0, self._paused_until - now)


class _Running:
    """A request. `begun`: how many had begun when it began, or when a thread last paused for it."""

    __slots__ = ("begun", "pauses")

    def __init__(self, begun: int) -> None:
        self.begun = begun
        self.pauses = 0
