"""The freight table. Rates are edited row by row, or exported and imported as CSV with a preview of the changes."""

from collections.abc import Iterable
from typing import Any, ClassVar

from django import forms
from django.contrib import admin
from django.db.models import Case, IntegerField, QuerySet, Value, When
from django.utils.translation import gettext_lazy as _
from import_export.fields import Field
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from common.admin.base import OneRow, column
from common.admin.previewed_form import PreviewedForm, price_example
from common.admin.row_history import RecordedAdmin
from common.admin.tabular_import import FormFieldWidget, TableResource, TabularImportAdmin
from common.brazil.formats import centavos
from common.brazil.states import Kind
from common.postgresql.row_history import Difference
from integration.errors import NoCoverage, TooHeavy
from integration.freight import calculation
from integration.freight.calculation import STATES, Package, Parameters, Rate, Zone
from integration.freight.models import ZONES, FreightParameters, FreightRate

# The zones in their order of distance.
BY_DISTANCE = Case(
    *(When(zone=zone, then=Value(number)) for number, (zone, _label) in enumerate(ZONES)), output_field=IntegerField()
)


class RateResource(TableResource):
    """The freight table, and the columns of migrations/default_rates.csv, which are in centavos."""

    old_base = Field("base_centavos", _("up to 1 kg (centavos)"), FormFieldWidget(forms.IntegerField(min_value=0)))
    old_extra = Field(
        "extra_kg_centavos", _("each extra kg (centavos)"), FormFieldWidget(forms.IntegerField(min_value=0))
    )
    other_names: ClassVar[dict[str, tuple[Any, ...]]] = {
        "old_base": ("base_centavos_up_to_1kg",),
        "old_extra": ("extra_kg_centavos",),
        "destination_kind": ("dest_kind",),
        "extra_kg_centavos": ("further kg", "further kg (R$)", "kg adicional", "kg adicional (R$)"),
        "deadline_days": (_("deadline"),),
    }

    class Meta:
        model = FreightRate
        exclude = ("id",)
        import_id_fields = ("service", "zone", "origin_kind", "destination_kind")

    def get_queryset(self) -> "QuerySet[FreightRate]":
        return FreightRate.objects.order_by("service", BY_DISTANCE, "origin_kind", "destination_kind")


_PARCELS = [
    ("1 kg", Package(weight_g=1000)),
    ("5 kg", Package(weight_g=5000)),
    (_("10 kg, worth R$ 500"), Package(weight_g=10_000, declared_centavos=50_000)),
]


def _price(rate: FreightRate | None, parameters: Parameters, package: Package) -> int | None:
    """In centavos. None without a rate or over the maximum weight."""
    figures = Rate(rate.base_centavos, rate.extra_kg_centavos, rate.deadline_days) if rate else None
    try:
        return calculation.charges(package, figures, parameters).price.amount
    except (NoCoverage, TooHeavy):
        return None


class FreightRateForm(PreviewedForm):
    """Compares what parcels of the row cost now and then."""

    def examples(self, before: FreightRate | None) -> Iterable[Difference]:
        parameters = FreightParameters.current()
        for name, package in _PARCELS:
            old, new = (_price(rate, parameters, package) for rate in (before, self.instance))
            yield price_example(name, old, new, write=centavos)


@admin.register(FreightRate)
class FreightRateAdmin(RecordedAdmin, TabularImportAdmin):
    form = FreightRateForm
    change_form_before_template = "admin/form_preview.html"
    resource = RateResource
    list_display = [
        "__str__",
        column("base_centavos", _("up to 1 kg"), centavos),
        column("extra_kg_centavos", _("each extra kg"), centavos),
        "deadline_days",
    ]  # fmt: skip  # a list of names
    list_filter = ["service", "zone", "origin_kind", "destination_kind"]
    ordering = ["service", BY_DISTANCE, "origin_kind", "destination_kind"]


_SHIPMENTS = [
    (_("Within a capital, 1 kg"), Zone.LOCAL, Package(weight_g=1000)),
    (_("Far away, 5 kg worth R$ 500"), Zone.FAR, Package(weight_g=5000, declared_centavos=50_000)),
    (
        _("Far away, 2 kg in a box of 64 litres"),
        Zone.FAR,
        Package(weight_g=2000, width_cm=40, height_cm=40, length_cm=40),
    ),
]


class FreightParametersForm(PreviewedForm):
    """Compares what some parcels between capitals cost now and then."""

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

    def examples(self, before: FreightParameters | None) -> Iterable[Difference]:
        of_capitals = FreightRate.objects.filter(origin_kind=Kind.CAPITAL, destination_kind=Kind.CAPITAL)
        rates = {(rate.zone, rate.service): rate for rate in of_capitals}
        both = [before.parameters if before else Parameters(), self.instance.parameters]
        for name, zone, package in _SHIPMENTS:
            old, new = (_price(rates.get((zone, each.quote_service)), each, package) for each in both)
            yield price_example(name, old, new, write=centavos)


@admin.register(FreightParameters)
class FreightParametersAdmin(OneRow, RecordedAdmin):
    form = FreightParametersForm
    change_form_before_template = "admin/form_preview.html"
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
