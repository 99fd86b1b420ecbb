"""When to try again. Pure."""

import random
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

_SECOND, _MINUTE, _HOUR = 1, 60, 3600

# Seconds before the second, third … try: 16 pauses, so 17 tries in 72 hours.
SCHEDULE = (
    5 * _SECOND,
    15 * _SECOND,
    30 * _SECOND,
    1 * _MINUTE,
    2 * _MINUTE,
    5 * _MINUTE,
    10 * _MINUTE,
    15 * _MINUTE,
    30 * _MINUTE,
    1 * _HOUR,
    2 * _HOUR,
    4 * _HOUR,
    8 * _HOUR,
    12 * _HOUR,
    20 * _HOUR,
    24 * _HOUR,
)
_JITTER = 0.2
_LONGEST_RETRY_AFTER = timedelta(hours=1)


def next_attempt(*, tries: int, at: datetime, asked: timedelta = timedelta(0)) -> datetime | None:
    """The moment of the next try after `tries` of them, or None when the schedule has ended.

    The pause varies by 20 % either way, so that events which failed together do not come back together. `asked`, the
    pause that the endpoint asked for, lengthens it.
    """
    if tries > len(SCHEDULE):
        return None
    jitter = random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311  # nosec B311  # spreads load, guards no secret
    return at + max(timedelta(seconds=SCHEDULE[tries - 1] * jitter), asked)


def asked_pause(retry_after: str, *, at: datetime) -> timedelta:
    """Retry-After of RFC 9110, seconds or an HTTP date, as a pause of one hour at most. The unreadable asks nothing."""
    if not retry_after:
        return timedelta(0)
    if retry_after.isascii() and retry_after.isdigit():
        return min(timedelta(seconds=int(retry_after[:10])), _LONGEST_RETRY_AFTER)
    try:
        moment = parsedate_to_datetime(retry_after)
    except (ValueError, TypeError, LookupError, OverflowError):  # the parser raises all of them on hostile dates
        return timedelta(0)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return min(max(moment - at, timedelta(0)), _LONGEST_RETRY_AFTER)
