"""A circuit breaker for each webhook endpoint. Pure.

It opens after five failures in a row. While it is open, requests are paused, and after each pause one event is sent as
a probe. The first success closes it. After five days without a success the endpoint is to be switched off.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

OPENS_AFTER = 5
# Seconds until the next probe, after the fifth failure in a row, the sixth, and so on; the last one repeats.
PROBE_PAUSES = (5, 10, 20, 40, 60)
GIVES_UP_AFTER = timedelta(days=5)


@dataclass(frozen=True)
class BreakerState:
    """The breaker of one endpoint.

    `failures` counts those in a row, `failing_since` is when the first of them was recorded, nothing is sent before
    `paused_until`, and `last_success_at` is when the request that succeeded last was sent. `retry_after_until` is the
    end of the pause that the endpoint asked for with Retry-After; `paused_until` is never before it.
    """

    failures: int = 0
    failing_since: datetime | None = None
    paused_until: datetime | None = None
    last_success_at: datetime | None = None
    retry_after_until: datetime | None = None

    @property
    def is_open(self) -> bool:
        return self.failures >= OPENS_AFTER

    def has_given_up(self, *, at: datetime) -> bool:
        """Whether the endpoint has failed for so long that it is to be switched off."""
        return self.failing_since is not None and at - self.failing_since >= GIVES_UP_AFTER


def after_success(state: BreakerState, *, sent_at: datetime, at: datetime) -> BreakerState:
    """The state after a success: closed, without a pause but one that the endpoint asked for.

    Such a pause can be in force, because requests that are in flight when it begins can succeed.
    """
    latest = max(sent_at, state.last_success_at or sent_at)
    return without_probe_pause(BreakerState(last_success_at=latest, retry_after_until=state.retry_after_until), at=at)


def without_probe_pause(state: BreakerState, *, at: datetime) -> BreakerState:
    """The state in which only a pause that the endpoint asked for, if one is in force, delays the next request."""
    until = state.retry_after_until
    until = until if until is not None and until > at else None
    return replace(state, paused_until=until, retry_after_until=until)


def after_failure(state: BreakerState, *, sent_at: datetime, at: datetime, retry_after: timedelta) -> BreakerState:
    """The state after one more failure.

    `retry_after` is the pause that the response asked for, zero without one; it holds for the whole endpoint. A request
    that was sent before the pause began is not counted, so that requests which fail together do not lengthen the pause.
    """
    if retry_after:
        state = replace(state, retry_after_until=max(state.retry_after_until or at, at + retry_after))
    if state.paused_until is not None and sent_at < state.paused_until:
        return replace(state, paused_until=max(state.paused_until, at + retry_after))
    failures = state.failures + 1
    failing = replace(state, failures=failures, failing_since=state.failing_since or at)
    if not failing.is_open:
        return replace(failing, paused_until=at + retry_after if retry_after else None)
    pause = timedelta(seconds=PROBE_PAUSES[min(failures - OPENS_AFTER, len(PROBE_PAUSES) - 1)])
    return replace(failing, paused_until=at + max(pause, retry_after))
