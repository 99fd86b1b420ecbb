"""Lists of the APIs: query parameters, pages by keyset, and the signed cursors that continue them.

A page begins after the last row of the page before and not at a number of rows, so rows that are added meanwhile shift
nothing, and a late page costs as little as the first. Query parameters are read by django-filter, stricter than forms,
which browsers fill in: each may be given once and not empty, so that a variable that is empty by mistake does not
select everything. Unknown ones have no effect; `ApiView.check_query` names them. Texts of errors are in
`QueryForm.messages`, because the areas' languages differ.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import reduce
from operator import or_
from typing import Any, ClassVar, Generic, TypeVar

import django_filters
from django import forms
from django.contrib.postgres.expressions import ArraySubquery
from django.core import signing
from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet
from django.utils import timezone
from django_filters.utils import translate_validation

from common.fields import any_of, parse_id

Row = TypeVar("Row", bound=Model)


class InvalidCursor(Exception):
    """A cursor that was changed, or made for another scope."""


@dataclass(frozen=True)
class Page(Generic[Row]):
    """Rows of a list, and the cursor of the page after it. None: there are no more."""

    rows: list[Row]
    next_cursor: str | None


def page_in_order(
    queryset: QuerySet[Row],
    *,
    limit: int,
    cursor: str,
    scope: Sequence[str],
    order: str = "-created_at",
    without: Sequence[str] = (),
    annotations: Mapping[str, Any] | None = None,
    either: Sequence[Q] = (Q(),),
) -> Page[Row]:
    """The first rows by the column `order` and the primary key; after `cursor` unless empty.

    The column is never NULL and never changes; a minus in front of it means descending, of the key too. The rows are
    read without `queryset`'s related objects and without the columns `without`, with `annotations`. No row that existed
    when the first page was read is left out or repeated. `either`: the rows of any of these conditions, of each of
    which an index finds the first. Ascending, the column may grow: a row that changes is on a later page, again if it
    was on one already. Raises InvalidCursor.
    """
    queryset = _after(queryset, cursor, scope, order)
    # Read alone, the keys come from an index that ends with them. PostgreSQL then prefers it to the index of all
    # accounts by date, whose cost it underestimates for an account that has few of the newest rows.
    ordered = queryset.order_by(*_with_key(order)).values("pk")
    keys = [any_of("pk", ArraySubquery(ordered.filter(condition)[: limit + 1])) for condition in either]
    found = queryset.model._default_manager.filter(reduce(or_, map(Q, keys))).annotate(**annotations or {})
    rows = list(found.order_by(*_with_key(order)).defer(*without)[: limit + 1])
    if len(rows) <= limit:
        return Page(rows, None)
    return Page(rows[:limit], _cursor_after(rows[limit - 1], scope, order))


def page_matching(
    queryset: QuerySet[Row],
    matching: Callable[[ArraySubquery], QuerySet[Row]],
    *,
    limit: int,
    scanned: int,
    cursor: str,
    scope: Sequence[str],
    order: str = "-created_at",
) -> tuple[Page[Row], Row | None]:
    """The first rows that match, among the first `scanned` of `queryset`, for conditions without an index.

    `matching` takes the keys of the rows to look at, and returns those that match; `order` is that of `page_in_order`.
    Returns with the page the last row that was looked at, or None if that was the last one of all; the page's cursor
    continues after it. Raises InvalidCursor.
    """
    queryset = _after(queryset, cursor, scope, order).order_by(*_with_key(order))
    keys = ArraySubquery(queryset.values("pk")[:scanned])
    rows = list(matching(keys).order_by(*_with_key(order))[: limit + 1])
    if len(rows) > limit:
        return Page(rows[:limit], _cursor_after(rows[limit - 1], scope, order)), rows[limit - 1]
    last = queryset.only(order.removeprefix("-"))[scanned - 1 : scanned].first()
    return Page(rows, _cursor_after(last, scope, order) if last else None), last


def _with_key(order: str) -> tuple[str, str]:
    return order, "-pk" if order.startswith("-") else "pk"


def _after(queryset: QuerySet[Row], cursor: str, scope: Sequence[str], order: str) -> QuerySet[Row]:
    """The rows after a cursor, unless it is empty."""
    if not cursor:
        return queryset
    text, key = read_cursor(cursor, scope=scope)
    column = order.removeprefix("-")
    field: Any = queryset.model._meta.get_field(column)
    last = field.to_python(text)
    beyond, at_or_before = ("lte", "gte") if order.startswith("-") else ("gte", "lte")
    # Not `<` or (`=` and `<`): PostgreSQL would read an index from its beginning for an OR.
    return queryset.filter(**{f"{column}__{beyond}": last}).exclude(**{column: last, f"pk__{at_or_before}": key})


def _cursor_after(row: Any, scope: Sequence[str], order: str) -> str:
    column = row._meta.get_field(order.removeprefix("-"))
    return cursor_at([column.value_to_string(row), str(row.pk)], scope=scope)


def cursor_at(position: Any, *, scope: Sequence[str]) -> str:
    """A cursor for a position, a JSON value. `scope` names the list: who asks, what is listed, by which filters."""
    return signing.dumps(position, salt=json.dumps(scope))


def read_cursor(cursor: str, *, scope: Sequence[str]) -> Any:
    """The position of a cursor that was made for the same scope. Raises InvalidCursor."""
    try:
        return signing.loads(cursor, salt=json.dumps(scope))
    except signing.BadSignature as error:
        raise InvalidCursor from error


MOST_ROWS = 100
DEFAULT_ROWS = 50
LONGEST_MOMENT = 40  # characters
# For the description of the APIs.
CREATED_FROM = (
    "Created at this moment or later: ISO 8601, a date or a moment; without an offset in the service's time zone."
)
CREATED_TO = "Created before this moment, or on this date or earlier."
UPDATED_FROM = (
    "Changed at this moment or later, as `createdFrom`. The pages are in the order of the changes, the oldest first: "
    "what changes meanwhile comes once more. A change can be read seconds after its moment, so begin two minutes "
    "before the latest one that you have."
)
FEED_FROM = (
    "Begin with the events of this moment or later: ISO 8601, a date or a moment; without an offset in the service's "
    "time zone. `nextCursor` keeps it; with `after` it has no effect."
)
MOST_VALUES = 100
LONGEST_VALUE = 255  # characters


class LimitField(forms.Field):
    """How many rows a page may have: 1 to MOST_ROWS in ASCII digits; DEFAULT_ROWS if it is not given."""

    def to_python(self, value: Any) -> Any:
        if not value:
            return DEFAULT_ROWS
        is_short_number = len(value) <= len(str(MOST_ROWS)) and value.isascii() and value.isdigit()
        if not is_short_number or not 1 <= int(value) <= MOST_ROWS:
            raise ValidationError(self.error_messages["invalid_limit"], code="invalid_limit")
        return int(value)


class MomentField(forms.Field):
    """A moment or a date in ISO 8601, as a datetime in UTC. Without an offset it is in the service's time zone.

    A date is its first moment; with `is_end` its last, which is the first moment of the day after.
    """

    def __init__(self, *, is_end: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._is_end = is_end

    def to_python(self, value: Any) -> Any:
        if not value:
            return None
        invalid = ValidationError(self.error_messages["invalid_moment"], code="invalid_moment")
        if len(value) > LONGEST_MOMENT:
            raise invalid
        try:
            return read_moment(value, is_end=self._is_end)
        except ValueError as error:
            raise invalid from error


def read_moment(text: str, *, is_end: bool = False) -> datetime:
    """See MomentField. The first and the last hours of all time, which may have none in UTC, are the end of it there.

    Raises ValueError.
    """
    try:
        day = date.fromisoformat(text)
    except ValueError:
        moment, longer = datetime.fromisoformat(text), timedelta()
    else:
        moment, longer = datetime.combine(day, time()), timedelta(days=is_end)
    try:
        moment += longer
        aware = moment if moment.tzinfo else timezone.make_aware(moment)
        return aware.astimezone(UTC)  # PostgreSQL does not take every offset that Python does
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC) if moment.year == 1 else datetime.max.replace(tzinfo=UTC)


class ManyField(forms.CharField):
    """At most `most` values between commas, as a list without repetitions; empty if it is not given.

    `choices`: the values to choose from, any text if there are none. `are_ids`: UUIDs, which the list has as such.
    """

    # Of a text in the description. It may hold commas itself, which are read as those between values.
    pattern: ClassVar[str] = f"^[^,]{{1,{LONGEST_VALUE}}}(,[^,]{{1,{LONGEST_VALUE}}})*$"

    def __init__(
        self, *, choices: Iterable[str] = (), are_ids: bool = False, most: int = MOST_VALUES, **kwargs: Any
    ) -> None:
        super().__init__(strip=False, max_length=most * (LONGEST_VALUE + 1), **kwargs)
        self.values, self.are_ids, self.most = [*choices], are_ids, most

    def clean(self, value: Any) -> list[Any]:
        text = super().clean(value)
        if not text:
            return []
        parts = text.split(",")
        if len(parts) > self.most:
            raise self._invalid("too_many")
        return [*dict.fromkeys(map(self._read, parts))]

    def _read(self, text: str) -> Any:
        if not text:
            raise self._invalid("blank")
        if len(text) > LONGEST_VALUE:
            raise self._invalid("max_length")
        if self.values and text not in self.values:
            raise self._invalid("invalid_choice")
        if not self.are_ids:
            return text
        if (key := parse_id(text)) is None:
            raise self._invalid("invalid_id")
        return key

    def _invalid(self, code: str) -> ValidationError:
        return ValidationError(self.error_messages[code].format(most=self.most), code=code)


class QueryForm(forms.Form):
    """The form of a `QueryFilter`. Subclasses give the text for each code of an error, without a percent sign."""

    messages: ClassVar[dict[str, str]]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.error_messages |= self.messages

    def clean(self) -> None:
        query: Any = self.data  # a QueryDict
        for name, field in self.fields.items():
            values = query.getlist(name)
            code = "repeated" if len(values) > 1 else "blank" if values == [""] else ""
            if code:
                self.add_error(name, ValidationError(field.error_messages[code], code=code))
        begin, end = (self.cleaned_data.get(name) for name in ("createdFrom", "createdTo"))
        if begin and end and end < begin:
            self.add_error("createdTo", ValidationError(self.messages["reversed"], code="reversed"))


class _OfPage(django_filters.Filter):
    """A parameter of the page, which selects no rows."""

    def filter(self, queryset: QuerySet[Any], _value: Any) -> QuerySet[Any]:
        return queryset


class LimitFilter(_OfPage):
    field_class = LimitField


class CursorFilter(_OfPage):
    field_class = forms.CharField


class MomentFilter(django_filters.Filter):
    field_class = MomentField


class ManyFilter(django_filters.Filter):
    """Rows with any of several values, see ManyField.

    `is_each`: an index has the rows of one value in the order of the list, and so not those of several.
    `QueryFilter.either` selects these, for `page_in_order`.
    """

    field_class = ManyField

    def __init__(self, *args: Any, is_each: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.is_each = is_each

    def filter(self, queryset: QuerySet[Any], value: list[Any]) -> QuerySet[Any]:
        if not value or self.is_each:
            return queryset
        return queryset.filter(**{f"{self.field_name}__in": value})


class TextFilter(django_filters.CharFilter):
    """Text that is compared exactly, white space around it included."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, strip=False, max_length=255, **kwargs)


