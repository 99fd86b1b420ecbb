"""The tariff. Rates are edited row by row, or exported and imported as CSV with a preview of the changes."""

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from import_export.fields import Field
from import_export.resources import ModelResource
from import_export.widgets import IntegerWidget
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from common.admin_base import ModelAdmin
from common.tabular_import import TabularImportAdmin
from integration.freight import STATES
from integration.models import FreightParameters, FreightRate


class FreightRateResource(ModelResource):
    # The columns are named as in migrations/default_rates.csv, so that an edited copy of that file can be imported.
    destination_kind = Field(attribute="destination_kind", column_name="dest_kind")
    base_centavos = Field(attribute="base_centavos", column_name="base_centavos_up_to_1kg", widget=IntegerWidget())

    class Meta:
        model = FreightRate
        # Rows are identified by what they apply to and not by id, so that a file made elsewhere can be imported.
        import_id_fields = ["service", "zone", "origin_kind", "destination_kind"]
        fields = [*import_id_fields, "base_centavos", "extra_kg_centavos", "deadline_days"]
        clean_model_instances = True
        skip_unchanged = True
        use_transactions = True


@admin.register(FreightRate)
class FreightRateAdmin(ModelAdmin, TabularImportAdmin):
    resource_classes = [FreightRateResource]
    list_display = [
        "service", "zone", "origin_kind", "destination_kind", "base_centavos", "extra_kg_centavos", "deadline_days",
    ]  # fmt: skip  # a list of names
    list_filter = ["service", "zone"]


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
class FreightParametersAdmin(ModelAdmin):
    """One row, which is edited and neither added nor deleted."""

    form = FreightParametersForm
    list_display = ["__str__", "quote_service", "max_weight_g", "minimum_charge_centavos", "handling_days"]
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

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: FreightParameters | None = None) -> bool:
        return False
