"""What the pages with the form of an order share: of a new one, of one that is corrected, and of a shop's."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from integration.actions import orders
from integration.models import Order
from panel.base import SellerView
from panel.sellers import order_forms
from panel.sellers.order_forms import OrderForm


class FormView(SellerView):
    """A page with the form. `order`: the one that is corrected."""

    order: Order | None = None

    def form(self, data: Mapping[str, Any] | None = None) -> OrderForm:
        companies = list(self.seller.companies.order_by("pk"))
        return OrderForm(data, companies=companies, environment=self.environment, order=self.order)

    def freight(self, form: OrderForm) -> dict[str, Any]:
        """What `panel/seller_order_freight.html` shows."""
        return {"priced": order_forms.priced(form)} if form.has_freight() else {}

    def show(self, form: OrderForm, *, status: int = 200, **context: Any) -> HttpResponse:
        place = self.seller if self.order is None else self.order.company
        return self.page(
            "panel/seller_order_form.html",
            status=status,
            in_zone_of=place,
            form=form,
            order=self.order,
            has_errors=form.has_errors(),
            **context,
        )

    def show_freight(self, form: OrderForm) -> HttpResponse:
        shown = self.freight(form)
        return self.page("panel/seller_order_freight.html", form=form, order=self.order, faulty=form.faulty, **shown)


class NewView(FormView):
    """A page of an order that is not made yet."""

    def refuse_taken(self, form: OrderForm) -> Order | None:
        """The order that has the number or the tracking code already, and says something else."""
        holder = orders.holder_of_codes(seller=self.seller, environment=self.environment, payload=form.payload)
        if holder is None or order_forms.says(holder, form.payload):
            return None
        form.refuse_taken(holder)
        return holder

    def see(self, made: Order, *, is_earlier: bool) -> HttpResponse:
        """The page of the order that the form has created, perhaps with an earlier click."""
        if is_earlier:
            messages.info(self.request, _("The form had been sent already. It has created this order once."))
        else:
            messages.success(self.request, _("The order is created. Print its label, and hand it over by a manifest."))
        return redirect(self.url("seller_order", made.pk))
