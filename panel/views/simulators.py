"""Simulators: what a freight or a delivery would cost, and why. Nothing is stored."""

from typing import Any

from django.contrib.auth.mixins import PermissionRequiredMixin
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext as _

from delivery.actions import quotes as delivery_quotes
from delivery.errors import PriceUnavailable
from delivery.models import Integrator
from delivery.refusals import refusal
from integration.actions import quotes as freight_quotes
from integration.errors import TooHeavy
from panel.simulator_forms import POINTS, DeliveryForm, FreightForm
from panel.views.base import LoggedInView, SellerView

_MOST_NAMES = 500  # that the field of the account suggests


class FreightSimulator(LoggedInView, PermissionRequiredMixin):
    """For staff, with the rows of the table that were used."""

    permission_required = "integration.view_freightrate"

    def get(self, request: HttpRequest) -> HttpResponse:
        return render(request, "panel/freight_simulator.html", _freight(request.GET))


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
                found = delivery_quotes.explain(
                    vehicle_type=data["vehicle_type"], integrator=data["account"], trip=form.trip()
                )
                context["explanation"] = found
            except PriceUnavailable as error:
                context["refused"] = refusal(error)
        return render(request, "panel/delivery_simulator.html", context)


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
