"""Limits on attempts within a window, counted in PostgreSQL.

An attempt is counted before what it tries, in one statement per counter, so that concurrent attempts cannot exceed a
limit; one that turns out to be legitimate is taken back. django-ratelimit and allauth count in a cache, which may evict
a counter.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.db.models import F

from common.models import AttemptCount


@dataclass(frozen=True)
class Limit:
    """At most `amount` attempts within `window`, which begins with the first of them."""

    name: str
    amount: int
    window: timedelta


class TooManyAttempts(Exception):
    """A limit is reached until `ends_at`, and the attempt was not counted."""

    def __init__(self, limit: Limit, *, ends_at: datetime) -> None:
        super().__init__(f"{limit.amount} attempts per {limit.name} within {limit.window}")
        self.limit = limit
        self.ends_at = ends_at


@dataclass(frozen=True)
class Attempt:
    """A counted attempt: the key and the end of the window of each of its counters."""

    counted: tuple[tuple[str, datetime], ...]

    def forgive(self) -> None:
        """Take the attempt back.

        One statement per row, in the order in which `count_all` locks them; a single statement could deadlock with it.
        """
        for key, expires_at in self.counted:
            AttemptCount.objects.filter(key=key, expires_at=expires_at, count__gt=0).update(count=F("count") - 1)


def count(limit: Limit, *parts: str) -> Attempt:
    """Count an attempt of what `parts` name. Raises TooManyAttempts."""
    return Attempt((_count(limit, parts),))


@transaction.atomic
def count_all(counters: Iterable[tuple[Limit, tuple[str, ...]]]) -> Attempt:
    """Count an attempt in several counters, or in none if one of them is full. Raises TooManyAttempts.

    Callers name the same counters in the same order, or they can deadlock.
    """
    return Attempt(tuple(_count(limit, parts) for limit, parts in counters))


def prune() -> int:
    """Delete the counters whose window is over. Returns how many there were.

    Skips locked rows: waiting for them could deadlock with `count_all`.
    """
    with connection.cursor() as cursor:
        cursor.execute(_PRUNE)
        return int(cursor.rowcount)


# Or it began by a clock that was ahead and has been put right. now() is the beginning of the transaction: one that
# waits for a concurrent one, which began later, must not take the other's window for such a window.
_IS_OVER = "(held.expires_at <= now() OR held.expires_at > now() + %(window)s + interval '1 minute')"
_COUNT = """
INSERT INTO common_attemptcount AS held (key, count, expires_at) VALUES (%(key)s, 1, now() + %(window)s)
ON CONFLICT (key) DO UPDATE SET
    count = CASE WHEN {is_over} THEN 1 ELSE held.count + 1 END,
    expires_at = CASE WHEN {is_over} THEN now() + %(window)s ELSE held.expires_at END
WHERE {is_over} OR held.count < %(amount)s
RETURNING expires_at
""".replace("{is_over}", _IS_OVER)  # nosec B608  # two constants
# Now, if the window has just ended and the row is gone.
_FULL_UNTIL = "SELECT coalesce((SELECT expires_at FROM common_attemptcount WHERE key = %(key)s), now())"

_PRUNE = """
DELETE FROM common_attemptcount
WHERE key IN (SELECT key FROM common_attemptcount WHERE expires_at <= now() FOR UPDATE SKIP LOCKED)
"""


def _count(limit: Limit, parts: tuple[str, ...]) -> tuple[str, datetime]:
    key = hashlib.sha256("\0".join((limit.name, *parts)).encode()).hexdigest()
    parameters: dict[str, Any] = {"key": key, "window": limit.window, "amount": limit.amount}
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, parameters)
        row = cursor.fetchone()
        if row is None:
            cursor.execute(_FULL_UNTIL, parameters)
            raise TooManyAttempts(limit, ends_at=cursor.fetchone()[0])
    return key, row[0]
