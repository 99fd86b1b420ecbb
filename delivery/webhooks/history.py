"""Deletes old attempts."""

from datetime import datetime, timedelta

from django.db import connection

KEPT = timedelta(days=30)
# Rows that one transaction deletes; small, so that none is long.
_BATCH = 5000

_PRUNE = """
DELETE FROM delivery_webhookattempt
WHERE id IN (SELECT id FROM delivery_webhookattempt WHERE at < %s LIMIT %s)
"""


def prune(*, at: datetime) -> int:
    """Delete attempts older than 30 days, in batches that are committed one by one. Returns how many there were."""
    deleted = 0
    while True:
        with connection.cursor() as cursor:
            cursor.execute(_PRUNE, [at - KEPT, _BATCH])
            count: int = cursor.rowcount
            deleted += count
            if count < _BATCH:
                return deleted
