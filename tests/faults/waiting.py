"""Waiting for a condition, never for a length of time."""

import time
from collections.abc import Callable
from contextlib import suppress

import requests

# What a quiet machine does within seconds may take so long on a busy one. No test is about speed.
DEADLINE_SECONDS = 120


def until(is_true: Callable[[], object], *, seconds: float = DEADLINE_SECONDS, what: str) -> float:
    """Return how many seconds it took. Raises AssertionError, saying what did not happen, when that is too long."""
    started = time.monotonic()
    while not is_true():
        assert time.monotonic() - started < seconds, f"Not within {seconds:g} s: {what}"
        time.sleep(0.02)
    return time.monotonic() - started


def until_web_answers(base: str) -> float:
    """Wait until a process of the web server answers; as `until`.

    Its port says less: the processes of a server that was killed may listen a moment longer than their parent.
    """

    def answers() -> bool:
        with suppress(requests.RequestException):
            return requests.get(f"{base}/healthz", timeout=DEADLINE_SECONDS).ok
        return False

    return until(answers, what="the web server answers")
