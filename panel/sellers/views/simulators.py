"""What a freight would cost, and why. Nothing is stored."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from common.measures import NumberField
from integration.errors import TooHeavy
from integration.freight import quotes
from integration.freight.calculation import Package
from panel.base import SellerView
from panel.forms import ServedPostcodeField


class FreightForm(forms.Form):
    """A shipment. What is empty is not stated, as in a quote by the API."""

    origin = ServedPostcodeField(label=gettext_lazy("Origin CEP"))
    destination = ServedPostcodeField(label=gettext_lazy("Destination CEP"))
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


class SellerFreightSimulator(SellerView):
    """For a seller. Staff see the rows of the table that were used."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.page("panel/freight_simulator.html", **_freight(request.GET))


def _freight(query: QueryDict) -> dict[str, Any]:
    form = FreightForm(query or None)
    if not form.is_valid():
        return {"form": form}
    data = form.cleaned_data
    try:
        found = quotes.explain(origin=data["origin"], destination=data["destination"], package=form.package)
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
