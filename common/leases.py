"""Rows that workers send and try again: claimed by a lease in a short transaction, sent without one, then settled.

The rows have `state`, `tries` and `due_at`. A worker that is killed in between leaves its rows to be claimed once more
when the lease is over.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet


@transaction.atomic
def claim(waiting: QuerySet[Any], *, at: datetime, lease: timedelta, most: int) -> list[Any]:
    """Claim the rows that have been due longest, for this worker alone until the lease ends. Counts a try of each."""
    due = (
        waiting.filter(due_at__lte=at).order_by("due_at").select_for_update(skip_locked=True, no_key=True, of=("self",))
    )
    rows = list(due[:most])
    for row in rows:
        row.tries += 1
        row.due_at = at + lease
    waiting.model._default_manager.bulk_update(rows, ["tries", "due_at"])
    return rows


def still_claimed(row: Any) -> QuerySet[Any]:
    """A queryset of the row while this claim holds; empty once another worker has claimed or settled the row."""
    found: QuerySet[Any] = type(row)._default_manager.filter(pk=row.pk, state=row.state, tries=row.tries)
    return found


def next_try(row: Any, pauses: Sequence[timedelta], *, at: datetime) -> datetime | None:
    """When the row is due again after a failure; None after the last try."""
    return None if row.tries > len(pauses) else at + pauses[row.tries - 1]
