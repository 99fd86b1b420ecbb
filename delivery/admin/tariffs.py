"""Tariffs of deliveries."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery, UUIDField
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Coalesce
from django.http import HttpRequest
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from common.admin_columns import column
from common.csv_columns import REAIS, Choice, Column, InvalidCell, Number, shown
from common.csv_export import neutralised
from common.csv_plan import Table
from common.formats import money
from common.measures import KILOMETRES
from common.row_history_admin import RecordedAdmin, RowChangeAdmin, column_filter
from common.tabular_import import TabularImportAdmin
from delivery.models import Integrator, Tariff, TariffChange, VehicleType


@dataclass(frozen=True)
class Account(Column):
    """An account by its name. Empty: everybody without a tariff of their own."""

    @property
    def accepts(self) -> str:
        return gettext("an account's name; empty for everybody without a tariff of their own")

    def parser(self, texts: Iterable[str]) -> Callable[[str], Any]:
        """Looks up all names by one query. An export writes some names with an apostrophe, as `neutralised` does."""
        wanted = set(texts)
        found = {}
        for account in Integrator.objects.filter(name__in=wanted | {text.removeprefix("'") for text in wanted}):
            for name in {account.name, neutralised(account.name)}:
                found[name] = None if name in found else account

        def parse(text: str) -> Integrator:
            account = found.get(text)
            if account is None:
                sentence = (
                    gettext("several accounts are called '%(name)s'; edit their tariffs in the admin")
                    if text in found
                    else gettext("there is no account called '%(name)s'")
                )
                raise InvalidCell(sentence % {"name": shown(text)})
            return account

        return parse


TARIFFS = Table(
    # The active tariffs: at most one for each vehicle and account. The others are kept as they are.
    rows=lambda: Tariff.objects.filter(active=True).select_related("integrator"),
    key=("vehicle_type", "integrator"),
    columns=(
        Choice("vehicle_type", _("vehicle type"), names=("vehicle_type",), choices=tuple(VehicleType.choices)),
        Account("integrator", _("account"), names=("integrator",), is_required=False),
        Number("base_fare", _("base fare"), names=("base_fare",), unit=REAIS),
        Number("included_km", _("included km"), names=("included_km",), is_required=False),
        Number("price_per_km", _("price per km"), names=("price_per_km",), unit=REAIS),
        Number("price_per_extra_dropoff", _("price per extra drop-off"), unit=REAIS, is_required=False),
        Number("minimum_fare", _("minimum fare"), names=("minimum_fare",), unit=REAIS, is_required=False),
        Number("return_share", _("return share"), names=("return_share",), is_required=False, places=3),
        Number("maximum_km", _("maximum km"), names=("maximum_km",)),
        Number("maximum_kg", _("maximum kg"), names=("maximum_kg",)),
        Number("maximum_side_cm", _("longest side (cm)"), names=("maximum_side_cm",), is_required=False),
        Number("maximum_litres", _("maximum volume (litres)"), names=("maximum_litres",), is_required=False),
        Number("cancel_percent_accepted", _("cancellation fee after acceptance (%)"), is_required=False),
        Number("cancel_percent_collected", _("cancellation fee after pickup (%)"), is_required=False),
    ),
)


@admin.register(Tariff)
class TariffAdmin(RecordedAdmin, TabularImportAdmin):
    table = TARIFFS
    simulator = "panel:delivery_simulator"
    history = TariffChange
    list_display = [
        "vehicle_type", "account", "active", column("base_fare", _("base fare"), money),
        column("price_per_km", _("price per km"), money), column("minimum_fare", _("minimum fare"), money),
        column("maximum_km", _("maximum distance"), KILOMETRES.write),
    ]  # fmt: skip  # a list of names
    list_filter = ["active", "vehicle_type"]
    list_select_related = ["integrator"]
    autocomplete_fields = ["integrator"]
    search_fields = ["integrator__name"]

    @admin.display(description=_("account"), ordering="integrator__name")
    def account(self, tariff: Tariff) -> str:
        return str(tariff.integrator or capfirst(gettext("all accounts")))


@admin.register(TariffChange)
class TariffChangeAdmin(RowChangeAdmin):
    """Who changed which tariff."""

    list_filter = [
        column_filter("vehicle_type", _("vehicle"), list(VehicleType.choices)), *RowChangeAdmin.list_filter
    ]  # fmt: skip  # a list of names

    def get_queryset(self, request: HttpRequest) -> QuerySet[TariffChange]:
        key = Coalesce(KT("after__integrator_id"), KT("before__integrator_id"))
        account = Integrator.objects.filter(pk=Cast(OuterRef("integrator_key"), UUIDField())).values("name")
        return super().get_queryset(request).annotate(integrator_key=key, account=Subquery(account))

    def label_of(self, change: Any) -> str:
        columns = change.after or change.before or {}
        vehicle = dict(VehicleType.choices).get(columns["vehicle_type"], columns["vehicle_type"])
        everybody = gettext("all accounts") if change.integrator_key is None else change.integrator_key
        return f"{vehicle}, {change.account or everybody}"
