"""What is said of an outage of PostgreSQL: every request fails then, for the same reason.

One log record a second of each process, with the number of those that were left out, and one report of its errors.
Without locks: at worst two threads that fail at the same moment both say so.
"""

import logging
import time

from common.connections import is_unavailable

_RECORD_SECONDS = 1.0
_OVER_SECONDS = 60.0  # without an error


class OutageFilter(logging.Filter):
    """Lets one record of an outage pass in a second; `left_out` is how many were not since the one before."""

    def __init__(self) -> None:
        super().__init__()
        self._next = 0.0  # on the monotonic clock
        self._left_out = 0

    def filter(self, record: logging.LogRecord) -> bool:
        if not is_unavailable(record.exc_info[1] if record.exc_info else None):
            return True
        now = time.monotonic()
        if now < self._next:
            self._left_out += 1
            return False
        self._next = now + _RECORD_SECONDS
        record.left_out, self._left_out = self._left_out, 0
        return True


class OutageReports:
    """Which errors are those of an outage that was reported."""

    def __init__(self) -> None:
        self._until = 0.0  # on the monotonic clock

    def is_known(self, error: BaseException | None) -> bool:
        if not is_unavailable(error):
            return False
        now = time.monotonic()
        known, self._until = now < self._until, now + _OVER_SECONDS
        return known
