"""The clock of this machine beside that of PostgreSQL."""

from datetime import datetime, timedelta

from django.db import connection
from django.utils import timezone

LARGEST_DIFFERENCE = timedelta(seconds=30)


class ClocksDiffer(Exception):
    """The clocks of this machine and of PostgreSQL differ by more than LARGEST_DIFFERENCE."""


def agreed_now() -> datetime:
    """The current moment, for whatever expires or is deleted by its age. Raises ClocksDiffer.

    One machine whose clock is wrong must not end the offers, or delete the photos, of all.
    """
    before = timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (elsewhere,) = cursor.fetchone()
    now = timezone.now()
    # The query's own time is not counted, however long it waited.
    ahead = max(before - elsewhere, elsewhere - now)
    if ahead > LARGEST_DIFFERENCE:
        raise ClocksDiffer(f"The clocks of this machine and of PostgreSQL differ by {ahead.total_seconds():.0f} s")
    return now
