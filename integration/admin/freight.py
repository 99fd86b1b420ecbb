"""The freight table. Rates are edited row by row, or exported and imported as CSV with a preview of the changes."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Case, IntegerField, Value, When
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from common.admin_columns import column
from common.csv_columns import REAIS, Choice, Hundredths, Whole
from common.csv_plan import Table
from common.formats import centavos
from common.row_history_admin import RecordedAdmin, RowChangeAdmin, column_filter
from common.tabular_import import TabularImportAdmin
from integration.freight import STATES
from integration.models import FreightParameters, FreightPriceChange, FreightRate
from integration.models.freight import KINDS, SERVICES, ZONES

# The zones in their order of distance.
BY_DISTANCE = Case(
    *(When(zone=zone, then=Value(number)) for number, (zone, _label) in enumerate(ZONES)), output_field=IntegerField()
)
RATES = Table(
    rows=lambda: FreightRate.objects.order_by("service", BY_DISTANCE, "origin_kind", "destination_kind"),
    key=("service", "zone", "origin_kind", "destination_kind"),
    columns=(
        Choice("service", _("service"), names=("service",), choices=tuple(SERVICES)),
        Choice("zone", _("zone"), names=("zone",), choices=tuple(ZONES)),
        Choice("origin_kind", _("origin"), names=("origin_kind",), choices=tuple(KINDS)),
        Choice("destination_kind", _("destination"), names=("dest_kind", "destination_kind"), choices=tuple(KINDS)),
        Hundredths("base_centavos", _("up to 1 kg"), unit=REAIS),
        Hundredths(
            "extra_kg_centavos",
            _("each extra kg"),
            names=("further kg", "further kg (R$)", "kg adicional", "kg adicional (R$)"),
            unit=REAIS,
        ),
        Whole("deadline_days", _("deadline"), names=("deadline_days",), unit=_("business days")),
    ),
    # Those of migrations/default_rates.csv.
    older_columns=(
        Whole("base_centavos", _("up to 1 kg (centavos)"), names=("base_centavos_up_to_1kg",)),
        Whole("extra_kg_centavos", _("each extra kg (centavos)"), names=("extra_kg_centavos",)),
    ),
)


@admin.register(FreightRate)
class FreightRateAdmin(RecordedAdmin, TabularImportAdmin):
    table = RATES
    simulator = "panel:freight_simulator"
    history = FreightPriceChange
    list_display = [
        "service", "zone_name", "origin_kind", "destination_kind",
        column("base_centavos", _("up to 1 kg"), centavos), column("extra_kg_centavos", _("each extra kg"), centavos),
        "deadline_days",
    ]  # fmt: skip  # a list of names
    list_filter = ["service", "zone", "origin_kind", "destination_kind"]
    ordering = ["service", BY_DISTANCE, "origin_kind", "destination_kind"]

    @admin.display(description=_("zone"), ordering=BY_DISTANCE)
    def zone_name(self, rate: FreightRate) -> str:
        return rate.get_zone_display()


class FreightParametersForm(forms.ModelForm[FreightParameters]):
    remote_states = forms.MultipleChoiceField(
        label=_("remote states"),
        choices=[(state, state) for state in sorted(STATES)],
        required=False,
        help_text=FreightParameters._meta.get_field("remote_states").help_text,
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
    )

    class Meta:
        model = FreightParameters
        fields = ["remote_states"]  # the admin adds those of its fieldsets


@admin.register(FreightParameters)
class FreightParametersAdmin(RecordedAdmin):
    """One row, which is edited and neither added nor deleted; its list leads to its form."""

    history = FreightPriceChange
    form = FreightParametersForm
    fieldsets = [
        (
            _("Weight"),
            {
                "fields": [
                    "default_weight_g", "max_weight_g", "weight_rounding_g", "cubic_divisor_cm3_per_kg",
                    "cubic_threshold_g",
                ]
            },
        ),
        (
            _("Charges"),
            {"fields": ["minimum_charge_centavos", "ad_valorem_bp", "ad_valorem_free_centavos", "gris_bp"]},
        ),
        (_("Service and deadline"), {"fields": ["quote_service", "remote_states", "handling_days"]}),
    ]  # fmt: skip  # a list of names

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponseBase:
        row = self.get_queryset(request).first() if self.has_view_permission(request) else None
        if row is None:
            return super().changelist_view(request, extra_context)
        return HttpResponseRedirect(reverse("admin:integration_freightparameters_change", args=[row.pk]))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: FreightParameters | None = None) -> bool:
        return False


@admin.register(FreightPriceChange)
class FreightPriceChangeAdmin(RowChangeAdmin):
    """Who changed which rate or parameter."""

    list_filter = [
        column_filter("service", _("service"), SERVICES), column_filter("zone", _("zone"), ZONES),
        *RowChangeAdmin.list_filter,
    ]  # fmt: skip  # a list of names
