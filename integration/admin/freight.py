"""The tariff: edited here row by row, or taken out and put in again as CSV with a preview of what changes."""

from django.contrib import admin
from import_export.fields import Field
from import_export.resources import ModelResource
from import_export.widgets import IntegerWidget

from common.admin_base import ModelAdmin
from common.tabular_import import TabularImportAdmin
from integration.models import FreightParameter, FreightRate


class FreightRateResource(ModelResource):
    # The columns are those of data/rates.csv, so that file can be edited and imported as it is.
    destination_kind = Field(attribute="destination_kind", column_name="dest_kind")
    base_centavos = Field(attribute="base_centavos", column_name="base_centavos_up_to_1kg", widget=IntegerWidget())

    class Meta:
        model = FreightRate
        # A row is known by its way, so a file made from nothing but the tariff's figures can be imported.
        import_id_fields = ["service", "zone", "origin_kind", "destination_kind"]
        fields = [*import_id_fields, "base_centavos", "extra_kg_centavos", "deadline_days"]
        clean_model_instances = True
        skip_unchanged = True
        use_transactions = True


class FreightParameterResource(ModelResource):
    name = Field(attribute="name", column_name="param")

    class Meta:
        model = FreightParameter
        import_id_fields = ["name"]
        fields = ["name", "value", "unit", "basis"]
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


@admin.register(FreightParameter)
class FreightParameterAdmin(ModelAdmin, TabularImportAdmin):
    resource_classes = [FreightParameterResource]
    list_display = ["name", "value", "unit", "basis"]
