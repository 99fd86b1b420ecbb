"""What was tried is kept for people for 30 days."""

from datetime import datetime, timedelta

from django.db import connection

KEPT = timedelta(days=30)
# Small, so that no transaction of it is long.
_BATCH = 5000

_PRUNE = """
DELETE FROM delivery_webhookattempt
WHERE id IN (SELECT id FROM delivery_webhookattempt WHERE at < %s LIMIT %s)
"""


def prune(*, at: datetime) -> int:
    """Drop older attempts, in batches that commit one by one. Returns how many there were."""
    dropped = 0
    while True:
        with connection.cursor() as cursor:
            cursor.execute(_PRUNE, [at - KEPT, _BATCH])
            count: int = cursor.rowcount
            dropped += count
            if count < _BATCH:
                return dropped
