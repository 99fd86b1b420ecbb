"""Who carries an order of a seller: staff assign it on the page of the order."""

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _

from common import clock
from common.actors import actor
from integration.carriers import actions as carriers
from integration.errors import CarrierInactive
from integration.models import Carrier
from panel.base import SellerView


class _CarrierForm(forms.Form):
    carrier = forms.ModelChoiceField(Carrier.objects.filter(active=True), required=False)


class AssignCarrier(SellerView):
    """For staff."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest, order: int) -> HttpResponse:
        if not request.user.has_perm("integration.assign_order"):
            raise PermissionDenied
        found = get_object_or_404(self.orders, pk=order)
        form = _CarrierForm(request.POST)
        if not form.is_valid():
            messages.error(request, _("Choose an active carrier."))
            return redirect(self.url("seller_order", found.pk))
        carrier = form.cleaned_data["carrier"]
        try:
            carriers.assign(orders=[found], carrier=carrier, by=actor(request), at=clock.now())
        except CarrierInactive:  # meanwhile
            messages.error(request, _("Choose an active carrier."))
        else:
            text = _("The order is assigned to %(carrier)s.") % {"carrier": carrier} if carrier else ""
            messages.success(request, text or _("The order has no carrier now."))
        return redirect(self.url("seller_order", found.pk))
