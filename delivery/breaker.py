"""A circuit breaker for each webhook endpoint: one that keeps failing is asked seldom, in the end not at all. Pure."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

OPENS_AFTER = 5
# Seconds until the next probe, after the fifth failure in a row, the sixth …
PAUSES = (5, 10, 20, 40, 60)
GIVES_UP_AFTER = timedelta(days=5)


@dataclass(frozen=True)
class Health:
    """What is known of an endpoint. `failures` in a row; `last_success_at` is when that request was sent."""

    failures: int = 0
    failing_since: datetime | None = None
    paused_until: datetime | None = None
    last_success_at: datetime | None = None

    @property
    def is_open(self) -> bool:
        """Open, nothing is sent until `paused_until`; then one event at a time, as a probe, until one is taken."""
        return self.failures >= OPENS_AFTER

    def has_given_up(self, *, at: datetime) -> bool:
        return self.failing_since is not None and at - self.failing_since >= GIVES_UP_AFTER


def after_success(health: Health, *, sent_at: datetime) -> Health:
    """Healthy again."""
    latest = max(sent_at, health.last_success_at or sent_at)
    return Health(last_success_at=latest)


def after_failure(health: Health, *, sent_at: datetime, at: datetime, asked: timedelta) -> Health:
    """One more failure in a row. `asked` is the pause of the answer's Retry-After, which holds for the whole endpoint.

    Requests that were under way when the breaker opened, and failed like the others, do not make its pause longer.
    """
    if health.paused_until is not None and sent_at < health.paused_until:
        return replace(health, paused_until=max(health.paused_until, at + asked))
    failures = health.failures + 1
    failing = replace(health, failures=failures, failing_since=health.failing_since or at)
    if not failing.is_open:
        return replace(failing, paused_until=at + asked if asked else None)
    pause = timedelta(seconds=PAUSES[min(failures - OPENS_AFTER, len(PAUSES) - 1)])
    return replace(failing, paused_until=at + max(pause, asked))
