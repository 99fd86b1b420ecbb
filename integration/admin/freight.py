"""The tariff: edited here row by row, or taken out and put in again as CSV with a preview of what changes."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from import_export.admin import ImportExportModelAdmin
from import_export.fields import Field
from import_export.formats.base_formats import CSV
from import_export.resources import ModelResource
from import_export.widgets import IntegerWidget
from unfold.contrib.import_export.forms import ImportForm, SelectableFieldsExportForm

from common.admin_base import ModelAdmin
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


class TariffAdmin(ModelAdmin, ImportExportModelAdmin):
    import_form_class = ImportForm
    export_form_class = SelectableFieldsExportForm
    formats = [CSV]

    def has_import_permission(self, request: HttpRequest) -> bool:
        """An import changes rows, which the library asks for (settings), and adds those that are missing."""
        return super().has_import_permission(request) and self.has_add_permission(request)

    def get_valid_export_item_pks(self, request: HttpRequest) -> Any:
        # The library calls its own version of this, which then warns that it is deprecated.
        return self.get_queryset(request).values_list("pk", flat=True)


@admin.register(FreightRate)
class FreightRateAdmin(TariffAdmin):
    resource_classes = [FreightRateResource]
    list_display = [
        "service", "zone", "origin_kind", "destination_kind", "base_centavos", "extra_kg_centavos", "deadline_days",
    ]  # fmt: skip  # a list of names
    list_filter = ["service", "zone"]


@admin.register(FreightParameter)
class FreightParameterAdmin(TariffAdmin):
    resource_classes = [FreightParameterResource]
    list_display = ["name", "value", "unit", "basis"]
