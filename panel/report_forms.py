"""The period of a report."""

from datetime import date, timedelta
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from delivery.reports import Period

LONGEST = timedelta(days=366)
_EARLIEST, _LATEST = date(2000, 1, 1), date(2100, 12, 31)


class DayField(forms.DateField):
    """A day, in the form that browsers send."""

    def __init__(self, **kwargs: Any) -> None:
        widget = forms.DateInput({"type": "date"}, format="%Y-%m-%d")
        super().__init__(input_formats=["%Y-%m-%d"], widget=widget, **kwargs)

    def to_python(self, value: Any) -> date | None:
        day: date | None = super().to_python(value)
        if day is not None and not _EARLIEST <= day <= _LATEST:
            raise forms.ValidationError(_("Choose a day between 2000 and 2100."))
        return day


class PeriodForm(forms.Form):
    """A period of a year at most. Without a choice it is this month."""

    since = DayField(label=gettext_lazy("First day"))
    until = DayField(label=gettext_lazy("Last day"))

    @classmethod
    def of(cls, query: QueryDict) -> "PeriodForm":
        if query.get("since") or query.get("until"):
            return cls(query)
        month = Period.month_of(timezone.localdate())
        return cls({"since": month.first, "until": month.last})

    @property
    def period(self) -> Period | None:
        """None if the form is not valid."""
        return Period(self.cleaned_data["since"], self.cleaned_data["until"]) if self.is_valid() else None

    def clean(self) -> dict[str, Any]:
        first, last = self.cleaned_data.get("since"), self.cleaned_data.get("until")
        if first and last:
            if last < first:
                raise forms.ValidationError(_("The last day is before the first."))
            if last - first >= LONGEST:
                raise forms.ValidationError(_("A report covers a year at most."))
        return self.cleaned_data
