"""Drivers and their positions."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from common import clock
from common.actors import actor, actor_name
from common.admin.base import (
    AddedOnly,
    LargeTable,
    ModelAdmin,
    ReadOnlyInline,
    RefusalsAsMessages,
    column,
    effect,
    pill,
)
from common.brazil import phones
from common.brazil.formats import ago, moment
from delivery.actions import drivers
from delivery.admin.labels import coordinates, metres
from delivery.models import Driver, DriverPosition

_WHERE = [coordinates, column("accuracy_m", _("accuracy"), metres), column("recorded_by", _("recorded by"), actor_name)]


class PositionInline(ReadOnlyInline):
    """The latest positions first, in pages."""

    model = DriverPosition
    fields = ["recorded_at", *_WHERE]
    ordering = ["-recorded_at"]
    per_page = 20
    classes = ["collapse"]


@admin.register(Driver)
class DriverAdmin(RefusalsAsMessages, ModelAdmin):
    list_display = [
        "name",
        "state",
        column("phone", _("phone"), phones.shown),
        "vehicle_type",
        "environment",
    ]
    nothing_yet = _("No driver yet.")
    list_filter = ["environment", "vehicle_type", "active", "on_duty"]
    search_fields = ["name__composed", "phone"]
    fieldsets = [
        (None, {"fields": ["name", "phone", "vehicle_type", "environment"]}),
        (_("Availability"), {"fields": ["active", "on_duty", "where"]}),
    ]
    readonly_fields = ["where"]
    inlines = [PositionInline]
    actions = ["go_on_duty", "go_off_duty"]

    @admin.display(description=_("status"))
    def state(self, driver: Driver) -> str:
        if not driver.active:
            return pill(gettext("Inactive"))
        return pill(gettext("On duty"), "good") if driver.on_duty else pill(gettext("Off duty"))

    @admin.display(description=_("latest position"))
    def where(self, driver: Driver) -> str:
        position = driver.latest_position()
        if position is None:
            return str(_("unknown"))
        return format_html("{} · {}", coordinates(position), ago(position.recorded_at))

    @effect(_("Routes near them are offered to them from this moment on."))
    @admin.action(description=_("Go on duty"), permissions=["change"])
    def go_on_duty(self, request: HttpRequest, queryset: QuerySet[Driver]) -> None:
        count = self._set_duty(request, queryset, on_duty=True)
        text = ngettext("%(count)s driver on duty.", "%(count)s drivers on duty.", count)
        self.message_user(request, text % {"count": count})

    @effect(_("No route is offered to them. The routes that they hold stay with them."))
    @admin.action(description=_("Go off duty"), permissions=["change"])
    def go_off_duty(self, request: HttpRequest, queryset: QuerySet[Driver]) -> None:
        count = self._set_duty(request, queryset, on_duty=False)
        text = ngettext("%(count)s driver off duty.", "%(count)s drivers off duty.", count)
        self.message_user(request, text % {"count": count})

    def _set_duty(self, request: HttpRequest, queryset: QuerySet[Driver], *, on_duty: bool) -> int:
        """Returns how many drivers were chosen."""
        chosen = list(queryset)  # before the update: the list may be filtered by `on_duty`
        drivers.set_duty(chosen, on_duty=on_duty)
        for driver in chosen:
            self.log_change(request, driver, _("Went on duty.") if on_duty else _("Went off duty."))
        return len(chosen)

    def save_model(self, request: HttpRequest, obj: Driver, form: ModelForm[Any], change: bool) -> None:
        drivers.save(driver=obj, by=actor(request), at=clock.now())

    def has_delete_permission(self, request: HttpRequest, obj: Driver | None = None) -> bool:
        return False  # deactivate instead; their routes refer to them


@admin.register(DriverPosition)
class DriverPositionAdmin(LargeTable, AddedOnly, ModelAdmin):
    """Positions can be added by hand, never changed or deleted."""

    list_display = ["driver", column("recorded_at", _("when"), moment), *_WHERE]
    nothing_yet = _("No position yet. Drivers' phones and dispatchers record them.")
    list_select_related = ["driver"]
    search_fields = ["driver__name__composed"]
    autocomplete_fields = ["driver"]
    ordering = ["-id"]
    fields = ["driver", "latitude", "longitude", "accuracy_m"]

    def save_model(self, request: HttpRequest, obj: DriverPosition, form: ModelForm[Any], change: bool) -> None:
        recorded = drivers.set_position(
            driver=obj.driver, point=obj.point, accuracy_m=obj.accuracy_m, by=actor(request), at=clock.now()
        )
        obj.pk = recorded.pk
