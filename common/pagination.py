"""Pages of the APIs' lists by keyset, and the signed cursors that continue them.

A page begins after the last row of the page before and not at a number of rows, so rows that are added meanwhile shift
nothing, and a late page costs as little as the first.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from django.contrib.postgres.expressions import ArraySubquery
from django.core import signing
from django.db.models import Model, QuerySet

from common.any_of import any_of

Row = TypeVar("Row", bound=Model)


class InvalidCursor(Exception):
    """A cursor that was changed, or made for another scope."""


@dataclass(frozen=True)
class Page(Generic[Row]):
    """Rows of a list, and the cursor of the page after it. None: there are no more."""

    rows: list[Row]
    next_cursor: str | None


def newest_first(queryset: QuerySet[Row], *, limit: int, cursor: str, scope: Sequence[str]) -> Page[Row]:
    """The newest rows by `created_at` and primary key, neither of which may ever change; after `cursor` unless empty.

    The rows are read without `queryset`'s related objects. No row that existed when the first page was read is left out
    or repeated. Raises InvalidCursor.
    """
    if cursor:
        created_at, key = read_cursor(cursor, scope=scope)
        moment = datetime.fromisoformat(created_at)
        # Not `<` or (`=` and `<`): PostgreSQL would read an index from its beginning for an OR.
        queryset = queryset.filter(created_at__lte=moment).exclude(created_at=moment, pk__gte=key)
    # Read alone, the keys come from an index that ends with them. PostgreSQL then prefers it to the index of all
    # accounts by date, whose cost it underestimates for an account that has few of the newest rows.
    keys = ArraySubquery(queryset.order_by("-created_at", "-pk").values("pk")[: limit + 1])
    rows = list(queryset.model._default_manager.filter(any_of("pk", keys)).order_by("-created_at", "-pk"))
    if len(rows) <= limit:
        return Page(rows, None)
    last: Any = rows[limit - 1]
    return Page(rows[:limit], cursor_at([last.created_at.isoformat(), str(last.pk)], scope=scope))


def cursor_at(position: Any, *, scope: Sequence[str]) -> str:
    """A cursor for a position, a JSON value. `scope` names the list: who asks, what is listed, by which filters."""
    return signing.dumps(position, salt=json.dumps(scope))


def read_cursor(cursor: str, *, scope: Sequence[str]) -> Any:
    """The position of a cursor that was made for the same scope. Raises InvalidCursor."""
    try:
        return signing.loads(cursor, salt=json.dumps(scope))
    except signing.BadSignature as error:
        raise InvalidCursor from error
