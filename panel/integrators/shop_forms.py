"""The forms of connected shops and of their orders."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from common.shops.bodies import Body, without_blanks
from common.shops.models import LONGEST_METHOD, LONGEST_SECRET, PLATFORMS
from common.shops.platforms import Platform
from delivery.connections import payloads
from delivery.connections.actions import Settings
from delivery.connections.models import Connection
from delivery.models import PickupPoint, VehicleType
from panel.address_forms import check_digits
from panel.integrators.delivery_forms import DropoffForm

_OFF = {"autocomplete": "off"}


class SettingsForm(forms.Form):
    """What people choose of a connection."""

    name = forms.CharField(label=_("Name of the shop"), max_length=120, widget=forms.TextInput(_OFF))
    pickup = forms.ChoiceField(label=_("Pickup point"))
    contact_phone = forms.CharField(
        label=_("Phone of the shop"),
        max_length=255,
        validators=[check_digits],
        help_text=_("Whom the driver calls at the pickup point."),
        widget=forms.TextInput({**_OFF, "inputmode": "tel", "placeholder": "+55 11 98888-0000"}),
    )
    vehicle_type = forms.ChoiceField(label=_("Vehicle"), choices=VehicleType.choices)
    shipping_method = forms.CharField(
        label=_("Only orders with this in their shipping method"),
        max_length=LONGEST_METHOD,
        required=False,
        help_text=_("Empty: all. For a shop that also sends by post, a part of the name, such as: same day."),
        widget=forms.TextInput(_OFF),
    )
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


class ConnectForm(SettingsForm):
    """A new connection."""

    platform = forms.ChoiceField(label=_("Platform"), choices=[(each.value, PLATFORMS[each]) for each in Platform])
    secret = forms.CharField(
        label=_("Secret of the platform"),
        max_length=LONGEST_SECRET,
        required=False,
        help_text=_(
            "Shopify and Yampi show it once the webhook is made, and it can be pasted then. Leave it empty for "
            "WooCommerce: Rota makes one."
        ),
        widget=forms.TextInput(_OFF),
    )
    field_order = ["platform", "name", "pickup", "contact_phone", "vehicle_type", "secret"]


class SecretForm(forms.Form):
    """A new secret of a connection; of WooCommerce it is made here."""

    secret = forms.CharField(
        label=_("Secret of the platform"), max_length=LONGEST_SECRET, required=False, widget=forms.TextInput(_OFF)
    )


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
