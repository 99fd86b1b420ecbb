"""The schedule of retries, and the header Retry-After. Pure."""

import random
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

_SECOND, _MINUTE, _HOUR = 1, 60, 3600

# Seconds before the second attempt, the third, and so on: 16 pauses, so 17 attempts in 72 hours.
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
JITTER = 0.2
LONGEST_RETRY_AFTER = timedelta(hours=1)


def next_attempt(*, tries: int, at: datetime, retry_after: timedelta = timedelta(0)) -> datetime | None:
    """The moment of the next attempt after `tries` of them, or None when the schedule has ended.

    The pause varies by 20 % either way, so that events which failed together are not retried together. It is at least
    `retry_after`, the pause that the endpoint asked for.
    """
    if tries > len(SCHEDULE):
        return None
    jitter = random.uniform(1 - JITTER, 1 + JITTER)  # noqa: S311  # nosec B311  # spreads load, protects nothing
    return at + max(timedelta(seconds=SCHEDULE[tries - 1] * jitter), retry_after)


def parse_retry_after(header: str, *, at: datetime) -> timedelta:
    """The pause that a Retry-After header of RFC 9110 asks for, in seconds or as an HTTP date; at most one hour.

    Zero for an empty or malformed header and for a date in the past.
    """
    if not header:
        return timedelta(0)
    if header.isascii() and header.isdigit():
        # Ten digits are more than an hour already; Python limits the digits that it converts.
        return min(timedelta(seconds=int(header[:10])), LONGEST_RETRY_AFTER)
    try:
        moment = parsedate_to_datetime(header)
    except (ValueError, TypeError, LookupError, OverflowError):  # the parser raises each of them for some dates
        return timedelta(0)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return min(max(moment - at, timedelta(0)), LONGEST_RETRY_AFTER)
