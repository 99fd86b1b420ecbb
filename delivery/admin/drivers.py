"""Drivers and their positions."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from common.actors import actor
from common.admin_base import LargeTable, ModelAdmin, ReadOnlyInline
from delivery.actions import drivers
from delivery.models import Driver, DriverPosition


class PositionInline(ReadOnlyInline):
    """The latest positions first, in pages."""

    model = DriverPosition
    fields = ["recorded_at", "latitude", "longitude", "accuracy_m", "recorded_by"]
    ordering = ["-recorded_at"]
    per_page = 20


@admin.register(Driver)
class DriverAdmin(ModelAdmin):
    list_display = ["name", "phone", "vehicle_type", "environment", "active", "on_duty"]
    list_filter = ["environment", "vehicle_type", "active", "on_duty"]
    search_fields = ["name", "phone"]
    fields = ["name", "phone", "vehicle_type", "environment", "active", "on_duty", "where"]
    readonly_fields = ["where"]
    inlines = [PositionInline]
    actions = ["go_on_duty", "go_off_duty"]

    @admin.display(description=_("latest position"))
    def where(self, driver: Driver) -> str:
        position = driver.latest_position()
        if position is None:
            return str(_("unknown"))
        age = position.age_seconds(at=timezone.now())
        return str(_("%(position)s, %(age)s s ago") % {"position": position, "age": age})

    @admin.action(description=_("Go on duty"), permissions=["change"])
    def go_on_duty(self, request: HttpRequest, queryset: QuerySet[Driver]) -> None:
        count = self._set_duty(request, queryset, on_duty=True)
        self.message_user(request, _("%d drivers on duty.") % count)

    @admin.action(description=_("Go off duty"), permissions=["change"])
    def go_off_duty(self, request: HttpRequest, queryset: QuerySet[Driver]) -> None:
        count = self._set_duty(request, queryset, on_duty=False)
        self.message_user(request, _("%d drivers off duty.") % count)

    def _set_duty(self, request: HttpRequest, queryset: QuerySet[Driver], *, on_duty: bool) -> int:
        """Returns how many drivers were chosen."""
        chosen = list(queryset)  # before the update: the list may be filtered by `on_duty`
        Driver.objects.filter(pk__in=[driver.pk for driver in chosen]).update(on_duty=on_duty)
        for driver in chosen:
            self.log_change(request, driver, _("Went on duty.") if on_duty else _("Went off duty."))
        return len(chosen)

    def has_delete_permission(self, request: HttpRequest, obj: Driver | None = None) -> bool:
        return False  # deactivate instead; their routes refer to them


@admin.register(DriverPosition)
class DriverPositionAdmin(LargeTable, ModelAdmin):
    """Positions can be added by hand, never changed or deleted."""

    list_display = ["driver", "latitude", "longitude", "accuracy_m", "recorded_at", "recorded_by"]
    list_select_related = ["driver"]
    search_fields = ["driver__name"]
    autocomplete_fields = ["driver"]
    ordering = ["-id"]
    fields = ["driver", "latitude", "longitude", "accuracy_m"]

    def has_change_permission(self, request: HttpRequest, obj: DriverPosition | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: DriverPosition | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: DriverPosition, form: ModelForm[Any], change: bool) -> None:
        recorded = drivers.set_position(
            driver=obj.driver, point=obj.point, accuracy_m=obj.accuracy_m, by=actor(request), at=timezone.now()
        )
        obj.pk = recorded.pk
