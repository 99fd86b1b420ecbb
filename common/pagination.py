"""Pages of the APIs' lists by keyset, and the signed cursors that continue them.

A page begins after the last row of the page before and not at a number of rows, so rows that are added meanwhile shift
nothing, and a late page costs as little as the first.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from django.contrib.postgres.expressions import ArraySubquery
from django.core import signing
from django.db.models import Model, QuerySet

from common.expressions import any_of

Row = TypeVar("Row", bound=Model)


class InvalidCursor(Exception):
    """A cursor that was changed, or made for another scope."""


@dataclass(frozen=True)
class Page(Generic[Row]):
    """Rows of a list, and the cursor of the page after it. None: there are no more."""

    rows: list[Row]
    next_cursor: str | None


def newest_first(
    queryset: QuerySet[Row],
    *,
    limit: int,
    cursor: str,
    scope: Sequence[str],
    moment: str = "created_at",
    without: Sequence[str] = (),
    annotations: Mapping[str, Any] | None = None,
) -> Page[Row]:
    """The newest rows by `moment` and primary key, neither of which may ever change; after `cursor` unless empty.

    The rows are read without `queryset`'s related objects and without the columns `without`, with `annotations`. No
    row that existed when the first page was read is left out or repeated. Raises InvalidCursor.
    """
    queryset = _after(queryset, cursor, scope, moment)
    # Read alone, the keys come from an index that ends with them. PostgreSQL then prefers it to the index of all
    # accounts by date, whose cost it underestimates for an account that has few of the newest rows.
    order = (f"-{moment}", "-pk")
    keys = ArraySubquery(queryset.order_by(*order).values("pk")[: limit + 1])
    found = queryset.model._default_manager.filter(any_of("pk", keys)).annotate(**annotations or {})
    rows = list(found.order_by(*order).defer(*without))
    if len(rows) <= limit:
        return Page(rows, None)
    return Page(rows[:limit], _cursor_after(rows[limit - 1], scope, moment))


def newest_matching(
    queryset: QuerySet[Row],
    matching: Callable[[ArraySubquery], QuerySet[Row]],
    *,
    limit: int,
    scanned: int,
    cursor: str,
    scope: Sequence[str],
) -> tuple[Page[Row], Row | None]:
    """The newest rows that match, among the `scanned` newest of `queryset`, for conditions without an index.

    `matching` takes the keys of the rows to look at, and returns those that match. Returns with the page the last row
    that was looked at, or None if that was the last one of all; the page's cursor continues after it. Raises
    InvalidCursor.
    """
    queryset = _after(queryset, cursor, scope, "created_at").order_by("-created_at", "-pk")
    keys = ArraySubquery(queryset.values("pk")[:scanned])
    rows = list(matching(keys).order_by("-created_at", "-pk")[: limit + 1])
    if len(rows) > limit:
        return Page(rows[:limit], _cursor_after(rows[limit - 1], scope, "created_at")), rows[limit - 1]
    last = queryset.only("created_at")[scanned - 1 : scanned].first()
    return Page(rows, _cursor_after(last, scope, "created_at") if last else None), last


def _after(queryset: QuerySet[Row], cursor: str, scope: Sequence[str], moment: str) -> QuerySet[Row]:
    """The rows after a cursor, unless it is empty."""
    if not cursor:
        return queryset
    last_moment, key = read_cursor(cursor, scope=scope)
    at = datetime.fromisoformat(last_moment)
    # Not `<` or (`=` and `<`): PostgreSQL would read an index from its beginning for an OR.
    return queryset.filter(**{f"{moment}__lte": at}).exclude(**{moment: at, "pk__gte": key})


def _cursor_after(row: Any, scope: Sequence[str], moment: str) -> str:
    return cursor_at([getattr(row, moment).isoformat(), str(row.pk)], scope=scope)


def cursor_at(position: Any, *, scope: Sequence[str]) -> str:
    """A cursor for a position, a JSON value. `scope` names the list: who asks, what is listed, by which filters."""
    return signing.dumps(position, salt=json.dumps(scope))


def read_cursor(cursor: str, *, scope: Sequence[str]) -> Any:
    """The position of a cursor that was made for the same scope. Raises InvalidCursor."""
    try:
        return signing.loads(cursor, salt=json.dumps(scope))
    except signing.BadSignature as error:
        raise InvalidCursor from error
