"""Query parameters of the APIs' lists, on django-filter: stricter than forms, which browsers fill in.

Each parameter may be given once and not empty, so that a variable that is empty by mistake does not select everything.
Unknown ones have no effect; `BodyView.check_query` names them. Texts of errors are in `QueryForm.messages`, because the
areas' languages differ.
"""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any, ClassVar

import django_filters
from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils import timezone
from django_filters.utils import translate_validation

MOST_ROWS = 100
DEFAULT_ROWS = 50
_LONGEST_MOMENT = 40  # characters
# For the description of the APIs.
CREATED_FROM = (
    "Created at this moment or later: ISO 8601, a date or a moment; without an offset in the service's time zone."
)
CREATED_TO = "Created before this moment, or on this date or earlier."


class LimitField(forms.CharField):
    """How many rows a page may have: 1 to MOST_ROWS in ASCII digits; DEFAULT_ROWS if it is not given."""

    def to_python(self, value: Any) -> Any:
        if not value:
            return DEFAULT_ROWS
        is_short_number = len(value) <= len(str(MOST_ROWS)) and value.isascii() and value.isdigit()
        if not is_short_number or not 1 <= int(value) <= MOST_ROWS:
            raise ValidationError(self.error_messages["invalid_limit"], code="invalid_limit")
        return int(value)

    def run_validators(self, value: Any) -> None:
        """The validators of text do not apply to the number."""


class MomentField(forms.CharField):
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
        if len(value) > _LONGEST_MOMENT:
            raise invalid
        try:
            return self._moment(value)
        except (ValueError, OverflowError) as error:
            raise invalid from error

    def _moment(self, text: str) -> datetime:
        try:
            day = date.fromisoformat(text)
        except ValueError:
            moment = datetime.fromisoformat(text)
        else:
            moment = datetime.combine(day + timedelta(days=self._is_end), time())
        aware = moment if moment.tzinfo else timezone.make_aware(moment)
        return aware.astimezone(UTC)  # PostgreSQL does not take every offset that Python does

    def run_validators(self, value: Any) -> None:
        """The validators of text do not apply to the moment."""


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


class ListFilter(QueryFilter):
    """Filters of a list whose pages follow each other by `cursor`."""

    cursor = CursorFilter(help_text="`nextCursor` of the answer before.")
