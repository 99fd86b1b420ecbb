"""A value that is computed at most once in a while, whoever asks for it."""

import math
import time
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class Cached(Generic[T]):
    """The value of `compute`, computed anew when it is older than `seconds`.

    One thread computes it. The others get the former value meanwhile, so that a slow computation occupies one thread
    of the web server; only before there is a first value they wait for it.
    """

    def __init__(self, compute: Callable[[], T], *, seconds: float) -> None:
        self._compute, self._seconds = compute, seconds
        self._computing = Lock()
        self._value: T | None = None
        self._computed_at = -math.inf

    def get(self) -> T:
        value = self._value
        if value is not None and self._is_fresh():
            return value
        if not self._computing.acquire(blocking=value is None):
            assert value is not None  # noqa: S101  # nosec B101  # for the type checker
            return value
        try:
            if self._value is None or not self._is_fresh():
                self._value = self._compute()
                self._computed_at = time.monotonic()
            return self._value
        finally:
            self._computing.release()

    @property
    def latest(self) -> T | None:
        """The value that was computed last, whatever its age; None if there is none."""
        return self._value

    def forget(self) -> None:
        """Compute the value anew for the next caller. Waits for a computation, which may have begun too early."""
        with self._computing:
            self._value = None

    def _is_fresh(self) -> bool:
        return time.monotonic() - self._computed_at < self._seconds
