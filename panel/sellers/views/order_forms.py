"""Creating an order by a form, and correcting one that waits for collection."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _

from common import clock
from common.actors import actor
from integration.actions import orders
from integration.errors import (
    CorrectedMeanwhile,
    DuplicateOrder,
    FreightChanged,
    IntegrationError,
    OrderForgotten,
    OrderNotPending,
)
from integration.lifecycle import Status
from integration.models import Order
from panel.sellers import order_forms
from panel.sellers.invoice_uploads import say_doubts
from panel.sellers.order_pages import FormView, NewView

_LONGEST_COUNT = 9  # digits


class NewOrder(NewView):
    """The form. It shows the freight before it creates the order with that freight."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show(self.form())

    def post(self, request: HttpRequest) -> HttpResponse:
        self.seller.check_active()
        form = self.form(request.POST)
        if not form.is_valid():
            return self.show(form, status=422, **self.freight(form))
        if holder := self.refuse_taken(form):
            return self.show(form, status=422, **self.freight(form), holder=holder)
        if request.POST.get("step") != "save":
            return self.show(form, **self.freight(form))
        try:
            made, is_earlier = order_forms.create(
                form,
                seller=self.seller,
                agreed=request.POST.get("agreed", ""),
                by=actor(request),
                at=clock.now(),
                on_doubts=lambda doubts: say_doubts(request, doubts),
            )
        except DuplicateOrder:  # by somebody else in this moment
            messages.error(request, _("You have an order with this number already."))
            return self.show(form, status=422, **self.freight(form))
        except IntegrationError as error:
            messages.warning(request, order_forms.refusal(error))
            return self.show(form, status=422, **self.freight(form))
        return self.see(made, is_earlier=is_earlier)


class NewOrderFreight(NewView):
    """A fragment: the freight of what the form has now."""

    def post(self, request: HttpRequest) -> HttpResponse:
        form = self.form(request.POST)
        if form.has_freight():
            self.refuse_taken(form)
        return self.show_freight(form)


class _CorrectionView(FormView):
    def found(self, key: int) -> Order:
        """Answers 404 for another seller's order."""
        found: Order = get_object_or_404(self.orders.select_related("company", "seller"), pk=key)
        self.order = found
        return found


class CorrectOrder(_CorrectionView):
    """The form with what an order says now."""

    def get(self, request: HttpRequest, order: int) -> HttpResponse:
        found = self.found(order)
        self.seller.check_active()
        if found.forgotten_at:
            return self.refuse(OrderForgotten(order=found.code))
        if found.status != Status.PENDING:
            return self.refuse(OrderNotPending(order=found.code, status=found.status))
        form = self.form()
        return self.show(form, seen=found.corrections.count())

    def post(self, request: HttpRequest, order: int) -> HttpResponse:
        found = self.found(order)
        self.seller.check_active()
        form = self.form(request.POST)
        seen = _count(request.POST.get("seen", ""))
        if not form.is_valid():
            return self.show(form, status=422, seen=seen, **self.freight(form))
        if request.POST.get("step") != "save":
            return self.show(form, seen=seen, **self.freight(form))
        try:
            orders.correct(
                order=found,
                changes=form.changes,
                by=actor(request),
                at=clock.now(),
                seen=seen,
                on_doubts=lambda doubts: say_doubts(request, doubts),
                on_freight=order_forms.as_agreed(request.POST.get("agreed", "")),
            )
        except FreightChanged as error:
            messages.warning(request, order_forms.refusal(error))
            return self.show(form, status=422, seen=seen, **self.freight(form))
        except (OrderNotPending, OrderForgotten, CorrectedMeanwhile) as error:
            return self.refuse(error)
        messages.success(request, _("The order is corrected. Print labels from before again."))
        return redirect(self.url("seller_order", found.pk))

    def refuse(self, error: IntegrationError) -> HttpResponse:
        assert self.order is not None  # noqa: S101  # nosec B101  # it was found
        messages.error(self.request, order_forms.refusal(error))
        return redirect(self.url("seller_order", self.order.pk))


class CorrectOrderFreight(_CorrectionView):
    """A fragment: the freight of the order with what the form has now."""

    def post(self, request: HttpRequest, order: int) -> HttpResponse:
        self.found(order)
        return self.show_freight(self.form(request.POST))


def _count(text: str) -> int:
    """The number that the form carries; of another text, one that no order has."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _LONGEST_COUNT else -1
