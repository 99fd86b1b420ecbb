"""Tariffs of deliveries, and the rules of dispatch."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Exists, Model, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.utils.text import capfirst
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from import_export.fields import Field
from import_export.widgets import Widget

from common.actors import actor
from common.admin.base import OneRow, column
from common.admin.previewed_form import PreviewedForm, price_example
from common.admin.row_history import RecordedAdmin
from common.admin.tabular_import import TableResource, TabularImportAdmin
from common.brazil.formats import money
from common.fields import composed
from common.measures import KILOMETRES, shown
from common.postgresql.row_history import Difference
from delivery import pricing
from delivery.actions import dispatch_rules
from delivery.errors import PriceUnavailable
from delivery.models import DispatchRules, Integrator, Tariff


class AccountWidget(Widget):
    """An account by its name. Empty: everybody without a tariff of their own."""

    def __init__(self) -> None:
        super().__init__()
        self._found: dict[str, Integrator | None] = {}  # None: several

    def look_up(self, names: Iterable[str]) -> None:
        """By one query."""
        for account in Integrator.objects.filter(name__composed__in={composed(name) for name in names}):
            name = composed(account.name)
            self._found[name] = None if name in self._found else account

    def clean(self, value: str, row: Any = None, **kwargs: Any) -> Integrator | None:
        name = composed(value or "")
        if name and self._found.get(name) is None:
            sentence = (
                gettext("several accounts are called '%(name)s'; edit their tariffs in the admin")
                if name in self._found
                else gettext("there is no account called '%(name)s'")
            )
            raise ValueError(sentence % {"name": shown(value)})
        return self._found.get(name)

    def render(self, value: Any, obj: Any = None, **kwargs: Any) -> str:
        return str(value or "")


class TariffResource(TableResource):
    """The active tariffs: at most one for each vehicle and account. The others are kept as they are."""

    integrator = Field("integrator", _("account"), AccountWidget())
    other_names: ClassVar[dict[str, tuple[Any, ...]]] = {
        "included_km": (_("included km"),),
        "maximum_km": (_("maximum km"),),
        "maximum_kg": (_("maximum kg"),),
        "maximum_litres": (_("maximum volume (litres)"),),
    }

    class Meta:
        model = Tariff
        exclude = ("id", "active")
        import_id_fields = ("vehicle_type", "integrator")

    def get_queryset(self) -> QuerySet[Tariff]:
        return Tariff.objects.filter(active=True).select_related("integrator")

    def before_import(self, dataset: Any, **kwargs: Any) -> None:
        field = self.fields["integrator"]
        if str(field.column_name) in dataset.headers:
            field.widget.look_up(dataset[str(field.column_name)])


_TRIPS = [
    (_("3 km, one drop-off"), pricing.Trip(Decimal(3), Decimal(0), 1, Decimal(2))),
    (_("8 km, two drop-offs"), pricing.Trip(Decimal(8), Decimal(0), 2, Decimal(2))),
    (_("6 km and back to A"), pricing.Trip(Decimal(6), Decimal(6), 1, Decimal(2))),
]
_OF_FAILURES = [(_("second attempt"), "retry_percent"), (_("way back after a failure"), "return_percent")]


class TariffForm(PreviewedForm):
    """Compares what deliveries of the tariff's vehicle and account cost now and then."""

    def examples(self, before: Tariff | None) -> Iterable[Difference]:
        tariff: Tariff = self.instance
        in_force = Tariff.objects.for_vehicle(tariff.vehicle_type, integrator=tariff.integrator)
        old = before if before and before.active else in_force.first()
        new = tariff if tariff.active else in_force.exclude(pk=tariff.pk).first()
        for name, trip in _TRIPS:
            yield price_example(name, _price(old, trip), _price(new, trip), write=money)
        shortest, trip = _TRIPS[0]
        for name, percent in _OF_FAILURES:
            before_and_after = [_price(each, trip, percent=percent) for each in (old, new)]
            if any(before_and_after):
                yield price_example(f"{shortest}: {name}", *before_and_after, write=money)

    def concerned(self, before: Tariff | None) -> str:
        """The accounts that have this tariff now or then."""
        others = Tariff.objects.filter(integrator=OuterRef("pk"), active=True).exclude(pk=self.instance.pk)
        accounts = Q()
        for each in (before, self.instance):
            if each and each.active and each.integrator_id:
                accounts |= Q(pk=each.integrator_id)
            elif each and each.active:
                accounts |= Q(~Exists(others.filter(vehicle_type=each.vehicle_type)))
        count = Integrator.objects.filter(accounts).count() if accounts else 0
        return ngettext("It concerns %(count)s account.", "It concerns %(count)s accounts.", count) % {"count": count}


def _price(tariff: Tariff | None, trip: pricing.Trip, *, percent: str = "") -> Decimal | None:
    """The price of the trip, or what the `percent` of the tariff adds to it. None: the tariff does not serve it."""
    if tariff is None:
        return None
    try:
        price = pricing.fare(tariff.terms, trip).value
    except PriceUnavailable:
        return None
    return pricing.percent_of(price, getattr(tariff, percent)) if percent else price


@admin.register(Tariff)
class TariffAdmin(RecordedAdmin, TabularImportAdmin):
    form = TariffForm
    change_form_before_template = "admin/form_preview.html"
    resource = TariffResource
    list_display = [
        "vehicle_type", "account", "active", column("base_fare", _("base fare"), money),
        column("price_per_km", _("price per km"), money),
        column("minimum_fare", _("minimum fare"), money),
        column("maximum_km", _("maximum distance"), KILOMETRES.write),
    ]  # fmt: skip  # a list of names
    list_filter = ["active", "vehicle_type"]
    list_select_related = ["integrator"]
    fieldsets = [
        (None, {"fields": ["vehicle_type", "integrator", "active"]}),
        (
            _("Price"),
            {
                "fields": [
                    "base_fare", "included_km", "price_per_km", "price_per_extra_dropoff", "minimum_fare",
                    "return_share",
                ]
            },
        ),
        (_("What is taken"), {"fields": ["maximum_km", "maximum_kg", "maximum_side_cm", "maximum_litres"]}),
        (_("Cancellation"), {"fields": ["cancel_percent_accepted", "cancel_percent_collected"]}),
        (_("After a failure"), {"fields": ["retry_percent", "return_percent"]}),
        (_("What drivers earn"), {"fields": ["driver_percent", "driver_fixed", "driver_per_km"]}),
    ]  # fmt: skip  # a table
    autocomplete_fields = ["integrator"]
    search_fields = ["integrator__name__composed"]

    @admin.display(description=_("account"), ordering="integrator__name")
    def account(self, tariff: Tariff) -> str:
        return str(tariff.integrator or capfirst(gettext("all accounts")))


@admin.register(DispatchRules)
class DispatchRulesAdmin(OneRow, RecordedAdmin):
    fieldsets = [
        (_("Eligible drivers"), {"fields": ["dispatch_radius_km", "position_fresh_seconds"]}),
        (_("Lateness"), {"fields": ["late_without_driver_minutes", "late_pickup_minutes", "late_minutes_per_km"]}),
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
        (_("Maps"), {"fields": ["streets_from_openstreetmap"]}),
    ]  # fmt: skip  # a table

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: bool) -> None:
        changed = {name: form.cleaned_data[name] for name in form.changed_data}
        dispatch_rules.change(values=changed, by=actor(request))
