"""The forms of connected shops of sellers."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from common.brazil.formats import document
from common.measures import NumberField
from integration import words
from integration.connections.actions import Settings
from integration.connections.models import DEFAULT_DIMENSIONS, Connection
from integration.models import Company
from panel.sellers.order_forms import ItemForm
from panel.shop_pages import NewShopForm, ShopForm

_LARGEST_SIDE, _LARGEST_WEIGHT = 1_000, 1_000  # as an item of a shop may have at most
_CHOSEN = ("name", "service", "shipping_method")


class SettingsForm(ShopForm):
    """What people choose of a connection."""

    company = forms.ChoiceField(label=_("Company"))
    service = forms.ChoiceField(label=_("Service"), choices=[*words.ORDER_SERVICES.items()])
    length = NumberField(label=_("Length (cm)"), largest=_LARGEST_SIDE, positive=True)
    width = NumberField(label=_("Width (cm)"), largest=_LARGEST_SIDE, positive=True)
    height = NumberField(label=_("Height (cm)"), largest=_LARGEST_SIDE, positive=True)
    weight = NumberField(label=_("Weight each (kg)"), places=3, largest=_LARGEST_WEIGHT, positive=True)

    def __init__(self, *args: Any, companies: Iterable[Company], **kwargs: Any) -> None:
        super().__init__(*args, **{"initial": ItemForm.measures_of(DEFAULT_DIMENSIONS), **kwargs})
        self.companies = {each.document: each for each in companies}
        named = [(key, f"{each.name} {document(key)}".strip()) for key, each in self.companies.items()]
        self.fields["company"].choices = named  # type: ignore[attr-defined]  # of ChoiceField

    @property
    def settings(self) -> Settings:
        data = self.cleaned_data
        chosen = {name: data[name] for name in _CHOSEN}
        return Settings(**chosen, company=self.companies[data["company"]], dimensions=ItemForm.dimensions_of(data))


class ConnectForm(SettingsForm, NewShopForm):
    """A new connection."""


# Fields of the form of an order where what is missing is put right, by the code of that.
FIXED_AT = {
    "missing_name": "#id_to-name",
    "missing_zipcode": "#id_to-zipcode",
    "missing_street": "#id_to-street",
    "missing_number": "#id_to-number",
    "missing_neighborhood": "#id_to-district",
    "missing_city": "#id_to-city",
    "missing_state": "#id_to-state",
    "company_not_found": "#id_order-company",
    "duplicate_order": "#id_order-code",
}


def settings_of(connection: Connection) -> dict[str, Any]:
    """The initial values of its form."""
    values = {name: getattr(connection, name) for name in _CHOSEN}
    company = connection.company.document if connection.company else ""
    return {**values, "company": company, **ItemForm.measures_of(connection.dimensions)}
