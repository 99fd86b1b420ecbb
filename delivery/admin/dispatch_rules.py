"""The rules of dispatch."""

from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from common.actors import actor
from common.admin_base import OneRow
from common.row_history_admin import RecordedAdmin, RowChangeAdmin
from delivery.actions import dispatch_rules
from delivery.models import DispatchRules, DispatchRulesChange


@admin.register(DispatchRules)
class DispatchRulesAdmin(OneRow, RecordedAdmin):
    fieldsets = [
        (_("Eligible drivers"), {"fields": ["dispatch_radius_km", "position_fresh_seconds"]}),
        (
            _("Lateness"),
            {"fields": ["late_without_driver_minutes", "late_pickup_minutes", "late_minutes_per_km"]},
        ),
        (
            _("Distances and arrival times"),
            {
                "fields": [
                    "road_factor", "speed_kmh_motorcycle", "speed_kmh_car", "routing_time_factor_motorcycle",
                    "routing_time_factor_car", "service_minutes_pickup", "service_minutes_stop",
                ]
            },
        ),
        (_("Earnings"), {"fields": ["driver_share_percent"]}),
    ]  # fmt: skip  # a list of names

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: bool) -> None:
        changed = {name: form.cleaned_data[name] for name in form.changed_data}
        dispatch_rules.change(values=changed, by=actor(request))


@admin.register(DispatchRulesChange)
class DispatchRulesChangeAdmin(RowChangeAdmin):
    """Who changed which rule."""
