"""The forms of connected shops and of their orders."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from common.shops.bodies import Body, without_blanks
from delivery.connections import payloads
from delivery.connections.actions import Settings
from delivery.connections.models import LONGEST_PHONE, Connection
from delivery.models import PickupPoint, VehicleType
from panel.address_forms import check_digits
from panel.integrators.delivery_forms import DropoffForm
from panel.shop_pages import NewShopForm, ShopForm

_OFF = {"autocomplete": "off"}


class SettingsForm(ShopForm):
    """What people choose of a connection."""

    pickup = forms.ChoiceField(label=_("Pickup point"))
    contact_phone = forms.CharField(
        label=_("Phone of the shop"),
        max_length=LONGEST_PHONE,
        validators=[check_digits],
        help_text=_("Whom the driver calls at the pickup point."),
        widget=forms.TextInput({**_OFF, "inputmode": "tel", "placeholder": "+55 11 98888-0000"}),
    )
    vehicle_type = forms.ChoiceField(label=_("Vehicle"), choices=VehicleType.choices)
    automatic = forms.BooleanField(
        label=_("Request a delivery at once when nothing is missing"),
        required=False,
        help_text=_("Otherwise each order waits for a click."),
    )

    def __init__(self, *args: Any, points: Iterable[PickupPoint], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.points = {str(each.pk): each for each in points}
        self.fields["pickup"].choices = [(key, each.name) for key, each in self.points.items()]  # type: ignore[attr-defined]  # of ChoiceField

    @property
    def settings(self) -> Settings:
        return Settings(**{name: self.cleaned_data[name] for name in _CHOSEN}, pickup=self.chosen)

    @property
    def chosen(self) -> PickupPoint:
        return self.points[self.cleaned_data["pickup"]]


_CHOSEN = ("name", "contact_phone", "vehicle_type", "shipping_method", "automatic")


class ConnectForm(SettingsForm, NewShopForm):
    """A new connection."""


def settings_of(connection: Connection) -> dict[str, Any]:
    """The initial values of its form."""
    values = {name: getattr(connection, name) for name in _CHOSEN}
    return {**values, "pickup": str(connection.pickup_id or "")}


class ShopOrderForm(DropoffForm):
    """The drop-off of an order of a shop."""

    # What a shop's order does not ask for.
    on_failure = None  # type: ignore[assignment]  # leaves the field out
    photo = None  # type: ignore[assignment]  # the same
    pin = None  # type: ignore[assignment]  # the same

    @property
    def parts(self) -> list[forms.Form]:
        return [self]

    def dropoff(self, before: Mapping[str, Any]) -> Body:
        """As `dropoffs` of request-delivery has it. What the form does not have stays as it was `before`."""
        data = self.cleaned_data
        address = {name: data[name] for name in _ADDRESS}
        found = {
            "externalId": data["external_id"],
            "contacts": {"name": data["name"], "phoneNumber": data["phone"], "email": data["email"]},
            "address": {**before.get("address", {}), **address},
            "instructions": data["instructions"],
        }
        return payloads.at_place(without_blanks(found), data["position"])


# Fields of its form where what is missing is put right, by the code of that.
FIXED_AT = {
    "missing_number": "#id_b-number",
    "address_not_located": "#id_b-zipcode",
    "outside_service_area": "#id_b-zipcode",
    "external_id_in_use": "#id_b-external_id",
}
_ADDRESS = ("street", "number", "complement", "district", "city", "state", "zipcode")


def initial_of(dropoff: Mapping[str, Any]) -> dict[str, Any]:
    """The initial values of the form of a drop-off."""
    contacts, address = dropoff.get("contacts", {}), dropoff.get("address", {})
    point = payloads.point_of(dict(dropoff))
    return {
        **{name: address.get(name, "") for name in _ADDRESS},
        "name": contacts.get("name", ""),
        "phone": contacts.get("phoneNumber", ""),
        "email": contacts.get("email", ""),
        "external_id": dropoff.get("externalId", ""),
        "instructions": dropoff.get("instructions", ""),
        "position": f"{point.latitude:.6f}, {point.longitude:.6f}" if point else "",
    }
