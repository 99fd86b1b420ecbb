"""Fields of the hours of service: a day has spans of two times each, a day off a date and a name besides.

Their values are the texts that `delivery.hours.timetable` reads. All of it works without scripts.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import ProhibitNullCharactersValidator
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _
from unfold.widgets import BASE_CLASSES, SELECT_CLASSES

from delivery.hours import timetable as hours
from delivery.hours.models import ALWAYS
from delivery.hours.timetable import MOST_DAYS_OFF, MOST_SPANS

_HOURS, _ALL_DAY, _CLOSED = "hours", "all", "closed"
_KINDS = [
    (_HOURS, pgettext_lazy("hours", "Open")),
    (_ALL_DAY, pgettext_lazy("hours", "Open all day")),
    (_CLOSED, pgettext_lazy("hours", "Closed")),
]
_MIDNIGHT, _END_OF_DAY = "00:00", "24:00"  # a field for a time has no 24:00
_NO_SPAN = "-"  # what an empty pair of fields is as text
_MOST_SPARE_DAYS_OFF = 3  # rows that can be filled in at once
_LONGEST = 60  # characters of a field
_INPUTS = " ".join([*BASE_CLASSES, "px-3", "py-2"])


class _Widget(forms.Widget):
    """A widget whose template is one of the project's, where Django's form renderer finds none."""

    label: Any = ""

    def _render(self, template_name: str, context: Any, renderer: Any = None) -> SafeString:
        return mark_safe(render_to_string(template_name, context))  # noqa: S308  # nosec  # of a template

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:
        return not any(key == name or key.startswith(f"{name}-") for key in data)


class SpansWidget(_Widget):
    """Whether a day is open, and from when until when."""

    template_name = "admin/delivery/servicehours/day.html"

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        text = value or ""
        kind = _ALL_DAY if text == ALWAYS else _HOURS if text else _CLOSED
        spans = [] if kind == _ALL_DAY else list(_pairs(text))[:MOST_SPANS]
        spare = [("", "", False)] if len(spans) < MOST_SPANS else []
        context["widget"] |= {
            "label": self.label,
            "kind": kind,
            "kinds": _KINDS,
            "spans": (spans or [("", "", False)]) + spare,
            "has_spare": bool(spare),
            "select_classes": " ".join(SELECT_CLASSES),
            "input_classes": _INPUTS,
        }
        return context

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> str | None:
        kind = data.get(name)
        if kind in (_ALL_DAY, _CLOSED):
            return ALWAYS if kind == _ALL_DAY else ""
        typed = [
            [str(data.get(f"{name}-{number}-{end}", "")).strip()[:_LONGEST] for end in ("opens", "closes")]
            for number in range(1, MOST_SPANS + 1)
        ]
        spans = [(opens, _END_OF_DAY if closes == _MIDNIGHT else closes) for opens, closes in typed if opens or closes]
        return ", ".join(f"{opens}-{closes}" for opens, closes in spans) or _NO_SPAN


def _pairs(text: str) -> Iterator[tuple[str, str, bool]]:
    """The ends of each span of a text, as fields for times have them, and whether it ends on the next day."""
    for part in filter(None, text.split(", ")):
        opens, _dash, closes = part.partition("-")
        closes = _MIDNIGHT if closes == _END_OF_DAY else closes
        yield opens, closes, bool(opens and closes) and closes <= opens and closes != _MIDNIGHT


class SpansField(forms.CharField):
    widget = SpansWidget

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "widget": SpansWidget})
        self.widget.label = self.label

    def clean(self, value: Any) -> str:
        text: str = super().clean(value)
        for part in text.split(", ") if text else []:
            if part.strip().startswith(_NO_SPAN) or part.strip().endswith(_NO_SPAN):
                raise ValidationError(_no_hours())
        return text


def _no_hours() -> str:
    return gettext("Fill in from when until when, or choose “Closed”.")


class DayOff(NamedTuple):
    """A row of `DaysOffWidget` as it was typed."""

    date: str = ""
    spans: str = ""
    name: str = ""

    @property
    def line(self) -> str:
        return " ".join(filter(None, self))


class DaysOffWidget(_Widget):
    """A row for each day off, and some to fill in."""

    template_name = "admin/delivery/servicehours/days_off.html"

    def id_for_label(self, id_: str) -> str:
        return f"{id_}-1-date"

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        known = list(value or [])[:MOST_DAYS_OFF]
        spare = min(_MOST_SPARE_DAYS_OFF, MOST_DAYS_OFF - len(known))
        day = SpansWidget()
        day.label = _("Hours")
        rows = []
        for number, row in enumerate([*known, *[DayOff()] * spare], start=1):
            own, own_id = f"{name}-{number}", f"{context['widget']['attrs'].get('id', name)}-{number}"
            shown = day.render(f"{own}-hours", row.spans, {"id": f"{own_id}-hours", "aria-label": day.label})
            rows.append({"name": own, "id": own_id, "date": row.date, "called": row.name, "day": shown})
        context["widget"] |= {
            "label": self.label,
            "rows": rows[: len(known)],
            "spare": rows[len(known) :],
            "input_classes": _INPUTS,
        }
        return context

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> list[DayOff]:
        day, found = SpansWidget(), []
        for number in range(1, MOST_DAYS_OFF + 1):
            own = f"{name}-{number}"
            called, on = (" ".join(str(data.get(f"{own}-{part}", ""))[:_LONGEST].split()) for part in ("name", "date"))
            spans = day.value_from_datadict(data, files, f"{own}-hours") or ""
            if called or on or (spans and f"{own}-hours" in data):  # one without a date that is open is not left out
                found.append(DayOff(on, spans, called))
        return found


class DaysOffField(forms.Field):
    """The text of the days off, typed as rows."""

    widget = DaysOffWidget
    default_validators = [ProhibitNullCharactersValidator()]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.widget.label = self.label

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        days = hours.parse_days_off(value)
        return [DayOff(f"{on}", hours.write_spans(day.spans), day.name) for on, day in days.items()]

    def to_python(self, value: Any) -> str:
        rows: list[DayOff] = value or []
        for row in rows:
            if not row.date or not row.name:
                raise ValidationError(gettext("A day off has a date and a name: %(row)s") % {"row": row.line})
            if row.spans == _NO_SPAN:
                raise ValidationError(f"{row.name}: {_no_hours()}")
        return "\n".join(row.line for row in rows)

    def has_changed(self, initial: Any, data: Any) -> bool:
        return (self.prepare_value(initial) or []) != (data or [])
