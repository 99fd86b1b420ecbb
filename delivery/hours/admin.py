"""Hours of service, with the next week as it is and as it would be."""

from collections.abc import Iterable
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from common import clock
from common.actors import actor
from common.admin.base import pill
from common.admin.previewed_form import PreviewedForm
from common.admin.row_history import RecordedAdmin
from common.brazil.formats import opening
from common.postgresql.row_history import Difference
from delivery.hours import actions as service_hours
from delivery.hours.form_fields import DaysOffField, SpansField
from delivery.hours.models import WEEKDAYS, ServiceHours
from delivery.hours.words import week_of

_DAYS = 7
_DESCRIPTION = _("The account's own hours hold, else those of the installation; without any, it is open at every hour.")


class ServiceHoursForm(PreviewedForm):
    preview_title = _("Save these hours?")
    preview_note = _("Nothing is saved yet. The hours hold for quotes and requests within five seconds.")
    example_heading = _("Day")

    class Meta:
        model = ServiceHours
        fields: ClassVar[list[str]] = []  # the admin adds those of its fieldsets

    def examples(self, before: ServiceHours | None) -> Iterable[Difference]:
        at = clock.now()
        new = week_of(self.instance.timetable, at=at, days=_DAYS)
        old = before or ServiceHours.in_force().general
        was = week_of(old.timetable, at=at, days=_DAYS) if old else [(name, gettext("always open")) for name, _t in new]
        for (_name, before_text), (name, text) in zip(was, new, strict=True):
            yield Difference(name, before_text, text)

    @property
    def week(self) -> list[tuple[str, str]]:
        """The next week of the stored hours."""
        return week_of(self.instance.timetable, at=clock.now(), days=_DAYS)


@admin.register(ServiceHours)
class ServiceHoursAdmin(RecordedAdmin):
    form = ServiceHoursForm
    change_form_before_template = "admin/delivery/servicehours/week.html"
    list_display = ["scope", "now", "today", "time_zone"]
    list_select_related = ["integrator"]
    search_fields = ["integrator__name__composed"]
    autocomplete_fields = ["integrator"]
    fieldsets = [
        (None, {"description": _DESCRIPTION, "fields": ["integrator", "time_zone"]}),
        (_("Week"), {"fields": [*WEEKDAYS]}),
        (_("Days off"), {"fields": ["closed_on_holidays", "days_off"]}),
    ]

    class Media:
        js = [forms.Script("config/hours.js", defer=True)]

    @admin.display(description=_("holds for"), ordering="integrator__name")
    def scope(self, hours: ServiceHours) -> str:
        return str(hours)

    @admin.display(description=_("now"))
    def now(self, hours: ServiceHours) -> str:
        return state(hours)

    @admin.display(description=_("today"))
    def today(self, hours: ServiceHours) -> str:
        ((_day, text),) = week_of(hours.timetable, at=clock.now(), days=1)
        return text

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name in WEEKDAYS:
            return db_field.formfield(form_class=SpansField)
        if db_field.name == "days_off":
            removing = _("To remove a day off, empty its date and its name and choose “Closed”.")
            return DaysOffField(label=capfirst(db_field.verbose_name), help_text=removing, required=False)
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def changeform_view(self, *args: Any, **kwargs: Any) -> Any:
        """Show the error of a row that somebody else has written meanwhile in the form, as of one before."""
        try:
            return super().changeform_view(*args, **kwargs)
        except (IntegrityError, ValidationError):
            return super().changeform_view(*args, **kwargs)

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: bool) -> None:
        assert isinstance(obj, ServiceHours)  # noqa: S101  # nosec B101  # for the type checker
        service_hours.save(hours=obj, by=actor(request))

    def delete_model(self, request: HttpRequest, obj: Model) -> None:
        assert isinstance(obj, ServiceHours)  # noqa: S101  # nosec B101  # for the type checker
        service_hours.delete(hours=obj, by=actor(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for hours in queryset:
            service_hours.delete(hours=hours, by=actor(request))


def state(hours: ServiceHours) -> str:
    """Whether it is open now, or when it opens."""
    at = clock.now()
    opens_at = hours.timetable.opens_at(at)
    if opens_at == at:
        return pill(gettext("Open"), "good")
    if opens_at is None:
        return pill(gettext("Closed"), "bad")
    return pill(gettext("Closed, opens %(opens)s") % {"opens": opening(opens_at, hours.timetable.zone)}, "warn")
