"""Tariffs of deliveries."""

from django.contrib import admin

from common.admin_base import ModelAdmin
from delivery.models import Tariff


@admin.register(Tariff)
class TariffAdmin(ModelAdmin):
    list_display = ["vehicle_type", "integrator", "active", "base_fare", "price_per_km", "minimum_fare", "maximum_km"]
    list_filter = ["active", "vehicle_type"]
    list_select_related = ["integrator"]
    autocomplete_fields = ["integrator"]
    search_fields = ["integrator__name"]
