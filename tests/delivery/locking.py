"""Calls that fail instead of waiting for a lock that another transaction holds."""

from collections.abc import Callable
from typing import Any

from django.db import connection, transaction


def without_waiting(call: Callable[[], Any]) -> Any:
    """Make the call in a transaction that waits at most 100 ms for a lock; raises OperationalError after that."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '100ms'")
        return call()