class QueryFilter(django_filters.FilterSet):
    """Base of the filters of a list, with the parameter `limit`. `Meta.form` is a QueryForm."""

    limit = LimitFilter(help_text="How many items the page has at most.")

    @property
    def limit_of_page(self) -> int:
        limit: int = self.form.cleaned_data["limit"]
        return limit

    @property
    def invalid(self) -> Any:
        """The errors: lists of REST framework's ErrorDetail by parameter. Empty if there are none."""
        return translate_validation(self.errors).detail

    @property
    def sent(self) -> list[str]:
        """Names and values of the filters that were sent, which are a part of a cursor's scope."""
        return [
            text
            for name, filter_ in self.filters.items()
            if name in self.data and not isinstance(filter_, _OfPage)
            for text in (name, self.data[name])
        ]


class BeginFilter(_OfPage):
    field_class = MomentField


class FeedFilter(QueryFilter):
    """Filters of a feed, which selects its events itself."""

    after = CursorFilter(help_text="`nextCursor` of the answer before.")

    @classmethod
    def get_filters(cls) -> Any:
        # Not an attribute, because `from` is a word of Python.
        return {**super().get_filters(), "from": BeginFilter(help_text=FEED_FROM)}


class ListFilter(QueryFilter):
    """Filters of a list whose pages follow each other by `cursor`."""

    cursor = CursorFilter(help_text="`nextCursor` of the answer before.")
    newest: ClassVar[str] = "-created_at"

    @property
    def order(self) -> str:
        """That of the rows, see `page_in_order`."""
        return "updated_at" if self._are_updates else self.newest

    @property
    def either(self) -> list[Q]:
        """One of these conditions holds for the rows, beside those of the query set."""
        each = [filter_.field_name for filter_ in self.filters.values() if getattr(filter_, "is_each", False)]
        if self._are_updates:  # whose index has the rows of all values in its order
            return [Q(**{f"{name}__in": values for name in each if (values := self.form.cleaned_data[name])})]
        return [Q((name, value)) for name in each for value in self.form.cleaned_data[name]] or [Q()]

    @property
    def _are_updates(self) -> bool:
        return bool(self.form.cleaned_data.get("updatedFrom"))
