"""Simulators: what a freight or a delivery would cost, and why. Nothing is stored."""

from decimal import Decimal
from typing import Any

from django import forms
from django.contrib.auth.mixins import PermissionRequiredMixin
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from common.measures import NumberField
from delivery import pricing
from delivery.actions import quotes
from delivery.errors import PriceUnavailable
from delivery.models import Integrator, VehicleType
from delivery.refusals import refusal
from integration.actions import quotes as freight_quotes
from integration.errors import TooHeavy
from integration.freight import Package
from panel.forms import PositionField, PostcodeField
from panel.views.base import LoggedInView, SellerView

POINTS = ("a", "b", "c", "d")
_MOST_NAMES = 500  # that the field of the account suggests


class FreightForm(forms.Form):
    """A shipment. What is empty is not stated, as in a quote by the API."""

    origin = PostcodeField(label=gettext_lazy("Origin CEP"))
    destination = PostcodeField(label=gettext_lazy("Destination CEP"))
    weight = NumberField(label=gettext_lazy("Weight (kg)"), required=False, places=3, positive=True)
    length = NumberField(label=gettext_lazy("Length (cm)"), required=False, largest=10_000)
    width = NumberField(label=gettext_lazy("Width (cm)"), required=False, largest=10_000)
    height = NumberField(label=gettext_lazy("Height (cm)"), required=False, largest=10_000)
    declared = NumberField(label=gettext_lazy("Declared value (R$)"), required=False, places=2)

    @property
    def package(self) -> Package:
        data = self.cleaned_data
        sides = {name: data[name] and int(data[name]) for name in ("length", "width", "height")}
        return Package(
            weight_g=None if data["weight"] is None else int(data["weight"] * 1000),
            **{f"{name}_cm": side for name, side in sides.items()},
            declared_centavos=int((data["declared"] or 0) * 100),
        )


def _point_field(label: Any) -> PositionField:
    attributes = {"data-point": "", "autocomplete": "off", "placeholder": "-23.56141, -46.65588"}
    return PositionField(label=label, required=False, max_length=500, widget=forms.TextInput(attributes))


class DeliveryForm(forms.Form):
    """A delivery by its points or by its distance, and whose tariff applies. `way` says which of the two counts."""

    way = forms.ChoiceField(
        choices=[("points", gettext_lazy("By points on the map")), ("distance", gettext_lazy("By distance in km"))]
    )
    a = _point_field(gettext_lazy("A · pickup point"))
    b = _point_field(gettext_lazy("B · drop-off"))
    c = _point_field(gettext_lazy("C · second drop-off"))
    d = _point_field(gettext_lazy("D · third drop-off"))
    distance = NumberField(label=gettext_lazy("Distance (km)"), required=False, places=2, largest=10_000)
    stops = forms.ChoiceField(
        label=gettext_lazy("Drop-offs"),
        required=False,
        choices=[(number, number) for number in range(1, len(POINTS))],
    )
    vehicle_type = forms.ChoiceField(label=gettext_lazy("Vehicle"), choices=VehicleType.choices)
    account = forms.CharField(
        label=gettext_lazy("Account"),
        required=False,
        max_length=120,
        widget=forms.TextInput(
            {"list": "accounts", "placeholder": gettext_lazy("all accounts"), "autocomplete": "off"}
        ),
    )
    weight = NumberField(label=gettext_lazy("Weight (kg)"), required=False, places=2)
    returning = forms.BooleanField(label=gettext_lazy("Back to the pickup point"), required=False)

    def clean_account(self) -> Integrator | None:
        name = self.cleaned_data["account"]
        if not name:
            return None
        found = list(Integrator.objects.filter(name__composed__iexact=name)[:2])
        if len(found) != 1:
            text = _("Several accounts have this name.") if found else _("No account has this name.")
            raise forms.ValidationError(text)
        return found[0]

    def clean(self) -> None:
        """Only the fields of the chosen way count: what was typed for the other one is neither read nor wrong."""
        data = super().clean() or self.cleaned_data
        by_distance = data.get("way") == "distance"
        for name in POINTS if by_distance else ("distance", "stops"):
            self.errors.pop(name, None)
        if by_distance:
            if "distance" not in self.errors and data["distance"] is None:
                self.add_error("distance", _("Enter the distance in km."))
            return
        for name in POINTS[:2]:
            if name not in self.errors and data.get(name) is None:
                self.add_error(name, _("Click on the map, or paste coordinates or a link."))
        if data.get("d") and not data.get("c") and "c" not in self.errors:
            self.add_error("c", _("Fill in C before D."))

    def trip(self) -> pricing.Trip:
        """The trip of a valid form. With a distance, the way back is as long as the way there."""
        data = self.cleaned_data
        weight = data["weight"] or Decimal(0)
        if data["way"] == "points":
            points = [data[name] for name in POINTS if data[name]]
            return quotes.trip_between(
                points, vehicle_type=data["vehicle_type"], returning=data["returning"], weight_kg=weight
            )
        back = data["distance"] if data["returning"] else Decimal(0)
        stops = int(data["stops"] or 1)
        return pricing.Trip(outbound_km=data["distance"], return_km=back, dropoffs=stops, weight_kg=weight)


class FreightSimulator(LoggedInView, PermissionRequiredMixin):
    """For staff, with the rows of the table that were used."""

    permission_required = "integration.view_freightrate"

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.page("panel/freight_simulator.html", **_freight(request.GET))


class SellerFreightSimulator(SellerView):
    """For a seller."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.page("panel/freight_simulator.html", **_freight(request.GET))


class DeliverySimulator(LoggedInView, PermissionRequiredMixin):
    """For staff, with the tariff that was used."""

    permission_required = "delivery.view_tariff"

    def get(self, request: HttpRequest) -> HttpResponse:
        form = DeliveryForm(request.GET or None)
        names = Integrator.objects.order_by("name").values_list("name", flat=True)[:_MOST_NAMES]
        context: dict[str, Any] = {"form": form, "points": [form[name] for name in POINTS], "names": names}
        if form.is_valid():
            data = form.cleaned_data
            try:
                found = quotes.explain(vehicle_type=data["vehicle_type"], integrator=data["account"], trip=form.trip())
                context["explanation"] = found
            except PriceUnavailable as error:
                context["refused"] = refusal(error)
        return self.page("panel/delivery_simulator.html", **context)


def _freight(query: QueryDict) -> dict[str, Any]:
    form = FreightForm(query or None)
    if not form.is_valid():
        return {"form": form}
    data = form.cleaned_data
    try:
        found = freight_quotes.explain(origin=data["origin"], destination=data["destination"], package=form.package)
    except TooHeavy:
        return {"form": form, "refused": _("The weight is over the maximum of the tariff: not served.")}
    rates = found.rates()
    services = [(service, charges, rates.get(service)) for service, charges in found.charges.items()]
    step = found.parameters.weight_rounding_g
    weighed = next((charges for charges in found.charges.values() if charges), None)
    return {
        "form": form,
        "explanation": found,
        "services": services,
        "step": step,
        "extra_steps": weighed.charged_g // step - 1 if weighed else 0,
    }
