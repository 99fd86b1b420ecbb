"""Waiting for a condition, never for a length of time."""

import time
from collections.abc import Callable


def until(is_true: Callable[[], object], *, seconds: float, what: str) -> float:
    """Return how many seconds it took. Raises AssertionError, saying what did not happen, when that is too long."""
    started = time.monotonic()
    while not is_true():
        assert time.monotonic() - started < seconds, f"Not within {seconds:g} s: {what}"
        time.sleep(0.02)
    return time.monotonic() - started
